"""Masks of dtype uint8, which came before bool ones: taken, with a warning."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.warning_place import warn_caller


def as_mask(op: str, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bool array of a mask; RuntimeError for any other dtype than bool and uint8."""
    if array.dtype == np.bool_:
        return array
    if array.dtype != np.uint8:
        raise RuntimeError(f"{op}(): the condition must be a bool tensor, but is {array.dtype}")
    return uint8_mask(op, array)


def uint8_mask(op: str, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bool array of a uint8 mask."""
    warn_of_uint8_mask(op)
    return array_without_data(array.shape, np.bool_) if has_no_data(array) else np.asarray(array != 0)


def warn_of_uint8_mask(op: str) -> None:
    warn_caller(f"{op}: masks of dtype uint8 are deprecated; use bool, as in mask.to(gradsmith.bool)")
