"""The links of ops that put elements elsewhere, add them up or take their mean, found by running their nodes.

The gradient of such an op is a matrix whose elements are zero or one number: 1, 1/n, `alpha`. When at most one element
of each row is not zero, the product with the numbers 0, 1, 2, ... over that with ones is the number of the column. A
row with more of them is noticed by the product with random numbers.

The matrix is that of the backward formula; its transpose, that of the op, is the backward of the backward.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.func.sparse.links import Link, Shape, everything
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.switches.grad_mode import enable_grad, no_grad
from gradsmith.runtime.tensors.entry_points import run_grad

if TYPE_CHECKING:
    from numpy.typing import NDArray  # slow to import

    Map = Callable[[NDArray[Any]], NDArray[Any]]


def probed(node: Any, shapes: Sequence[Shape | None]) -> list[Link]:
    """The links of `node` with its inputs, None for those without gradient."""
    return [_link(Probe(node, edge, shape)) for edge, shape in enumerate(shapes) if shape is not None]


def _link(probe: Probe) -> Link:
    if not probe.keeps_kind:
        return everything(probe.edge, probe.count, probe.size)
    sources = columns(probe.forward, probe.size, probe.count, probe.dtype)
    if sources is not None:
        return Link(probe.edge, sources, np.arange(probe.size))
    targets = columns(probe.backward, probe.count, probe.size, probe.dtype)
    if targets is not None:
        return Link(probe.edge, np.arange(probe.count), targets)
    return everything(probe.edge, probe.count, probe.size)


def columns(product: Map, width: int, height: int, dtype: Any) -> NDArray[np.intp] | None:
    """For each row of a matrix the column of its only element, -1 for rows of zeros; None if some have more."""
    sums = product(np.ones(width, dtype))
    found = np.zeros(height, np.intp)
    base = 1 << np.finfo(dtype).nmant // 2  # digits so small that quotients are exact
    place = 1
    with np.errstate(all="ignore"):
        while place < width:
            digits = np.arange(width) // place % base
            quotient = product(digits.astype(dtype)) / sums
            found += place * np.nan_to_num(np.rint(quotient)).astype(np.intp)
            place *= base
        found = np.where(sums == 0, -1, found)
        return found if _agrees(product, found, sums, width, dtype) else None


def _agrees(product: Map, found: NDArray[np.intp], sums: NDArray[Any], width: int, dtype: Any) -> bool:
    """Does a matrix with these columns, and no other elements, give the same product with random numbers?"""
    if not (np.isfinite(sums).all() and ((found >= -1) & (found < width)).all()):
        return False
    generator, tolerance = np.random.default_rng(width), 16 * np.finfo(dtype).eps
    for _ in range(3):
        numbers = generator.uniform(0.5, 1.5, width).astype(dtype)
        expected = np.where(found < 0, 0, sums * np.append(numbers, 0).astype(dtype)[found])
        if not (np.abs(product(numbers) - expected) <= tolerance * np.abs(sums)).all():
            return False
    return True


class Probe:
    """The matrix of one edge of a node, by its products with vectors."""

    def __init__(self, node: Any, edge: int, shape: Shape) -> None:
        self.node, self.edge, self.shape = node, edge, shape
        self.results = node._input_metadata
        self.count = sum(_size(result.shape) for result in self.results)
        self.size = _size(shape)
        given, number = node.next_functions[edge]
        dtypes = [result.dtype for result in (*self.results, given._input_metadata[number]) if result.dtype is not None]
        self.keeps_kind = len({dtype.kind for dtype in dtypes}) == 1  # a complex number is not one element of its parts
        self.dtype = dtypes[0]

    def backward(self, vector: NDArray[Any]) -> NDArray[Any]:
        """Gradients of the node's inputs, for given gradients of its results."""
        with no_grad():
            found = self._applied(self._split(vector))
            return np.zeros(self.size, self.dtype) if found is None else found.numpy().real.reshape(-1)

    def forward(self, vector: NDArray[Any]) -> NDArray[Any]:
        """The transpose of that, from the graph of the same."""
        with enable_grad():
            gradients = [gradient.requires_grad_() for gradient in self._split(np.zeros(self.count, self.dtype))]
            product = self._applied(gradients)
        if product is None or not product.requires_grad:
            return np.zeros(self.count, self.dtype)
        given = from_array(vector.astype(product.dtype).reshape(self.shape))
        found = run_grad([product], [given], False, False, gradients)
        parts = [np.zeros(one.shape) if part is None else part.numpy().real for one, part in zip(gradients, found)]
        return np.concatenate([part.reshape(-1) for part in parts])

    def _split(self, vector: NDArray[Any]) -> list[Any]:
        """Gradients of the results, from the elements of all."""
        ends = np.cumsum([_size(result.shape) for result in self.results])
        parts = np.split(vector, ends[:-1])
        return [from_array(part.reshape(result.shape).copy()) for part, result in zip(parts, self.results)]

    def _applied(self, gradients: list[Any]) -> Any:
        found = self.node(*gradients)
        gradient = found[self.edge] if isinstance(found, tuple) else found
        return gradient if gradient is None else summed_to(gradient, self.shape)


def summed_to(gradient: Any, shape: Shape) -> Any:
    """`gradient` summed over the dimensions along which a tensor of `shape` was broadcast."""
    extra = gradient.ndim - len(shape)
    dims = [dim for dim in range(gradient.ndim) if dim < extra or shape[dim - extra] != gradient.shape[dim]]
    return gradient.sum(dims).reshape(shape) if dims else gradient


def _size(shape: Shape) -> int:
    return int(np.prod(shape, dtype=np.intp))
