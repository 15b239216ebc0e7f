"""Batching rules of the ops that take the geometry of a view; see rules.pyx.

The geometry of all slices is that of one with one more dimension.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.runtime.arrays.array import has_no_data
from gradsmith.runtime.arrays.functions.view_geometry import extent
from gradsmith.runtime.arrays.strided import StridedGeometry, memory_over
from gradsmith.runtime.batching.batch import VmapLevel, all_slices, layout_of

Op = Callable[..., Any]


def _strided_view(op: Op, operands: tuple[Any, ...], level: VmapLevel, _: Any) -> Any:
    """The slices keep their places in memory, and a view of the last one may reach beyond its end."""
    tensor, geometry = operands
    data = all_slices(tensor, level)
    array = layout_of(data)
    size, stride = (level.size, *geometry.size), (array.strides[0], *geometry.stride)
    if not has_no_data(array) and memory_over(array, size, stride, geometry.offset) is None:
        steps = [step // array.itemsize for step in geometry.stride]
        raise RuntimeError(
            f"as_strided(): size {list(geometry.size)} and stride {steps} reach beyond the memory of the tensor for "
            "the last slices"
        )
    return op(data, StridedGeometry(array.shape, array.strides, size, stride, geometry.offset))


def _of_view(op: Op, operands: tuple[Any, ...], level: VmapLevel, _: Any) -> Any:
    """The geometry of a view, as `view_geometry.py` describes it, over many bases that lie behind one another."""
    tensor, geometry = operands
    low, high = extent(geometry)
    batch = geometry._replace(
        base_shape=(level.size, *geometry.base_shape),
        base_strides=(high - low, *geometry.base_strides),
        shape=(level.size, *geometry.shape),
        strides=(high - low, *geometry.strides),
    )
    return op(all_slices(tensor, level), batch)


RULES = {"strided_view": _strided_view, "geometry_slice": _of_view, "geometry_scatter": _of_view}
