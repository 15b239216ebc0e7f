"""Functions whose results depend on their options: unique elements, places, factors, histograms, indices of triangles.

The work is done by ops of the table, some of them internal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.generated.counting import (
    consecutive_elements,
    histogram_between,
    histogram_even,
    histogramdd_between,
    histogramdd_even,
    unique_elements,
)
from gradsmith.generated.places import nonzero_rows
from gradsmith.runtime.arrays.functions.counting.triangles import triangle_places
from gradsmith.runtime.arrays.memory_format import expect_strided
from gradsmith.runtime.graph.size import Size
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.switches.return_types import return_type
from gradsmith.runtime.tensors.factories.creation import tensor
from gradsmith.runtime.tensors.factories.python_data import is_tensor

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from gradsmith.generated.tensor import Tensor
    from gradsmith.runtime.arrays.device import DeviceLike

# ---- equal elements


def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Elements without repetitions, or slices along a dimension, in ascending order.

    Parameters
    ----------
    sorted : bool
        Whether the order must be ascending; it always is.
    return_inverse : bool
        Also return for each element, or slice, the number of its equal in the result.
    return_counts : bool
        Also return how many were equal.
    dim : int, optional
        Dimension of the slices that are compared; by default elements are.

    Returns
    -------
    Tensor or tuple of Tensor
    """
    output, places, counts = unique_elements(input, dim, return_inverse or return_counts)
    return _asked(output, return_inverse, places, return_counts, counts)


