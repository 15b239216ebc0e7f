"""Arrays of a live graph made read-only to NumPy.

A write through NumPy to an array that a graph keeps for backward goes unnoticed: the version of the tensor stays,
and the gradient is wrong without an error. Under a guard the arrays that are saved are read-only, with the arrays that
they are views of and those that were exchanged with the user, until what saved them has been released.

The ops of gradsmith count what they change, so that a backward which needs the old value says so: before such an op
the guard gives way, for good.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from gradsmith.runtime.arrays.separate_arrays import memory_source, separated_from

_Array = np.ndarray[Any, Any]


class _Lock:
    """One read-only array. It is held weakly: an array without holders cannot be written to."""

    __slots__ = ("array", "count")

    def __init__(self, array: _Array, key: int) -> None:
        self.array = weakref.ref(array, lambda _: _locks.pop(key, None))
        self.count = 0


_locks: dict[int, _Lock] = {}


def lock(array: _Array) -> None:
    """Make all arrays over the memory of `array` read-only; to be undone by as many `unlock`."""
    for part in reversed(_family(array)):
        known = _locks.get(id(part))
        if known is None and part.flags.writeable:
            known = _locks[id(part)] = _Lock(part, id(part))
            part.flags.writeable = False
        if known is not None:
            known.count += 1


def unlock(array: _Array) -> None:
    """Take back one `lock`. An array that no guard holds is left alone."""
    for part in _family(array):
        known = _locks.get(id(part))
        if known is None:
            continue
        known.count -= 1
        if known.count == 0:
            _release(part)


def follow(array: _Array, other: _Array) -> None:
    """Lock `other`, a new array over the memory of `array`, until `array` is unlocked."""
    known = next((_locks[id(part)] for part in _chain(array) if id(part) in _locks), None)
    if known is not None:
        _locks[id(other)] = _Lock(other, id(other))
        _locks[id(other)].count = known.count


def give_way(array: _Array) -> bool:
    """Make `array` writeable if a guard made it read-only; is it writeable now?"""
    if not any(id(part) in _locks for part in _chain(array)):
        return False
    _release_family(array)
    source = memory_source(array)
    if not array.flags.writeable and source is not None and source.flags.writeable:
        array.flags.writeable = True  # a view that was made while its base was locked
    return bool(array.flags.writeable)


def release_all() -> None:
    """End every lock."""
    arrays = [lock.array() for lock in list(_locks.values())]
    for array in arrays:
        if array is not None:
            _release_family(array)


def _chain(array: _Array) -> list[_Array]:
    """The array and the arrays that it has its memory from, the owner last."""
    found = [array]
    while (source := memory_source(found[-1])) is not None:
        found.append(source)
    return found


def _family(array: _Array) -> list[_Array]:
    """The arrays over one memory, in the order in which they can be made writeable: each after what it came from."""
    chain = _chain(array)
    known = set(map(id, chain))
    others = [part for part in separated_from(chain[-1]) if id(part) not in known]
    return sorted(chain + others, key=lambda part: len(_chain(part)))


def _release_family(array: _Array) -> None:
    for part in _family(array):
        if id(part) in _locks:
            _release(part)


def _release(array: _Array) -> None:
    del _locks[id(array)]
    array.flags.writeable = True
