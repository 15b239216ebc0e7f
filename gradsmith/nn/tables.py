"""Lookups in tables, with the arguments that ``torch.nn.functional`` has for them."""

from __future__ import annotations

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.generated import embedding as rows_of
from gradsmith.generated import norm, where
from gradsmith.generated.tensor import Tensor

__all__ = ["embedding"]


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
    padding = _place(padding_idx, weight)
    if max_norm is not None:
        _shorten_rows(weight, input, max_norm, norm_type)
    return rows_of(weight, input, padding, scale_grad_by_freq, sparse)


def _place(padding_idx: int | None, weight: Tensor) -> int:
    """As an index from 0; -1 where there is none."""
    if padding_idx is None:
        return -1
    rows = weight.shape[0]
    if not -rows <= padding_idx < rows:
        raise ValueError(
            f"embedding(): padding_idx must be within the {rows} rows of the table, from {-rows} to {rows - 1}, "
            f"but it is {padding_idx}"
        )
    return padding_idx % rows


def _shorten_rows(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """Bring the rows that are looked up to a length of `max_norm` at most; one that comes twice is written twice."""
    with no_grad():
        used = input.reshape(-1)
        rows = rows_of(weight, used)
        length = norm(rows, norm_type, 1, True)
        weight.index_copy_(0, used, rows * where(length > max_norm, max_norm / (length + 1e-7), 1.0))
