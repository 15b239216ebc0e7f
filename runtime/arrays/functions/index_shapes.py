"""The shape that an index gives, found without an element being read."""

from __future__ import annotations

from typing import Any

import numpy as np


def indexed_shape(shape: tuple[int, ...], index: tuple[Any, ...]) -> tuple[int, ...]:
    """Shape of ``x[index]`` for an array `x` of a shape.

    Parameters
    ----------
    index : tuple
        Slices, None, Ellipsis and arrays: integers or masks, of which masks have data.

    Raises
    ------
    IndexError
        When the index does not fit the shape, or its arrays do not fit each other.
    """
    kept: list[int] = []
    arrays: list[tuple[int, ...]] = []
    at = -1  # where the dimensions of the arrays go
    is_run = True  # are they adjacent?
    dim = 0
    for part in _written_out(index, len(shape)):
        if isinstance(part, np.ndarray):
            _check_mask(part, shape, dim)
            is_run = is_run and at in (-1, len(kept))
            at = len(kept) if at < 0 else at
            arrays.append((int(np.count_nonzero(part)),) if part.dtype.kind == "b" else part.shape)
        else:
            kept.append(1 if part is None else len(range(*part.indices(shape[dim]))))
        dim += _dims_of(part)
    kept += shape[dim:]
    at = at if is_run else 0
    return (*kept[:at], *_common_shape(arrays), *kept[at:]) if arrays else tuple(kept)


def _check_mask(part: np.ndarray[Any, Any], shape: tuple[int, ...], dim: int) -> None:
    expected = shape[dim : dim + part.ndim]
    if part.dtype.kind == "b" and part.shape != expected:
        raise IndexError(
            f"the shape of the mask {list(part.shape)} does not match the dimensions {list(expected)} it indexes"
        )


def _common_shape(arrays: list[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*arrays)
    except ValueError:
        sizes = ", ".join(str(list(shape)) for shape in arrays)
        raise IndexError(
            f"shape mismatch: indexing tensors could not be broadcast together with shapes {sizes}"
        ) from None


def _written_out(index: tuple[Any, ...], ndim: int) -> list[Any]:
    """The parts of an index with whole slices for Ellipsis."""
    used = sum(_dims_of(part) for part in index)
    if used > ndim:
        raise IndexError(f"too many indices: the tensor has {ndim} dimensions, but {used} were indexed")
    parts: list[Any] = []
    for part in index:
        parts += [slice(None)] * (ndim - used) if part is Ellipsis else [part]
    return parts


def _dims_of(part: Any) -> int:
    """How many dimensions of the array a part of an index takes up."""
    if isinstance(part, np.ndarray):
        return part.ndim if part.dtype.kind == "b" else 1
    return 0 if part is None or part is Ellipsis else 1
