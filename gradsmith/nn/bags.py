"""Sums, means and maxima of rows of a table, with the arguments that ``torch.nn.functional`` has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradsmith.generated import embedding as rows_of
from gradsmith.generated import gather, index_reduce, isnan, searchsorted, where
from gradsmith.generated.embeddings import rows_summed
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.tables import place_of_padding, shorten_rows
from gradsmith.runtime.arrays.functions.draws.categories import first_greatest
from gradsmith.runtime.batching.batch import is_batched_tensor, is_tracing
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.tensors.factories.creation import arange, full, over_array, zeros
from gradsmith.runtime.tensors.queries import is_tensor

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]

__all__ = ["embedding_bag"]

_MODES = ("sum", "mean", "max")


class Bags(NamedTuple):
    """Which rows are asked for, in which of `number` bags each is, and what it is multiplied by.

    Where values decide no shapes, see `_is_by_ops`, rows that belong to no bag are in one more, which is left out.
    """

    rows: Tensor
    bags: Tensor
    number: int
    factors: Tensor | None
    more: int = 0  # one where there is one more bag


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Rows of a table, summed up in bags: the sum, mean or maximum of the rows of each.

    Parameters
    ----------
    input : Tensor
        Indices of rows: integers of shape (bags, n), or (total,) with `offsets`.
    weight : Tensor
        The table, of shape (rows, width).
    offsets : Tensor, optional
        Where each bag begins in `input`: integers of shape (bags,), ascending, the first of them 0.
    max_norm, norm_type : float, optional
        Rows that are looked up and longer than this are first scaled to this length, in the table itself.
    scale_grad_by_freq : bool, optional
        Divide the gradient of each row by how often it is looked up; not for maxima.
    mode : {"mean", "sum", "max"}
        What is made of the rows of a bag. A bag without rows gives zeros.
    sparse : bool, optional
        Where `weight` is a leaf, its gradient has the rows alone that were looked up; not for maxima.
    per_sample_weights : Tensor, optional
        Factors of the rows, of the shape of `input`; only for sums. They may require a gradient.
    include_last_offset : bool, optional
        The last of `offsets` is the end of the last bag.
    padding_idx : int, optional
        The index of a row that belongs to no bag.

    Returns
    -------
    Tensor
        Of shape (bags, width). Of equal maxima the first has the gradient.

    Raises
    ------
    ValueError
        Sizes, `mode` or the options do not go together.
    NotImplementedError
        `per_sample_weights` for means or maxima.
    RuntimeError
        `offsets` do not begin with 0, descend, or go beyond `input`; a compiled function names an index instead.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> table = gs.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> F.embedding_bag(gs.tensor([2, 0, 1]), table, gs.tensor([0, 2]), mode="sum")
    tensor([[6., 8.],
            [3., 4.]])
    """
    _expect_tensors(input, weight, offsets, per_sample_weights)
    _expect_options(mode, scale_grad_by_freq, sparse, per_sample_weights)
    padding = place_of_padding("embedding_bag", padding_idx, weight)
    by_ops = _is_by_ops(input, weight, offsets, per_sample_weights)
    if by_ops:
        found = _with_padding_apart(_bags_by_ops(input, offsets, per_sample_weights, include_last_offset), padding)
    else:
        found = _without_padding(_bags(input, offsets, per_sample_weights, include_last_offset), padding)
    if max_norm is not None:
        shorten_rows(weight, input, max_norm, norm_type)
    rows = rows_of(weight, found.rows, padding if by_ops else -1, scale_grad_by_freq, sparse)
    if mode == "max":
        return _greatest_by_ops(rows, found) if by_ops else _greatest(rows, found)
    if found.factors is not None:
        rows = rows * found.factors.unsqueeze(1)
    total = _without_more(rows_summed(rows, found.bags, found.number + found.more), found)
    return total / _sizes(found, rows).unsqueeze(1) if mode == "mean" else total


def _is_by_ops(*tensors: Tensor | None) -> bool:
    """Within `vmap` and `compile`, where the elements of tensors decide nothing in Python."""
    return is_tracing() or any(one is not None and is_batched_tensor(one) for one in tensors)


def _expect_tensors(input: Any, weight: Any, offsets: Any, factors: Any) -> None:
    for name, value in (("input", input), ("weight", weight), ("offsets", offsets), ("per_sample_weights", factors)):
        if not (is_tensor(value) or (value is None and name not in ("input", "weight"))):
            raise TypeError(f"embedding_bag(): argument '{name}' must be Tensor, not {type(value).__name__}")
    for name, value in (("input", input), ("offsets", offsets)):
        if value is not None and value.dtype.kind not in "iu":
            raise RuntimeError(f"embedding_bag(): expects integers for '{name}', got {value.dtype}")
    if weight.ndim != 2:
        raise RuntimeError(f"embedding_bag(): 'weight' must be a matrix, but its size is {list(weight.shape)}")
    if factors is not None and factors.shape != input.shape:
        raise ValueError(
            f"embedding_bag(): per_sample_weights must have the shape of input, {tuple(input.shape)}, but has "
            f"{tuple(factors.shape)}"
        )


def _expect_options(mode: str, by_frequency: bool, sparse: bool, factors: Tensor | None) -> None:
    if mode not in _MODES:
        raise ValueError(f"embedding_bag(): mode has to be one of sum, mean or max, got {mode!r}")
    if mode == "max" and (by_frequency or sparse):
        option = "scaling the gradient by the frequency" if by_frequency else "sparse weights"
        raise ValueError(f"embedding_bag(): max mode does not support {option}")
    if factors is not None and mode != "sum":
        raise NotImplementedError(
            f"embedding_bag(): per_sample_weights was given, which only mode='sum' supports, got mode={mode!r}"
        )


