"""The words for reductions of losses as numbers, and those of their older form in two flags."""

from __future__ import annotations

import warnings

_NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """0 for ``"none"``, 1 for ``"mean"``, 2 for ``"sum"``."""
    if reduction == "elementwise_mean":
        warnings.warn("reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=2)
        reduction = "mean"
    if reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _NUMBERS[reduction]


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The word for the flags of old programs, where None is True."""
    reduced = "mean" if size_average is None or size_average else "sum"
    found = reduced if reduce is None or reduce else "none"
    if emit_warning:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{found}' instead.", stacklevel=2
        )
    return found


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number for the flags of old programs."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
