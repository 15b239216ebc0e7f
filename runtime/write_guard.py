"""Arrays of a live graph made read-only to NumPy.

A write through NumPy to an array that a graph keeps for backward is seen by nobody: the version of the tensor stays,
and the gradient is wrong without an error. Under a guard the arrays that are saved are read-only, with every array
whose memory they share as far as NumPy knows it, until what saved them has been released.

The ops of gradsmith count what they change, so that a backward which needs the old value says so: before such an op
the guard gives way, for good.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

_Array = np.ndarray[Any, Any]


class _Lock:
    """One read-only array. It is held weakly: nobody can write to what nobody has."""

    __slots__ = ("array", "count")

    def __init__(self, array: _Array, key: int) -> None:
        self.array = weakref.ref(array, lambda _: _locks.pop(key, None))
        self.count = 0


_locks: dict[int, _Lock] = {}


def lock(array: _Array) -> None:
    """Make `array` and what it is a view of read-only; to be undone by as many `unlock`."""
    for part in _chain(array):
        known = _locks.get(id(part))
        if known is None and part.flags.writeable:
            known = _locks[id(part)] = _Lock(part, id(part))
            part.flags.writeable = False
        if known is not None:
            known.count += 1


def unlock(array: _Array) -> None:
    """Take back one `lock`. An array that no guard holds is left alone."""
    for part in reversed(_chain(array)):
        known = _locks.get(id(part))
        if known is None:
            continue
        known.count -= 1
        if known.count == 0:
            _release(part)


def give_way(array: _Array) -> bool:
    """Make `array` writeable if it is read-only on account of a guard; is it writeable now?"""
    chain = _chain(array)
    if not any(id(part) in _locks for part in chain):
        return False
    for part in reversed(chain):
        if id(part) in _locks:
            _release(part)
    if not array.flags.writeable and isinstance(array.base, np.ndarray) and array.base.flags.writeable:
        array.flags.writeable = True  # a view that was made while its base was locked
    return bool(array.flags.writeable)


def release_all() -> None:
    """End every lock."""
    arrays = [lock.array() for lock in list(_locks.values())]
    for array in arrays:
        if array is not None:
            for part in reversed(_chain(array)):
                if id(part) in _locks:
                    _release(part)


def _chain(array: _Array) -> list[_Array]:
    """The array and the arrays whose memory it shares, the owner of the memory last."""
    found = [array]
    while isinstance(found[-1].base, np.ndarray):
        found.append(found[-1].base)
    return found


def _release(array: _Array) -> None:
    del _locks[id(array)]
    array.flags.writeable = True
