"""Functions of NumPy that make indices, ranges and masks, or write in place.

What has a derivative of its own is an op of the table.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.generated.places import nonzero_rows
from gradsmith.runtime.arrays.dtypes import get_default_dtype
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.tensors.factories.creation import arange, tensor
from gradsmith.runtime.tensors.factories.python_data import is_tensor

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from gradsmith.generated.tensor import Tensor
    from gradsmith.runtime.arrays.device import DeviceLike

# ---- places


def flatnonzero(a: Any) -> Tensor:
    """Places of the elements that are not zero, in the flattened tensor."""
    return nonzero_rows(a.reshape(-1)).reshape(-1)


def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """Indices of the main diagonal of a tensor of `ndim` dimensions of size `n`, one vector for each dimension."""
    return (arange(n),) * ndim


def diag_indices_from(arr: Any) -> tuple[Tensor, ...]:
    """Indices of the main diagonal of a tensor, whose dimensions must have one size."""
    if arr.ndim < 2:
        raise ValueError(f"diag_indices_from(): the tensor must have at least 2 dimensions, but has {arr.ndim}")
    if len(set(arr.shape)) > 1:
        raise ValueError(f"diag_indices_from(): all dimensions must have one size, but they are {list(arr.shape)}")
    return diag_indices(arr.shape[0], arr.ndim)


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, Tensor]:
    """Rows and columns of the elements of a matrix on and below a diagonal."""
    return _triangle(np.tril_indices, "tril_indices_from", arr, k)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Tensor, Tensor]:
    """Rows and columns of the elements of a matrix on and above a diagonal."""
    return _triangle(np.triu_indices, "triu_indices_from", arr, k)


def _triangle(indices: Any, op: str, arr: Any, k: int) -> tuple[Tensor, Tensor]:
    if arr.ndim != 2:
        raise ValueError(f"{op}(): the tensor must be a matrix, but has {arr.ndim} dimensions")
    rows, columns = indices(arr.shape[0], k, arr.shape[1])
    return tensor(rows), tensor(columns)


def indices(dimensions: Sequence[int], dtype: DTypeLike = np.int64, sparse: bool = False) -> Any:
    """The indices of all elements of a tensor of a given shape, along a first dimension one tensor for each of its
    dimensions; with `sparse` a tuple of tensors that broadcast to these."""
    found = np.indices(tuple(dimensions), dtype, sparse)  # type: ignore[call-overload]
    return tuple(tensor(part) for part in found) if sparse else tensor(found)


def ix_(*args: Any) -> tuple[Tensor, ...]:
    """Vectors of indices, or masks, each along a dimension of its own: together they index a grid."""
    for position, one in enumerate(args):
        if np.ndim(array_behind(one) if is_tensor(one) else one) != 1:
            raise ValueError(f"ix_(): argument {position} must be a vector")
    vectors = [one if is_tensor(one) else tensor(np.asarray(one, np.int64 if not len(one) else None)) for one in args]
    places = [flatnonzero(one) if one.dtype.kind == "b" else one for one in vectors]
    return tuple(
        one.reshape([-1 if dim == position else 1 for dim in range(len(places))]) for position, one in enumerate(places)
    )


def ravel_multi_index(multi_index: Any, dims: Sequence[int]) -> Tensor:
    """Places in the flattened tensor of elements whose coordinates are given; it undoes `unravel_index`.

    Parameters
    ----------
    multi_index : sequence of Tensor
        Integers, one tensor for each dimension.
    dims : sequence of int
        The shape of the tensor.
    """
    sizes = tuple(dims)
    if len(multi_index) != len(sizes):
        raise ValueError(
            f"ravel_multi_index(): needs coordinates for each of {len(sizes)} dimensions, but got {len(multi_index)}"
        )
    found: Any = 0
    for axis, (places, size) in enumerate(zip(multi_index, sizes, strict=True)):
        if bool(((places < 0) | (places >= size)).any()):
            raise ValueError(f"ravel_multi_index(): a coordinate of dimension {axis} is not from 0 to {size - 1}")
        found = found + places * math.prod(sizes[axis + 1 :])
    return found  # type: ignore[no-any-return]


# ---- new tensors


def tri(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike | None = None, *, device: DeviceLike | None = None
) -> Tensor:
    """Matrix of ones on and below a diagonal, and zeros above it.

    Parameters
    ----------
    N, M : int
        Numbers of rows and of columns, which is that of rows if it is not given.
    k : int
        The diagonal: zero is the main one, a positive number one above it.
    """
    return tensor(np.tri(N, M, k, dtype or get_default_dtype()), device=device)


def geomspace(
    start: complex,
    stop: complex,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Numbers from `start` to `stop`, each the same multiple of the one before.

    Parameters
    ----------
    start, stop : number
        The first and the last number; neither may be zero.
    num : int
        How many.
    endpoint : bool
        Whether `stop` is among them, or comes next.
    """
    points = np.geomspace(start, stop, num, endpoint)
    default = get_default_dtype()
    kind = np.result_type(default, np.complex64) if points.dtype.kind == "c" else default
    return tensor(points, dtype=dtype or kind, device=device, requires_grad=requires_grad)


