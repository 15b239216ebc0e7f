"""Lookups in tables, with the arguments that ``torch.nn.functional`` has for them."""

from __future__ import annotations

from functools import partial

from gradsmith.autograd.forward_ad import set_fwd_grad_enabled
from gradsmith.autograd.grad_mode import no_grad
from gradsmith.generated import embedding as rows_of
from gradsmith.generated import norm, where
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.functions.indexed import one_hot_rows
from gradsmith.runtime.batching.batch import is_batched_tensor, is_tracing, trace_of_thread
from gradsmith.runtime.batching.checked_values import check_values
from gradsmith.runtime.graph.tensor import array_behind, from_array

__all__ = ["embedding", "one_hot"]


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """Rows of a table, one for each index.

    Parameters
    ----------
    input : Tensor
        Indices: integers of any shape, from 0 to the number of rows.
    weight : Tensor
        The table, of shape (rows, width).
    padding_idx : int, optional
        The index of a row that gets no gradient. A negative one counts from the end.
    max_norm : float, optional
        Rows that are looked up and longer than this are first scaled to this length, in the table itself.
    norm_type : float, optional
        The order of the norm that `max_norm` is of.
    scale_grad_by_freq : bool, optional
        Divide the gradient of each row by how often it is looked up.
    sparse : bool, optional
        Where `weight` is a leaf, its gradient has the rows alone that were looked up; see `Tensor.is_sparse`.

    Returns
    -------
    Tensor
        Of shape (*input.shape, width).

    Raises
    ------
    IndexError
        An index is negative, or there is no such row.
    RuntimeError
        `input` is not of integers, or `weight` not a matrix.
    ValueError
        There is no row `padding_idx`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> table = gs.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], requires_grad=True)
    >>> rows = F.embedding(gs.tensor([2, 0, 2]), table)
    >>> rows.sum().backward()
    >>> table.grad
    tensor([[1., 1.],
            [0., 0.],
            [2., 2.]])
    """
    padding = place_of_padding("embedding", padding_idx, weight)
    if max_norm is not None:
        shorten_rows(weight, input, max_norm, norm_type)
    return rows_of(weight, input, padding, scale_grad_by_freq, sparse)


def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """A one at the place of each class, and zeros.

    Parameters
    ----------
    input : Tensor
        Classes: int64, of any shape, from 0 to the number of classes.
    num_classes : int, optional
        How many there are; one more than the greatest in `input` by default.

    Returns
    -------
    Tensor
        Of dtype int64 and shape (*input.shape, num_classes).

    Raises
    ------
    RuntimeError
        `input` is not int64, has a class that is negative or too large, or is empty where the number is not given.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> F.one_hot(gs.tensor([0, 2]))
    tensor([[1, 0, 0],
            [0, 0, 1]])
    """
    if input.dtype != "int64":
        raise RuntimeError(f"one_hot(): is only applicable to index tensor of type int64, but got {input.dtype}")
    if is_tracing() and num_classes == -1:
        raise trace_of_thread().call.error(
            "one_hot() without num_classes makes as many columns as the greatest element says; give num_classes"
        )
    if not (is_batched_tensor(input) or is_tracing()):
        found = one_hot_rows(array_behind(input), num_classes)
        if found is not None:
            return from_array(found)
    _expect_classes(input, num_classes)
    count = num_classes if num_classes > 0 else int(input.max().item()) + 1
    return input.new_zeros((*input.shape, count)).scatter_(-1, input.unsqueeze(-1), 1)


def _expect_classes(input: Tensor, num_classes: int) -> None:
    if num_classes == 0 or num_classes < -1:
        raise RuntimeError(
            f"one_hot(): num_classes must be positive, or -1 for as many as there are, got {num_classes}"
        )
    if input.numel() == 0:
        if num_classes == -1:
            raise RuntimeError("one_hot(): Can not infer total number of classes from empty tensor; give num_classes")
        return
    check_values(partial(_expect_between, num_classes), input)


def _expect_between(num_classes: int, input: Tensor) -> None:
    if (input < 0).any():
        raise RuntimeError("one_hot(): Class values must be non-negative")
    if num_classes > 0 and (input >= num_classes).any():
        raise RuntimeError(f"one_hot(): Class values must be smaller than num_classes, which is {num_classes}")


def place_of_padding(op: str, padding_idx: int | None, weight: Tensor) -> int:
    """As an index from 0; -1 where there is none."""
    if padding_idx is None:
        return -1
    rows = weight.shape[0]
    if not -rows <= padding_idx < rows:
        raise ValueError(
            f"{op}(): padding_idx must be within the {rows} rows of the table, from {-rows} to {rows - 1}, "
            f"but it is {padding_idx}"
        )
    return padding_idx % rows


def shorten_rows(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Bring the rows that are looked up to a length of `max_norm` at most; one that comes twice is written twice."""
    with no_grad(), set_fwd_grad_enabled(False):  # tangents are those of the rows, as gradients are
        used = input.reshape(-1).long()
        rows = rows_of(weight, used)
        length = norm(rows, norm_type, 1, True)
        weight.index_copy_(0, used, rows * where(length > max_norm, max_norm / (length + 1e-7), 1.0))
