"""The vector space of a value: what can be made in the shape and dtype of an array, a number or a tree of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gradsmith.compat.hips.boxes import ArrayBox, tensor_of
from gradsmith.numpy.arguments import array_of, np
from gradsmith.utils import pytree


class VSpace:
    """Trees like a given one, as vectors over the real numbers."""

    def __init__(self, value: Any) -> None:
        self.leaves, self.spec = pytree.flatten(value)
        self.tensors = [tensor_of(float(leaf) if isinstance(leaf, int) else leaf).detach() for leaf in self.leaves]
        self.shape = self.tensors[0].shape if self.spec.cls is None and self.tensors else None
        self.dtype = self.tensors[0].dtype if self.tensors else np.dtype(float)
        self.iscomplex = any(tensor.dtype.kind == "c" for tensor in self.tensors)
        self.size = sum(tensor.numel() * (2 if tensor.dtype.kind == "c" else 1) for tensor in self.tensors)
        self.ndim = None if self.shape is None else len(self.shape)

    def made(self, function: Callable[[Any], Any]) -> Any:
        """A tree of what `function` gives for the array of each leaf."""
        made = [np.asarray(function(array_of(tensor)), tensor.dtype)[()] for tensor in self.tensors]
        return self.spec.unflatten(made)

    def zeros(self) -> Any:
        return self.made(np.zeros_like)

    def ones(self) -> Any:
        return self.made(np.ones_like)

    def randn(self) -> Any:
        def draw(array: Any) -> Any:
            real = np.random.normal(size=array.shape)
            return real + 1j * np.random.normal(size=array.shape) if array.dtype.kind == "c" else real

        return self.made(draw)

    def standard_basis(self) -> Iterator[Any]:
        """One vector for each real number that the value consists of."""
        for number, tensor in enumerate(self.tensors):
            for unit in (1.0, 1j) if tensor.dtype.kind == "c" else (1.0,):
                for place in range(tensor.numel()):
                    leaves = [np.zeros(tuple(one.shape), one.dtype) for one in self.tensors]
                    leaves[number].reshape(-1)[place] = unit
                    yield self.spec.unflatten([leaf[()] for leaf in leaves])

    def add(self, x: Any, y: Any) -> Any:
        return pytree.tree_map(lambda a, b: a + b, x, y)

    def scalar_mul(self, x: Any, factor: float) -> Any:
        return pytree.tree_map(lambda a: a * factor, x)

    def inner_prod(self, x: Any, y: Any) -> Any:
        """Real part of the sum of products, without conjugation: cotangents are paired with tangents."""
        pairs = zip(pytree.flatten(x)[0], pytree.flatten(y)[0])
        return sum(np.real(np.sum(a * b)) for a, b in pairs)

    def covector(self, x: Any) -> Any:
        return pytree.tree_map(np.conj, x)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VSpace) and self.spec == other.spec and self._kinds() == other._kinds()

    def __hash__(self) -> int:
        return hash(self._kinds())

    def _kinds(self) -> tuple[Any, ...]:
        return tuple((tuple(tensor.shape), tensor.dtype.str) for tensor in self.tensors)

    def __repr__(self) -> str:
        return f"VSpace_{self._kinds()}"


def vspace(value: Any) -> VSpace:
    """The vector space that a value lies in."""
    return VSpace(value)


Box = ArrayBox
