"""Checks of what tensors hold, by functions that would raise an error for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.runtime.batching.batch import is_batched_tensor, level_of, physical, trace_of_thread


def check_values(check: Callable[..., None], *tensors: Any) -> None:
    """Call ``check(*tensors)``, which raises an error for values that are not allowed.

    Of a batch it gets all slices; tensors without data it does not see. While a function is traced, the program checks
    them in each of its runs, too.
    """
    trace = trace_of_thread()
    seen = [_all_slices(tensor, trace) for tensor in tensors]
    if any(tensor.is_meta for tensor in seen):
        return
    if trace is None:
        check(*seen)
    else:
        trace.check(check, tuple(seen))


def _all_slices(tensor: Any, trace: Any) -> Any:
    while is_batched_tensor(tensor) and (trace is None or level_of(tensor) is not trace):
        tensor = physical(tensor)
    return tensor
