"""Geometry of a view inside its base, and how gradients move between the two.

A view may be written in place; then the gradient of the base has to be split into the part that was overwritten and
the rest. Replaying the view operations would need their arguments to be kept with every view. The geometry of the two
arrays says the same and is always there: shape, strides and the distance of the first elements, all in bytes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.functions.indexed import index_backward_of
from gradsmith.runtime.arrays.memory import address_of, array_over

if TYPE_CHECKING:
    from numpy.typing import NDArray  # slow to import


class Geometry(NamedTuple):
    """A view inside a base."""

    base_shape: tuple[int, ...]
    base_strides: tuple[int, ...]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int  # of the view's first element from the base's first
    dtype: np.dtype[Any]  # of the base, or of its parts
    in_parts: bool  # a real view of a complex base: the base is described with a last dimension (real, imaginary)
    joins_parts: bool = False  # a complex view of a real base: the view is described so


def geometry_of(base: NDArray[Any], view: NDArray[Any]) -> Geometry:
    """Geometry of `view`, an array over memory of `base`."""
    offset = address_of(view) - address_of(base)
    if base.dtype.kind == "c" and view.dtype.kind != "c":
        parts = (*base.shape, 2), (*base.strides, view.itemsize)
        return Geometry(*parts, view.shape, view.strides, offset, view.dtype, True)
    if view.dtype.kind == "c" and base.dtype.kind != "c":
        places = (*view.shape, 2), (*view.strides, base.itemsize)
        return Geometry(base.shape, base.strides, *places, offset, base.dtype, False, True)
    return Geometry(base.shape, base.strides, view.shape, view.strides, offset, base.dtype, False)


def _parts(array: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    """`array`, of the base's shape, as the geometry describes the base."""
    return np.ascontiguousarray(array).view(geometry.dtype).reshape(geometry.base_shape) if geometry.in_parts else array