def _bags(input: Tensor, offsets: Tensor | None, factors: Tensor | None, include_last: bool) -> Bags:
    if input.ndim == 2:
        return _bags_of_rows(input, offsets, factors)
    offsets = _expect_offsets(input, offsets)
    sizes = _sizes_between(array_behind(offsets).astype(np.int64), input.shape[0], include_last)
    bags = over_array(np.repeat(np.arange(sizes.size), sizes))
    total = bags.shape[0]  # fewer than there are where the last offset says so
    return Bags(input[:total], bags, sizes.size, None if factors is None else factors[:total])


def _bags_of_rows(input: Tensor, offsets: Tensor | None, factors: Tensor | None) -> Bags:
    if offsets is not None:
        raise ValueError("embedding_bag(): if input is 2D, then offsets has to be None: each row is a bag")
    count, size = input.shape
    bags = arange(count, device=input.device).unsqueeze(1).expand(count, size).reshape(-1)
    return Bags(input.reshape(-1), bags, count, None if factors is None else factors.reshape(-1))


def _expect_offsets(input: Tensor, offsets: Tensor | None) -> Tensor:
    if input.ndim != 1:
        raise ValueError(f"embedding_bag(): input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndim}")
    if offsets is None or offsets.ndim != 1:
        raise ValueError("embedding_bag(): if input is 1D, offsets has to be a 1D Tensor")
    return offsets


def _bags_by_ops(input: Tensor, offsets: Tensor | None, factors: Tensor | None, include_last: bool) -> Bags:
    """The same for any elements of `offsets`; those that are wrong make an index that no bag has."""
    if input.ndim == 2:
        return _bags_of_rows(input, offsets, factors)
    offsets = _expect_offsets(input, offsets)
    end, count = input.shape[0], offsets.shape[0]
    if not count:
        _sizes_between(np.empty(0, np.int64), end, include_last)
        return Bags(input, input, 0, factors)
    is_right = (offsets[0] == 0) & (offsets[-1] <= end) & (offsets[1:] >= offsets[:-1]).all()
    bags = searchsorted(offsets, arange(end, dtype=offsets.dtype), right=True) - 1
    return Bags(input, where(is_right, bags, -1), count - include_last, factors, int(include_last))


def _sizes_between(offsets: Array, end: int, include_last: bool) -> Array:
    if include_last and not offsets.size:
        raise ValueError("embedding_bag(): include_last_offset needs at least one offset")
    if offsets.size and offsets[0] != 0:
        raise RuntimeError(
            f"embedding_bag(): offsets[0] has to be 0: the first bag begins with the first index; got {offsets[0]}"
        )
    if offsets.size and offsets[-1] > end:
        raise RuntimeError(
            f"embedding_bag(): offsets[-1] can not be greater than input's length {end}, but is {offsets[-1]}"
        )
    sizes = np.diff(offsets) if include_last else np.diff(offsets, append=end)
    if np.any(sizes < 0):
        raise RuntimeError("embedding_bag(): offsets have to be ascending")
    if not offsets.size and end:
        raise RuntimeError(f"embedding_bag(): there are no offsets, but {end} indices that belong to some bag")
    return sizes


def _without_padding(found: Bags, padding: int) -> Bags:
    if padding < 0:
        return found
    kept = found.rows != padding
    factors = None if found.factors is None else found.factors[kept]
    return Bags(found.rows[kept], found.bags[kept], found.number, factors)


def _with_padding_apart(found: Bags, padding: int) -> Bags:
    if padding < 0:
        return found
    return found._replace(bags=where(found.rows == padding, found.number, found.bags), more=1)


def _sizes(found: Bags, rows: Tensor) -> Tensor:
    """How many rows each bag has; one where it has none."""
    ones = zeros(found.bags.shape, dtype=rows.dtype, device=rows.device) + 1
    counted = zeros(found.number + found.more, dtype=rows.dtype, device=rows.device).index_add(0, found.bags, ones)
    return _without_more(counted, found).clamp_min(1)


def _without_more(each: Tensor, found: Bags) -> Tensor:
    return each[: found.number] if found.more else each


def _greatest(rows: Tensor, found: Bags) -> Tensor:
    """The greatest element of each column, taken from the first row that has it."""
    if not rows.shape[0]:
        return zeros(found.number, rows.shape[1], dtype=rows.dtype, device=rows.device) + rows.sum()
    values = array_behind(rows)
    if values.dtype.kind != "f":
        raise RuntimeError(f"embedding_bag(): max mode expects a floating dtype, got {rows.dtype}")
    if rows.is_meta:
        return zeros(found.number, rows.shape[1], dtype=rows.dtype, device=rows.device)
    ends = np.cumsum(np.bincount(array_behind(found.bags), minlength=found.number))
    first = over_array(first_greatest(values if values.itemsize > 2 else values.astype(np.float32), ends))
    return where(first >= 0, gather(rows, 0, first.clamp_min(0)), 0)


def _greatest_by_ops(rows: Tensor, found: Bags) -> Tensor:
    """The same for any elements of `found.bags`."""
    end, shape = rows.shape[0], (found.number + found.more, rows.shape[1])
    if not end:
        return zeros(found.number, rows.shape[1], dtype=rows.dtype) + rows.sum()
    values = rows.detach()
    greatest = index_reduce(full(shape, -np.inf, dtype=rows.dtype), 0, found.bags, values, "amax")
    is_greatest = (values == greatest.index_select(0, found.bags)) | isnan(values)
    places = where(is_greatest, arange(end).unsqueeze(1), end)
    first = _without_more(index_reduce(full(shape, end, dtype=places.dtype), 0, found.bags, places, "amin"), found)
    return where(first < end, gather(rows, 0, first.clamp_max(end - 1)), 0)
