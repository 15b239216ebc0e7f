"""The products with a Jacobian from which its entries are read, all from one call of the function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.func.arguments import Call
from gradsmith.func.reverse import Pullback
from gradsmith.func.sparse.coloring import Coloring
from gradsmith.func.sparse.pattern import SparsityPattern
from gradsmith.runtime.arrays.sparse_entries import read_entries
from gradsmith.runtime.switches.grad_mode import enable_grad, no_grad
from gradsmith.runtime.tensors.entry_points import run_grad
from gradsmith.runtime.tensors.factories.creation import empty_like, zeros_like

if TYPE_CHECKING:
    from numpy.typing import NDArray  # slow to import

    Product = Callable[[list[Any]], Sequence[Any]]


def entries(pullback: Pullback, pattern: SparsityPattern, mode: str) -> NDArray[Any]:
    """The entries of the Jacobian of a call in the order of the pattern."""
    mode = pattern.mode if mode == "auto" else mode
    product, sources, targets = _way(pullback, mode)
    compression = pattern.compression(mode)
    dtype = np.result_type(*[tensor.dtype for tensor in (*sources, *targets)])
    found = np.empty(compression.places.size, dtype)
    columns = compressed(product, compression.coloring, sources, dtype)
    read_entries(columns, compression.products, compression.places, found.view(f"u{dtype.itemsize}"))
    return found


def _way(pullback: Pullback, mode: str) -> tuple[Product, list[Any], list[Any]]:
    """The product of a mode, and the tensors like which its argument and its results are."""
    if mode == "reverse":
        return pullback.product, pullback.outputs, pullback.tensors
    return Pushforwards(pullback), pullback.tensors, pullback.outputs


def compressed(product: Product, coloring: Coloring, sources: Sequence[Any], dtype: Any) -> list[NDArray[Any]]:
    """For each colour the product with ones at the places of that colour."""
    return [joined(product(split(coloring.colors == color, sources)), dtype) for color in range(coloring.count)]


def split(values: NDArray[Any], like: Sequence[Any]) -> list[Any]:
    """Tensors like those, with the values one after the other."""
    found, before = [], 0
    for tensor in like:
        part = empty_like(tensor.detach())
        np.copyto(part.numpy(), values[before : before + tensor.numel()].reshape(tensor.shape))
        found.append(part)
        before += tensor.numel()
    return found


def joined(tensors: Sequence[Any], dtype: Any) -> NDArray[Any]:
    """The elements of all, one after the other; those of a single tensor as they lie there, where they do."""
    flat = [tensor.detach().numpy().reshape(-1) for tensor in tensors]
    return np.ascontiguousarray(flat[0], dtype) if len(flat) == 1 else np.concatenate(flat, dtype=dtype)


class Pushforwards:
    """Products with tangents, by the graph of the product with a cotangent, which is linear in it; see `linearize`."""

    def __init__(self, pullback: Pullback) -> None:
        self.zeros = [zeros_like(output.detach()) for output in pullback.outputs]
        with enable_grad():
            self.cotangents = [zeros_like(zero).requires_grad_() for zero in self.zeros]
            self.products = pullback.product(self.cotangents, create_graph=True)

    def __call__(self, tangents: list[Any]) -> list[Any]:
        pairs = [(product, tangent) for product, tangent in zip(self.products, tangents) if product.requires_grad]
        if not pairs:
            return self.zeros
        roots, given = (list(column) for column in zip(*pairs))
        found = run_grad(roots, given, True, False, self.cotangents)
        return [zero if one is None else one for one, zero in zip(found, self.zeros)]


# ---- a check of the pattern


def check_products(call: Call, pullback: Pullback, pattern: SparsityPattern, mode: str, matrix: Any) -> None:
    """Compare the product with a random vector.

    Raises
    ------
    ValueError
        They differ, by more than rounding.
    """
    mode = pattern.mode if mode == "auto" else mode
    product, sources, targets = _way(pullback, mode)
    vector = np.random.default_rng().uniform(0.5, 1.5, sum(source.numel() for source in sources)).astype(matrix.dtype)
    with no_grad():
        expected = joined(product(split(vector, sources)), matrix.dtype)
    matrix = matrix.T if mode == "reverse" else matrix
    rounding = max(np.finfo(tensor.dtype).eps for tensor in (*sources, *targets)) ** 0.5
    with np.errstate(all="ignore"):
        size = abs(matrix) @ vector
        tolerance = rounding * (size + rounding * size.max(initial=0))
        wrong = np.flatnonzero(~(abs(matrix @ vector - expected) <= tolerance) & np.isfinite(expected))
    if wrong.size:
        what = "column" if mode == "reverse" else "row"
        raise call.error(
            f"the pattern misses an entry: a product with the Jacobian differs in {wrong.size} elements, of which the "
            f"first is that of {what} {wrong[0]}. Find the pattern again where f takes other branches or uses other "
            "indices",
            ValueError,
        )
