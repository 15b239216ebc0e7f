"""Views with strides of their own: whether they stay inside the memory, and which elements they share with it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradsmith.runtime.arrays.array import has_no_data
from gradsmith.runtime.arrays.memory import address_of, array_over

if TYPE_CHECKING:
    from numpy.typing import NDArray  # slow to import

    Array = NDArray[Any]
    Shape = Sequence[int]


class StridedGeometry(NamedTuple):
    """A view with strides of its own, and the array it was made from; strides and offset are in bytes."""

    from_size: tuple[int, ...]
    from_stride: tuple[int, ...]
    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int  # of the view's first element from the array's


def geometry_of_strides(array: Array, size: Shape, stride: Shape, storage_offset: int | None) -> StridedGeometry:
    """Geometry of a view, strides and offset in elements; the offset counts from the start of the memory.

    Raises
    ------
    RuntimeError
        When an element of the view would lie outside the memory that the array is part of.
    """
    if len(size) != len(stride):
        raise RuntimeError(f"as_strided(): size {list(size)} and stride {list(stride)} differ in length")
    if min(size, default=0) < 0 or min(stride, default=0) < 0 or (storage_offset or 0) < 0:
        raise RuntimeError(
            f"as_strided(): negative sizes, strides and offsets are not supported, got size {list(size)}, "
            f"stride {list(stride)}, storage_offset {storage_offset}"
        )
    from_stride = array.strides
    low, high = _bounds_of(_memory_of(array))
    first = address_of(array)
    if has_no_data(array):  # as if it were the memory of a contiguous array
        from_stride = contiguous_strides(array.shape, array.itemsize)
        low, high = first, first + array.nbytes
    start = first if storage_offset is None else low + storage_offset * array.itemsize
    steps = tuple(step * array.itemsize for step in stride)
    end = start + sum((n - 1) * step for n, step in zip(size, steps)) + array.itemsize
    if math.prod(size) and (start < low or end > high):
        raise RuntimeError(
            f"as_strided(): size {list(size)}, stride {list(stride)} and storage_offset {storage_offset} reach beyond "
            f"the {(high - low) // array.itemsize} elements of the tensor's memory"
        )
    return StridedGeometry(array.shape, from_stride, tuple(size), steps, start - first)


def contiguous_strides(size: Shape, itemsize: int) -> tuple[int, ...]:
    """Strides, in bytes, of elements in row-major order without gaps."""
    return tuple(math.prod(max(n, 1) for n in size[axis + 1 :]) * itemsize for axis in range(len(size)))


def memory_over(array: Array, size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Array | None:
    """An array over the memory that `array` is part of, or None where it would reach beyond.

    `stride` and `offset`, which counts from the first element of `array`, are in bytes.
    """
    owner = _memory_of(array)
    low, high = _bounds_of(owner)
    start = address_of(array) + offset
    end = start + sum((n - 1) * step for n, step in zip(size, stride)) + array.itemsize
    if any(n < 0 for n in (*size, *stride)) or (all(size) and (start < low or end > high)):
        return None
    part = array_over(owner, array.dtype, size, stride, start - address_of(owner) if all(size) else 0)
    part.flags.writeable = array.flags.writeable
    return part


def elements_from(array: Array) -> Array:
    """All elements of the memory that `array` is part of from its first element on, as a vector."""
    count = (_bounds_of(_memory_of(array))[1] - address_of(array)) // array.itemsize
    part = memory_over(array, (max(count, 0),), (array.itemsize,), 0)
    assert part is not None
    return part


def _bounds_of(array: Array) -> tuple[int, int]:
    """Addresses of the array's first byte and of the first byte after it."""
    first = address_of(array)
    if array.flags.c_contiguous:
        return first, first + array.nbytes
    if not array.size:
        return first, first
    reaches = [(n - 1) * step for n, step in zip(array.shape, array.strides)]
    below, above = (sum(reach for reach in reaches if reach * sign > 0) for sign in (-1, 1))
    return first + below, first + above + array.itemsize


def _memory_of(array: Array) -> Array:
    """The array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class CommonPlaces(NamedTuple):
    """The places in memory that an array and a view of it use, by number."""

    source: Array  # of each element of the array
    target: Array  # of each element of the view
    sharers: Array  # how many elements of the array share each place
    is_plain: bool  # the places are the array's elements, in their order


def common_places(geometry: StridedGeometry) -> CommonPlaces:
    """Numbers count in the greatest step, in bytes, that leads to all places: that of the elements, or several."""
    step = math.gcd(*geometry.from_stride, *geometry.stride, geometry.offset) or 1
    target = _places(geometry.size, geometry.stride, geometry.offset) // step
    count = math.prod(geometry.from_size)
    if geometry.from_stride == contiguous_strides(geometry.from_size, step) and _lie_within(target, count):
        return CommonPlaces(np.arange(count), target, np.ones(count, np.int64), True)
    source = _places(geometry.from_size, geometry.from_stride, 0) // step
    first = min(source.min(initial=0), target.min(initial=0))
    size = max(source.max(initial=-1), target.max(initial=-1)) + 1 - first
    return CommonPlaces(source - first, target - first, np.bincount(source - first, minlength=size), False)


def _lie_within(places: Array, count: int) -> bool:
    return not places.size or (places.min() >= 0 and places.max() < count)


def _places(size: Shape, stride: Shape, offset: int) -> Array:
    """Byte offset of every element, in order."""
    axes = [np.arange(n, dtype=np.int64) * step for n, step in zip(size, stride)]
    grid = np.ix_(*axes) if axes else ()
    return np.broadcast_to(sum(grid, start=np.int64(offset)), tuple(size)).reshape(-1)