def unique_consecutive(
    input: Any, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """The first of every run of equal elements, or of equal slices along a dimension; see `unique`."""
    output, places, counts = consecutive_elements(input, dim)
    return _asked(output, return_inverse, places, return_counts, counts)


def _asked(output: Tensor, with_places: bool, places: Tensor, with_counts: bool, counts: Tensor) -> Any:
    if with_places:
        return (output, places, counts) if with_counts else (output, places)
    return (output, counts) if with_counts else output


def nonzero(input: Any, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """Places of the elements that are not zero: as rows or, with `as_tuple`, one vector of indices per dimension.

    Parameters
    ----------
    out : Tensor, optional
        An int64 tensor that takes the rows.
    as_tuple : bool
        Return vectors; there is no `out` for them.

    Returns
    -------
    Tensor or tuple of Tensor

    Raises
    ------
    RuntimeError
        There are `as_tuple` and `out`, or a dtype of `out` to which integers are not cast.
    """
    if as_tuple and out is not None:
        raise RuntimeError("nonzero does not support the out kwarg when as_tuple is True")
    rows = nonzero_rows(input) if out is None else nonzero_rows(input, out=out)
    if not as_tuple:
        return rows
    return tuple(rows.unbind(1)) if rows.shape[1] else (nonzero_rows(input.reshape(1)).reshape(-1),)


# ---- factors


def lu(input: Any, pivot: bool = True, get_infos: bool = False) -> Any:
    """Triangular factors of a matrix, or of each of a batch; `linalg.lu_factor` refuses singular ones.

    Parameters
    ----------
    pivot : bool
        Whether rows are exchanged, which they have to be.
    get_infos : bool
        Also return the first step of elimination that found no pivot, or 0.

    Returns
    -------
    tuple of Tensor
        Both factors in one, the row, counted from 1, that was exchanged with each row, and what `get_infos` asked for.
    """
    from gradsmith.generated.lu_factors import lu_compact

    factors, pivots, infos = lu_compact(input, pivot, False, "lu")
    return (factors, pivots, infos) if get_infos else (factors, pivots)


# ---- histograms

HistogramResult = return_type("histogram", "HistogramResult", ("hist", "bin_edges"), __name__)
HistogramddResult = return_type("histogramdd", "HistogramddResult", ("hist", "bin_edges"), __name__)


def histogram(
    input: Any,
    bins: Any,
    *,
    range: Sequence[float] | None = None,
    weight: Any = None,
    density: bool = False,
    out: Any = None,
) -> Any:
    """Numbers of elements in the bins, and the edges of the bins.

    Parameters
    ----------
    bins : int or Tensor
        A number of bins of equal length, or the ascending edges of bins.
    range : two floats, optional
        Between which numbers bins of equal length lie; by default the least and the greatest element.
    weight : Tensor, optional
        How much each element counts.
    density : bool
        Divide by the sum and the length of the bins, so that the integral is one.
    out : pair of Tensor, optional
        Where to write the results.

    Returns
    -------
    hist, bin_edges : Tensor
    """
    if not is_tensor(bins):
        found: Sequence[Tensor] = histogram_even(input, bins, limits=range, weight=weight, density=density)
    elif range is None:
        found = histogram_between(input, bins, weight=weight, density=density)
    else:
        raise TypeError("histogram(): takes a range with a number of bins, but not with their edges")
    return HistogramResult(*(found if out is None else _written(found, out)))


def _written(results: Sequence[Tensor], out: Sequence[Tensor]) -> Sequence[Tensor]:
    for result, target in zip(results, out, strict=True):
        target.resize_(result.shape).copy_(result)
    return out


def histogramdd(
    input: Any, bins: Any, *, range: Sequence[float] | None = None, weight: Any = None, density: bool = False
) -> Any:
    """Numbers of points in the boxes of a grid, and the edges of the boxes along each axis.

    Parameters
    ----------
    input : Tensor
        The coordinates of the points along the last dimension.
    bins : int, sequence of int, or sequence of Tensor
        Numbers of boxes along each axis, or their ascending edges.
    range : sequence of float, optional
        Least and greatest coordinate of the grid for each axis, one after the other.
    weight, density
        As of `histogram`.

    Returns
    -------
    hist : Tensor
    bin_edges : tuple of Tensor
    """
    if _are_edges(bins):
        counts = histogramdd_between(input, bins, weight=weight, density=density)
        return HistogramddResult(counts, tuple(edge.clone() for edge in bins))
    numbers = [bins] * input.shape[-1] if isinstance(bins, int) and input.ndim else bins
    counts, edges = histogramdd_even(input, numbers, limits=range, weight=weight, density=density)
    return HistogramddResult(counts, tuple(edges.split([number + 1 for number in numbers])))


def _are_edges(bins: Any) -> bool:
    return isinstance(bins, (list, tuple)) and any(is_tensor(edge) for edge in bins)


# ---- shapes and indices


def broadcast_shapes(*shapes: Any) -> Size:
    """The shape to which tensors of these shapes broadcast."""
    sizes = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    try:
        return Size(np.broadcast_shapes(*sizes))
    except ValueError:
        raise RuntimeError(
            f"broadcast_shapes(): shapes {', '.join(map(str, sizes))} do not broadcast: in each dimension, counted "
            "from the last, they must be equal or 1"
        ) from None


def unravel_index(indices: Any, shape: Any) -> tuple[Tensor, ...]:
    """Coordinates, in a tensor of a given shape, of elements given by their places in the flattened tensor."""
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not is_tensor(indices) or indices.dtype.kind not in "iu":
        raise TypeError(f"unravel_index(): expected 'indices' to be an integer tensor, but got {_kind(indices)}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"unravel_index(): 'shape' cannot have negative values, but got {sizes}")
    places = indices.long()
    found = [
        places.div(math.prod(sizes[axis + 1 :]) or 1, rounding_mode="floor") % (size or 1)
        for axis, size in enumerate(sizes)
    ]
    return tuple(found)


def _kind(value: Any) -> str:
    return str(value.dtype) if is_tensor(value) else type(value).__name__


def tril_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DTypeLike = np.int64,
    device: DeviceLike | None = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Rows and columns, as the two rows of a tensor, of the elements of a matrix on and below a diagonal."""
    expect_strided("tril_indices", layout)
    _expect_no_grad("tril_indices", requires_grad)
    return _triangle("tril_indices", *_sizes("tril_indices", row, col), offset, False, dtype, device)


def triu_indices(
    row: int,
    col: int,
    offset: int = 0,
    *,
    dtype: DTypeLike = np.int64,
    device: DeviceLike | None = None,
    layout: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Rows and columns, as the two rows of a tensor, of the elements of a matrix on and above a diagonal."""
    expect_strided("triu_indices", layout)
    _expect_no_grad("triu_indices", requires_grad)
    return _triangle("triu_indices", *_sizes("triu_indices", row, col), offset, True, dtype, device)


def _expect_no_grad(op: str, requires_grad: bool) -> None:
    if requires_grad:
        raise RuntimeError(f"{op}(): Only Tensors of floating point and complex dtype can require gradients")


def _sizes(op: str, row: int, col: int) -> tuple[int, int]:
    if row < 0 or col < 0:
        name, size = ("row", row) if row < 0 else ("col", col)
        raise RuntimeError(f"{op}(): {name} must be non-negative, got {size}")
    return row, col


def _triangle(
    op: str, row: int, col: int, offset: int, upper: bool, dtype: DTypeLike, device: DeviceLike | None
) -> Tensor:
    kind = np.dtype(dtype)
    if kind.kind != "i" or kind.itemsize < 4:
        raise RuntimeError(f"{op}(): indices are int32 or int64, but dtype is {kind}")
    places = triangle_places(row, col, offset, upper, kind.itemsize == 8)
    return from_array(places) if device is None else tensor(places, device=device)
