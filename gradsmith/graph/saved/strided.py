"""Views by strides, which mean the memory of a tensor and not its elements.

They are the only ops that could reach beyond a tensor, or show other elements of one that lies otherwise in memory, so
that the layout they were saved for is part of their arguments.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.generated.shape import strided_view
from gradsmith.generated.tensor import Tensor
from gradsmith.graph.saved.document import Array
from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.functions.view_geometry import Geometry, dtype_of_view, is_inside, shape_of_view
from gradsmith.runtime.arrays.strided import StridedGeometry
from gradsmith.runtime.batching.batch import level_of
from gradsmith.runtime.graph.tensor import array_behind, from_array
from gradsmith.runtime.history.view import view_of

LAYOUT = (
    "the program looks at the memory of a tensor, which lies there otherwise than when it was saved; give it arguments "
    "that lie in memory as they did then"
)


def view_at(tensor: Tensor, strides: tuple[int, ...], geometry: Geometry) -> Tensor:
    """A view of a tensor that has such strides, at the places that a geometry names."""
    array = _physical(tensor)
    if has_no_data(array):
        return from_array(array_without_data(shape_of_view(geometry), dtype_of_view(geometry)))
    is_same = array.dtype == geometry.dtype or (array.dtype.kind == "c" and geometry.dtype == array.real.dtype)
    base = geometry._replace(base_shape=array.shape, base_strides=array.strides)
    if array.strides != strides or not is_same or not _is_inside(base, array):
        raise RuntimeError(f"view: {LAYOUT}")
    shape, dtype = shape_of_view(geometry), dtype_of_view(geometry)
    found: Tensor = view_of(tensor, dtype, shape, geometry.strides[: len(shape)], geometry.offset)
    return found


def view_by_strides(tensor: Tensor, geometry: StridedGeometry) -> Tensor:
    """The op ``strided_view``, on a tensor that lies in memory as its geometry says."""
    array = _physical(tensor)
    if not has_no_data(array) and (array.shape, array.strides) != (geometry.from_size, geometry.from_stride):
        raise RuntimeError(f"as_strided: {LAYOUT}")
    return strided_view(tensor, geometry)


def _is_inside(geometry: Geometry, array: Array) -> bool:
    """Does a view show nothing but what the array does, at places where elements of its dtype may be?"""
    size = geometry.dtype.itemsize
    steps = (geometry.offset, *geometry.strides)
    return is_inside(geometry) and all(step % size == 0 for step in steps) and (array.size > 0 or 0 in geometry.shape)


def _physical(tensor: Tensor) -> Array:
    """The array of a tensor, or of what a traced one stands for."""
    level: Any = level_of(tensor)
    if level is None:
        return array_behind(tensor)
    if not level.is_trace:
        raise RuntimeError("a view by strides of a program from a file is not for tensors of vmap")
    return np.asarray(array_behind(level.values[level.slot(tensor)]))
