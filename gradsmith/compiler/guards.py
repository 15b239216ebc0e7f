"""What a program takes for granted, as a key: calls with equal keys may run the same program."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.dtypes import get_default_dtype
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.switches.grad_mode import is_grad_enabled, is_inference_mode_enabled

PLAIN = (bool, int, float, complex, str, bytes, type(None))


def key_of_leaves(leaves: list[Any]) -> tuple[Any, ...]:
    """Of tensors dtype, shape, layout, whether they require grad, and which share memory; all else as it is."""
    key: list[Any] = []
    owners: dict[int, tuple[int, Any, Any]] = {}  # owner of memory -> the first leaf that shows some of it, its array
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            key.append(key_of_value(leaf))
            continue
        array = array_behind(leaf)
        flags = array.flags
        layout = None if flags.c_contiguous else array.strides
        owner = array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        place, first, shown = owners.setdefault(id(owner), (len(key), leaf, array))
        shared = None if place == len(key) else (place, array.ctypes.data - shown.ctypes.data, leaf is first)
        key.append((array.dtype, array.shape, layout, leaf.requires_grad, leaf.is_leaf, flags.writeable, shared))
    return tuple(key)


def is_apart(leaves: list[Any]) -> bool:
    """Do no two tensors share memory, nor is one given twice?"""
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    return all(part[-1] is None for part in key_of_leaves(tensors))


def objects_among(leaves: list[Any]) -> list[Any]:
    """Those arguments that a key has the identity of, and not what they hold: the `self` of a method, say."""
    return [leaf for leaf in leaves if not isinstance(leaf, (Tensor, *PLAIN, np.ndarray, np.generic, np.dtype))]


def key_of_value(value: Any) -> Any:
    """Equal for values that a program may take for the same."""
    if isinstance(value, float):
        return (float, value, np.copysign(1.0, value))
    if isinstance(value, complex):
        return (complex, repr(value))
    if isinstance(value, PLAIN):
        return (type(value), value)
    if isinstance(value, (tuple, frozenset)) and all(isinstance(item, PLAIN) for item in value):
        keys = map(key_of_value, value)  # 1, 1.0 and True are equal, and zeros have signs
        return (type(value), tuple(keys) if isinstance(value, tuple) else frozenset(keys))
    if isinstance(value, (np.dtype, np.generic, slice, type, range)):
        return (type(value), repr(value))
    return Same(value)


class Same:
    """Equal to another one of the same object, which it keeps alive: no other object can get its address."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def key_of_modes() -> tuple[Any, ...]:
    """The switches of the thread that ops look at."""
    return (is_grad_enabled(), is_inference_mode_enabled(), get_default_dtype())