# ---- written in place


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    """Replace elements along a dimension in place; `put_along_dim` gives a copy."""
    arr.put_along_dim_(indices, values, axis)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Give one value to the elements on the main diagonal, in place; see `Tensor.fill_diagonal_`."""
    a.fill_diagonal_(val, wrap)


def copyto(dst: Any, src: Any, *, where: Any = True) -> None:
    """Copy values into a tensor, which are broadcast to it, in place; with `where` only under a mask."""
    if where is True:
        dst.copy_(src)
        return
    values = src if is_tensor(src) else tensor(src, dtype=dst.dtype, device=dst.device)
    mask = where if is_tensor(where) else tensor(where, device=dst.device)
    dst.copy_(values.to(dst.dtype).expand(dst.shape).where(mask, dst))


def putmask(a: Any, mask: Any, values: Any) -> None:
    """Replace the elements under a mask in place by those at the same places of `values`, repeated to as many."""
    _write_places(a, flatnonzero(mask), values, lambda places, count: places % count)


def place(arr: Any, mask: Any, vals: Any) -> None:
    """Replace the elements under a mask in place by those of `vals`, one after the other, from the first on again."""
    _write_places(arr, flatnonzero(mask), vals, lambda places, count: arange(places.numel()) % count)


def _write_places(target: Any, places: Tensor, values: Any, numbers: Any) -> None:
    flat = (values if is_tensor(values) else tensor(values, device=target.device)).reshape(-1).to(target.dtype)
    if not flat.numel():
        if places.numel():
            raise ValueError("place(): cannot insert from an empty tensor")
        return
    target.put_(places, flat[numbers(places, flat.numel())])


# ---- questions


def ndim(a: Any) -> int:
    """Number of dimensions."""
    return int(a.ndim) if is_tensor(a) else np.ndim(a)


def shape(a: Any) -> tuple[int, ...]:
    """The sizes of all dimensions."""
    return tuple(a.shape) if is_tensor(a) else np.shape(a)


def size(a: Any, axis: int | None = None) -> int:
    """Number of elements, or the size of one dimension."""
    sizes = shape(a)
    return math.prod(sizes) if axis is None else sizes[axis]


def iscomplex(x: Any) -> Any:
    """Where an element has an imaginary part."""
    return x.isreal().logical_not()


# ---- other names


def copy(a: Any) -> Tensor:
    """Copy with a history: the same as `clone`."""
    return a.clone()  # type: ignore[no-any-return]


def astype(x: Any, dtype: DTypeLike, *, copy: bool = True) -> Tensor:
    """The tensor in another dtype; with ``copy=False`` itself where it has that dtype already."""
    return x.to(dtype, copy=copy)  # type: ignore[no-any-return]


def identity(n: int, dtype: DTypeLike | None = None) -> Tensor:
    """Square matrix with ones on its diagonal."""
    return tensor(np.identity(n, dtype or get_default_dtype()))


def broadcast_arrays(*args: Any) -> tuple[Tensor, ...]:
    """The tensors in the shape to which they broadcast, as views; PyTorch calls it `broadcast_tensors`."""
    from gradsmith.generated.stacking import broadcast_tensors

    return broadcast_tensors(*args)


def digitize(x: Any, bins: Any, right: bool = False) -> Tensor:
    """The number of the bin in which each element lies, of bins between ascending edges; `bucketize` means the other
    side by `right`."""
    from gradsmith.generated.order import bucketize

    return bucketize(x, bins, right=not right)


def extract(condition: Any, arr: Any) -> Tensor:
    """The elements under a mask, in a row."""
    return arr.reshape(-1)[condition.reshape(-1).bool()]  # type: ignore[no-any-return]


def compress(condition: Any, a: Any, axis: int | None = None) -> Tensor:
    """The slices along a dimension, or the elements, for which the condition, which may be shorter, is true."""
    flat = a.reshape(-1) if axis is None else a
    mask = condition if is_tensor(condition) else tensor(condition)
    return flat.index_select(0 if axis is None else axis, flatnonzero(mask))  # type: ignore[no-any-return]
