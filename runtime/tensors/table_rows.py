"""What methods of tensors say of indexed gradients; see runtime/graph/indexed_rows.pyx."""

from __future__ import annotations

from typing import Any

from gradsmith.runtime.graph.indexed_rows import coalesced, fill_tensor, indexed_rows, sharing
from gradsmith.runtime.graph.tensor import from_array


def is_indexed(tensor: Any) -> bool:
    """Does the tensor have the rows alone that are not zero?"""
    return indexed_rows(tensor) is not None


def is_coalesced(tensor: Any) -> bool:
    """Are the indices different and in order?"""
    return bool(_rows(tensor, "is_coalesced").is_coalesced)


def coalesce(tensor: Any) -> Any:
    """One row for each index, in order."""
    _rows(tensor, "coalesce")
    return coalesced(tensor)


def count(tensor: Any) -> int:
    """How many rows there are, an index as often as it comes."""
    return len(_rows(tensor, "_nnz").values)


def indices(tensor: Any, what: str) -> Any:
    """The indices as PyTorch gives them, of shape (1, n)."""
    return from_array(_rows(tensor, what).indices[None])


def values(tensor: Any, what: str) -> Any:
    """The rows, in the order of the indices."""
    return from_array(_rows(tensor, what).values)


def expect_coalesced(tensor: Any, what: str) -> None:
    """PyTorch gives the parts of a sparse tensor when no index comes twice."""
    if not _rows(tensor, what).is_coalesced:
        raise RuntimeError(
            f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first; "
            f"_{what}() gives them as they are"
        )


def to_dense(tensor: Any) -> Any:
    """A tensor with all rows; the tensor itself where it has them."""
    if not is_indexed(tensor):
        return tensor
    copy = sharing(tensor)
    fill_tensor(copy)
    return copy


def _rows(tensor: Any, what: str) -> Any:
    rows = indexed_rows(tensor)
    if rows is None:
        raise RuntimeError(
            f"{what}() is of indexed gradients, which the table of an embedding with sparse=True gets; this is a dense "
            f"tensor of shape {list(tensor.shape)}. Ask for is_sparse before"
        )
    return rows