def _joined(base: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    """A contiguous array of the base's shape and dtype, from one that is as the geometry describes the base."""
    whole = np.ascontiguousarray(base).reshape(base.shape)
    if not geometry.in_parts:
        return whole
    return whole.view(np.result_type(geometry.dtype, np.complex64)).reshape(geometry.base_shape[:-1])


def _parts_of_view(values: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    """`values`, of the view's shape, as the geometry describes the view."""
    return np.ascontiguousarray(values).view(geometry.dtype).reshape(geometry.shape) if geometry.joins_parts else values


def _view_of_parts(shown: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    """Of the view's shape and dtype, from a contiguous array that is as the geometry describes the view."""
    return shown.view(dtype_of_view(geometry)).reshape(geometry.shape[:-1]) if geometry.joins_parts else shown


def dtype_of_view(geometry: Geometry) -> np.dtype[Any]:
    return np.result_type(geometry.dtype, np.complex64) if geometry.joins_parts else geometry.dtype


def shape_of_view(geometry: Geometry) -> tuple[int, ...]:
    return geometry.shape[:-1] if geometry.joins_parts else geometry.shape


def is_inside(geometry: Geometry) -> bool:
    """Does the view show nothing but memory that the base covers."""
    low, high = extent(geometry)
    first, last = _extent_of(geometry.shape, geometry.strides)
    return (
        0 in geometry.shape
        or low <= geometry.offset + first <= geometry.offset + last + geometry.dtype.itemsize <= high
    )


def check_covered(geometry: Geometry) -> Geometry:
    """`geometry`, if the view shows elements of the base and nothing else.

    Raises
    ------
    RuntimeError
        When the base was given another part of its memory after the view had been made: there is no way for a gradient.
    """
    if is_inside(geometry) and (_is_dense(geometry) or _shows_base_alone(geometry)):
        return geometry
    raise RuntimeError(
        f"a view of shape {list(geometry.shape)} shows memory outside of its base, whose shape is "
        f"{list(geometry.base_shape)}: the base was changed in place by as_strided_(), resize_() or set_() after the "
        "view had been made, and the gradient of one has no place in the other. clone() the view before such a change."
    )


def _is_dense(geometry: Geometry) -> bool:
    """Has the base no gaps between its elements. (May say no of one that repeats elements.)"""
    for length, stride in zip(geometry.base_shape, geometry.base_strides):
        if length != 1 and not stride:
            return False
    low, high = extent(geometry)
    return math.prod(geometry.base_shape) * geometry.dtype.itemsize == high - low


def _shows_base_alone(geometry: Geometry) -> bool:
    base, view = scratch(geometry)
    base[...] = 1
    return bool((view == 1).all())


def extent(geometry: Geometry) -> tuple[int, int]:
    """Lowest and highest byte, from the base's first element, that the base covers."""
    low, high = _extent_of(geometry.base_shape, geometry.base_strides)
    return low, high + geometry.dtype.itemsize


def _extent_of(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int]:
    """Offsets of the lowest and the highest element, relative to the first one."""
    low = high = 0
    for length, stride in zip(shape, strides):  # no generators: some of CPython's crash where memory is short
        if length and stride < 0:
            low += (length - 1) * stride
        elif length:
            high += (length - 1) * stride
    return low, high


def scratch(geometry: Geometry, dtype: np.dtype[Any] | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Fresh zeros laid out like the base, and the view's place in them."""
    low, high = extent(geometry)
    buffer = np.zeros(high - low, np.uint8)
    base = array_over(buffer, geometry.dtype, geometry.base_shape, geometry.base_strides, -low)
    if 0 in geometry.shape:
        return base, np.zeros(geometry.shape, geometry.dtype)
    return base, array_over(buffer, geometry.dtype, geometry.shape, geometry.strides, geometry.offset - low)


def slice_values(array: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    """Copy of the elements of `array`, which has the base's shape, that the view shows.

    Of elements that the base has in one place it is their mean: the transpose of `scatter_values`.
    """
    if has_no_data(array):
        return array_without_data(shape_of_view(geometry), dtype_of_view(geometry))
    values = _parts(array, geometry)
    shown = _shown(values if _sizes_of_places(geometry) is None else _means(values, geometry), geometry)
    return _view_of_parts(shown, geometry)


def _shown(values: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    base, view = scratch(geometry)
    base[...] = values
    return np.array(view)


def _sizes_of_places(geometry: Geometry) -> NDArray[Any] | None:
    """How many elements of the base lie where each of them does; None when every one has a place of its own."""
    if not _may_overlap(geometry.base_shape, geometry.base_strides):
        return None
    _, place, counts = np.unique(
        _places(geometry.base_shape, geometry.base_strides), return_inverse=True, return_counts=True
    )
    return np.asarray(counts[place.reshape(geometry.base_shape)])


def _means(values: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    """For each element of the base the mean of `values` over those that lie where it does."""
    _, place, counts = np.unique(
        _places(geometry.base_shape, geometry.base_strides), return_inverse=True, return_counts=True
    )
    place = place.reshape(-1)
    sums = np.zeros(counts.size, values.dtype)
    np.add.at(sums, place, values.reshape(-1))
    return np.asarray((sums / counts)[place].reshape(values.shape), values.dtype)


def replaced_values(array: NDArray[Any], values: NDArray[Any] | int, geometry: Geometry) -> NDArray[Any]:
    """Copy of `array`, which has the base's shape, with `values` at the view's places; laid out like the base."""
    if has_no_data(array):
        return array
    base, view = scratch(geometry)
    base[...] = _parts(array, geometry)
    view[...] = _parts_of_view(np.broadcast_to(values, shape_of_view(geometry)), geometry)
    if geometry.in_parts:
        return _joined(base, geometry)
    return base if base.flags.forc else base.copy("K")


def winners_of(geometry: Geometry) -> NDArray[Any] | None:
    """Which elements of the view a write leaves in the base: of several in one place the one that is written last.

    None when all of them are.
    """
    if not _overlaps_itself(geometry):
        return None
    numbers = np.arange(math.prod(geometry.shape)).reshape(geometry.shape)
    _, view = scratch(_scaled(geometry, numbers.dtype))
    view[...] = numbers
    kept = np.asarray(view == numbers)
    return np.asarray(kept.all(-1)) if geometry.joins_parts else kept


def overlaps_itself(array: NDArray[Any]) -> bool:
    """Do two elements of `array` lie in one place."""
    return _may_overlap(array.shape, array.strides) and np.unique(_places(array.shape, array.strides)).size < array.size


def _places(shape: tuple[int, ...], strides: tuple[int, ...]) -> NDArray[Any]:
    """Where each element lies, in bytes from the first one."""
    places = np.zeros((), np.int64)
    for size, stride in zip(shape, strides):
        places = places[..., None] + np.arange(size) * stride
    return np.asarray(places)


def differing(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    """Where the bits of two arrays of the same shape and dtype differ."""
    pair = (np.ascontiguousarray(array)[..., None].view(np.uint8) for array in (one, other))
    return np.asarray(np.not_equal(*pair).any(axis=-1))


def add_differences(target: NDArray[Any], result: NDArray[Any]) -> None:
    """Add to memory what each element of `result` has more than that of `target`, which overlaps itself.

    A place that one element alone has changed gets that one, without rounding; integers wrap as they do elsewhere.
    """
    changed = differing(target, result)
    if target.dtype.kind == "b":
        return np.copyto(target, result, where=changed)
    _, place = np.unique(_places(target.shape, target.strides), return_inverse=True)
    place = place.reshape(target.shape)
    wide = np.result_type(target.dtype, np.float64) if target.dtype.kind in "fc" else target.dtype
    sums, values = np.zeros((2, target.size), wide)
    with np.errstate(all="ignore"):
        np.add.at(sums, place[changed], result[changed].astype(wide) - target[changed])
        values[place[changed]] = result[changed]
        counts = np.bincount(place[changed], minlength=target.size)
        total = np.where(counts[place] > 1, target + sums[place], values[place]).astype(target.dtype)
    np.copyto(target, total, where=counts[place] > 0)


def scatter_values(values: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    """Zeros of the base's shape with `values` at the view's places, summed where the view repeats an element.

    Where the base repeats one, as an expanded tensor does, each of its elements has an equal share, as in PyTorch.
    """
    if has_no_data(values):
        return _base_without_data(geometry)
    base, view = scratch(geometry)
    values = _parts_of_view(values, geometry)
    if _overlaps_itself(geometry):
        _scatter_sum(values, geometry, base, view)
    else:
        view[...] = values
    sizes = _sizes_of_places(geometry)
    return _joined(base if sizes is None else base / sizes.astype(base.real.dtype), geometry)


def _base_without_data(geometry: Geometry) -> NDArray[Any]:
    if not geometry.in_parts:
        return array_without_data(geometry.base_shape, geometry.dtype)
    return array_without_data(geometry.base_shape[:-1], np.result_type(geometry.dtype, np.complex64))


def mask_of(geometry: Geometry) -> NDArray[Any]:
    """Which elements of the base the view shows, as a bool array of the base's shape."""
    base, view = scratch(geometry)
    view[...] = 1
    return np.asarray(base != 0)


def _overlaps_itself(geometry: Geometry) -> bool:
    """True when two elements of the view may be the same element of the base."""
    return _may_overlap(geometry.shape, geometry.strides)


def _may_overlap(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    reach = 0
    for stride, size in sorted((abs(s), n) for n, s in zip(shape, strides) if n > 1):
        if stride <= reach:
            return True
        reach += stride * (size - 1)
    return False


def _scatter_sum(values: NDArray[Any], geometry: Geometry, base: NDArray[Any], view: NDArray[Any]) -> None:
    """Add `values` at the view's places one by one, by the number of the element of the base."""
    numbers = np.arange(base.size, dtype=np.int64).reshape(base.shape)
    place = slice_values_as(numbers, geometry)
    values = values.astype(geometry.dtype, copy=False)
    sums = index_backward_of(values.ravel(), (base.size,), (place.ravel(),))
    base[...] = sums.reshape(base.shape)


def slice_values_as(numbers: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    """`slice_values` for an array of another dtype."""
    return _shown(numbers, _scaled(geometry, numbers.dtype))


def _scaled(geometry: Geometry, dtype: np.dtype[Any]) -> Geometry:
    """The same places in memory of another dtype: strides are scaled to its item size."""
    scale = dtype.itemsize / geometry.dtype.itemsize
    return geometry._replace(
        base_strides=tuple(int(s * scale) for s in geometry.base_strides),
        strides=tuple(int(s * scale) for s in geometry.strides),
        offset=int(geometry.offset * scale),
        dtype=dtype,
        in_parts=False,
    )
