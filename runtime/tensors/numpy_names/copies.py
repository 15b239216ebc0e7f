"""Copies of a tensor as NumPy's methods `copy` and `astype` make them, with gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.runtime.arrays.memory_format import contiguous_format


def copy(tensor: Any, order: str) -> Any:
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"copy(): order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    if order == "F":
        return _reversed(copy(_reversed(tensor), "C"))
    return tensor.clone(memory_format=contiguous_format) if order == "C" else tensor.clone()


def _reversed(tensor: Any) -> Any:
    return tensor.permute(*range(tensor.ndim)[::-1])


def astype(tensor: Any, dtype: Any, order: str, casting: Any, is_copied: bool) -> Any:
    wanted = np.dtype(dtype)
    if not np.can_cast(np.dtype(tensor.dtype), wanted, casting):
        raise TypeError(f"astype(): cannot cast from {tensor.dtype} to {wanted} according to the rule '{casting}'")
    found = tensor.to(wanted)
    is_done = order in ("A", "K") and (found is not tensor or not is_copied)
    return found if is_done else copy(found, order)
