"""List the values that a graph keeps for backward."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from gradsmith.runtime.arrays.array import has_no_data
from gradsmith.runtime.arrays.memory import address_of
from gradsmith.runtime.custom_function.gradient_edge import GradientEdge
from gradsmith.runtime.graph.node import Node
from gradsmith.runtime.graph.tensor import TensorBase, array_behind
from gradsmith.runtime.history.saved_hooks import SavedTensor

CHECKPOINT = "checkpoint"  # the attribute of arrays that no node keeps, but a checkpoint for several


class Recomputable(ABC):
    """Stand-in that a checkpoint saves instead of a tensor."""

    __slots__ = ()

    @abstractmethod
    def arrays(self) -> list[np.ndarray[Any, Any]]:
        """Arrays kept in memory because of it."""


class SavedEntry(NamedTuple):
    """One array that a node keeps."""

    node: Node
    attribute: str  # self, other, result: what the node calls it
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    nbytes: int  # of its elements; 0 when an entry before this one keeps the same memory
    shared: bool  # does an entry before this one keep the same memory


class SavedListing(list[SavedEntry]):
    """Everything that a graph keeps, the node recorded last first."""

    @property
    def total(self) -> int:
        """Bytes in all; memory that several nodes keep counts once."""
        return sum(entry.nbytes for entry in self)

    def __repr__(self) -> str:
        rows = [("node", "attribute", "shape", "dtype", "bytes")]
        for entry in self:
            size = "shared" if entry.shared else f"{entry.nbytes:,}"
            rows.append((entry.node.name(), entry.attribute, str(list(entry.shape)), str(entry.dtype), size))
        rows.append(("total", "", "", "", f"{self.total:,}"))
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        return "\n".join(_line(row, widths) for row in rows)


def list_saved(root: Any) -> SavedListing:
    """List what the graph of `root` keeps for backward.

    Parameters
    ----------
    root : Tensor, Node, GradientEdge or sequence of these
        Where the graph ends.

    Returns
    -------
    SavedListing
        A list with one entry per array, and the `total` of bytes. A value that hooks on saved tensors
        put in a tensor's place is listed when it is, or contains, a tensor or an array.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x = gs.ones(1000, requires_grad=True)
    >>> y = (x * x).exp().sum()
    >>> gs.autograd.graph.list_saved(y)
    node          attribute  shape   dtype    bytes
    ExpBackward0  result     [1000]  float32  4,000
    MulBackward0  self       [1000]  float32  4,000
    MulBackward0  other      [1000]  float32  shared
    total                                     8,000
    """
    found = SavedListing()
    seen: set[tuple[int, int]] = set()
    for node in sorted(_nodes_below(_roots_of(root)), key=lambda node: -node._sequence_nr()):
        for attribute, array in saved_by(node):
            nbytes = 0 if has_no_data(array) else array.nbytes
            memory = (address_of(array), nbytes)
            shared = nbytes > 0 and memory in seen
            if shared and attribute == CHECKPOINT:
                continue  # each tensor of a checkpoint leads to all that the checkpoint keeps
            seen.add(memory)
            size = 0 if shared else nbytes
            found.append(SavedEntry(node, attribute, array.shape, array.dtype, size, shared))
    return found


def _line(cells: Iterable[str], widths: list[int]) -> str:
    *texts, number = (cell.ljust(width) for cell, width in zip(cells, widths))
    return "  ".join((*texts, number.strip().rjust(widths[-1]) if number.strip().isdigit() else number)).rstrip()


def _roots_of(root: Any) -> list[Node]:
    if isinstance(root, GradientEdge):
        return [root.node]
    if isinstance(root, TensorBase):
        node = root.grad_fn  # type: ignore[attr-defined]
        return [] if node is None else [node]
    if isinstance(root, Node):
        return [root]
    if isinstance(root, Iterable):
        return [node for part in root for node in _roots_of(part)]
    raise TypeError(f"list_saved() takes a Tensor, a Node, a GradientEdge or several, got {type(root).__name__}")


def _nodes_below(roots: list[Node]) -> list[Node]:
    seen = {id(node): node for node in roots}
    waiting = list(seen.values())
    while waiting:
        for node, _ in waiting.pop().next_functions:
            if node is not None and id(node) not in seen:
                seen[id(node)] = node
                waiting.append(node)
    return list(seen.values())


def saved_by(node: Node) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """(attribute, array) of each array that one node keeps."""
    inner = getattr(node, "_function", None)  # the op that wrote to a view
    for holder in (node,) if inner is None else (node, inner):
        names = [name for part in type(holder).__mro__ for name in vars(part)]
        for name in names:
            raw = name.startswith("_raw_saved_")
            if raw or (name.startswith("_saved_") and f"_raw{name}" not in names):
                yield from _contents(holder, name)


def _contents(node: Node, name: str) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    try:
        value = getattr(node, name)
    except RuntimeError:  # freed by a backward
        return
    yield from _arrays_in(name.split("saved_", 1)[1], value)


def _arrays_in(attribute: str, value: Any) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    if isinstance(value, SavedTensor):
        try:
            value = value.data
        except RuntimeError:  # freed by a backward
            return
    if isinstance(value, TensorBase):
        yield attribute, array_behind(value)
    elif isinstance(value, np.ndarray):
        yield attribute, value
    elif isinstance(value, Recomputable):
        yield from ((CHECKPOINT, array) for array in value.arrays())
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _arrays_in(attribute, part)
