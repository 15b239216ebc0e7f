"""What rules of HIPS programs take from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.compat.hips import numpy as np
from gradsmith.compat.hips.boxes import getval

__all__ = ["match_complex", "unbroadcast", "unbroadcast_f"]


def unbroadcast(x: Any, target: Any) -> Any:
    """`x` summed over the axes along which `target` is broadcast to it."""
    shape = np.shape(getval(target))
    while np.ndim(getval(x)) > len(shape):
        x = np.sum(x, axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and np.shape(getval(x))[axis] != 1:
            x = np.sum(x, axis=axis, keepdims=True)
    return match_complex(target, x)


def unbroadcast_f(target: Any, f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A rule whose result is summed to the shape of `target`."""
    return lambda g: unbroadcast(f(g), target)


def match_complex(target: Any, x: Any) -> Any:
    """`x` real where `target` is."""
    both = np.iscomplexobj(getval(target)), np.iscomplexobj(getval(x))
    return np.real(x) if both == (False, True) else x + 0j if both == (True, False) else x
