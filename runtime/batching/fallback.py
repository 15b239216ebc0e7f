"""The batching rule of ops that have none: one call for each slice, and a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from gradsmith.runtime.batching.batch import VmapLevel, all_slices
from gradsmith.runtime.graph.tensor import TensorBase, from_array
from gradsmith.runtime.switches import upcalls

_warns = True


def set_vmap_fallback_warning_enabled(enabled: bool) -> None:
    """Warn, or not, when `vmap` calls an op once for each slice.

    Parameters
    ----------
    enabled : bool
        Usually True.

    Examples
    --------
    >>> from gradsmith import func
    >>> func.set_vmap_fallback_warning_enabled(False)
    >>> func.is_vmap_fallback_warning_enabled()
    False
    >>> func.set_vmap_fallback_warning_enabled(True)
    """
    global _warns
    _warns = bool(enabled)


def is_vmap_fallback_warning_enabled() -> bool:
    """Whether `set_vmap_fallback_warning_enabled` has the warning on.

    Returns
    -------
    bool
        True unless it was turned off.

    Examples
    --------
    >>> from gradsmith import func
    >>> func.is_vmap_fallback_warning_enabled()
    True
    """
    return _warns


def run(name: str, op: Callable[..., Any], operands: tuple[Any, ...], level: VmapLevel, expected: Any) -> Any:
    """The results for all slices, stacked. `expected` is what the op gives for one, without data."""
    if _warns:
        warnings.warn(
            f"vmap calls {name}() once for each of {level.size} slices, which is slow: the op has no batching rule. "
            "gradsmith.func.set_vmap_fallback_warning_enabled(False) turns this warning off.",
            stacklevel=3,
        )
    slices = [op(*(_slice(operand, number, level) for operand in operands)) for number in range(level.size)]
    return _stacked(slices, expected)


def _slice(operand: Any, number: int, level: VmapLevel) -> Any:
    if isinstance(operand, TensorBase):
        return upcalls.select(all_slices(operand, level), 0, number)
    if type(operand) in (tuple, list):
        return type(operand)(_slice(item, number, level) for item in operand)
    return operand


def _stacked(slices: list[Any], expected: Any) -> Any:
    if isinstance(expected, (tuple, list)):
        return [_stacked([part[n] for part in slices], item) for n, item in enumerate(expected)]
    if not isinstance(expected, TensorBase):
        return expected
    return upcalls.stack(slices, 0) if slices else from_array(np.zeros((0, *expected.shape), expected.dtype))
