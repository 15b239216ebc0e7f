"""Arrays that show parts of one memory: a file has the memory once, and the places of the parts in it.

The place of a part is ``{"of": name, "offset": ..., "shape": ..., "strides": ...}``, counted in elements of the array
of that name as a row.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from gradsmith.serialization.errors import CorruptFileError
from gradsmith.serialization.values import whole_numbers

_Array = np.ndarray[Any, Any]
Place = dict[str, Any]
Named = tuple[str, _Array]


def joined(arrays: dict[str, _Array]) -> tuple[dict[str, _Array], dict[str, Place]]:
    """The arrays that have to be kept, and the places in them of those that need not be."""
    kept, places = dict(arrays), {}
    for group in _overlapping(arrays):
        name, whole = _whole(group)
        kept[name] = whole
        for part, array in group:
            if array is not whole:
                places[part] = _place(array, name, whole)
            if part != name:
                del kept[part]
    return kept, places


def part_of(whole: _Array, place: Place) -> _Array:
    """The part of an array that a place tells; CorruptFileError when it is not within the array."""
    shape, strides = whole_numbers(place["shape"]), whole_numbers(place["strides"])
    (offset,) = whole_numbers([place["offset"]])
    if len(shape) != len(strides) or any(size < 0 for size in shape):
        raise CorruptFileError(f"load: {place} is no place in an array")
    if 0 in shape:
        return np.empty(shape, whole.dtype)
    reaches = [(size - 1) * stride for size, stride in zip(shape, strides)]
    first, last = offset + sum(min(reach, 0) for reach in reaches), offset + sum(max(reach, 0) for reach in reaches)
    if first < 0 or last >= whole.size:
        raise CorruptFileError(f"load: {place} is not within the {whole.size} elements that it is said to be a part of")
    steps = [stride * whole.itemsize for stride in strides]
    part: _Array = np.ndarray(shape, whole.dtype, whole.reshape(-1), offset * whole.itemsize, steps)
    return part


def _overlapping(arrays: dict[str, _Array]) -> Iterator[list[Named]]:
    """Groups of arrays whose memory overlaps, of one dtype, with several arrays in each.

    Where two arrays that exist overlap, all from the first byte of one to the last of the other is one piece of memory.
    """
    of_dtype: dict[Any, list[Named]] = defaultdict(list)
    for name, array in arrays.items():
        if array.size:
            of_dtype[array.dtype].append((name, array))
    for named in of_dtype.values():
        group: list[Named] = []
        end = 0
        for name, array in sorted(named, key=lambda one: _bounds(one[1])):
            begin, after = _bounds(array)
            if group and begin >= end:
                yield from _if_several(group)
                group = []
            group.append((name, array))
            end = max(end, after)
        yield from _if_several(group)


def _if_several(group: list[Named]) -> Iterator[list[Named]]:
    begin = _bounds(group[0][1])[0] if group else 0
    size = group[0][1].itemsize if group else 1
    in_step = all(not any(n % size for n in (_address(array) - begin, *array.strides)) for _, array in group)
    if len(group) > 1 and in_step:
        yield group


def _whole(group: list[Named]) -> Named:
    """The array that has all others in it; when there is none, the memory of all as a row."""
    begin, end = _bounds(group[0][1])[0], max(_bounds(array)[1] for _, array in group)
    for name, array in group:
        if array.flags.c_contiguous and _bounds(array) == (begin, end):
            return name, array
    name, lowest = group[0]
    start = lowest[tuple(slice(None, None, -1 if stride < 0 else 1) for stride in lowest.strides)]
    return name, as_strided(start, ((end - begin) // lowest.itemsize,), (lowest.itemsize,), writeable=False)


def _place(array: _Array, name: str, whole: _Array) -> Place:
    size = array.itemsize
    offset = (_address(array) - _address(whole)) // size
    return {
        "of": name,
        "offset": offset,
        "shape": list(array.shape),
        "strides": [stride // size for stride in array.strides],
    }


def _bounds(array: _Array) -> tuple[int, int]:
    """Addresses of the first byte and behind the last one; the array has elements."""
    reaches = [(size - 1) * stride for size, stride in zip(array.shape, array.strides)]
    begin, last = (_address(array) + sum(choose(reach, 0) for reach in reaches) for choose in (min, max))
    return begin, last + array.itemsize


def _address(array: _Array) -> int:
    return int(array.__array_interface__["data"][0])
