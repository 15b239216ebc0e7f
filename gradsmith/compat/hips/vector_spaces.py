"""The vector space of a value: what can be made in the shape and dtype of an array, a number or a tree of these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from gradsmith.compat.hips import numpy as hips
from gradsmith.compat.hips.boxes import getval, tensor_of
from gradsmith.numpy.arguments import array_of, np
from gradsmith.utils import pytree


class VSpace:
    """Trees like a given one, as vectors over the real numbers.

    `mappings` says for a type how the space of a value is made; libraries add types of theirs.
    """

    mappings: ClassVar[dict[type, Callable[[Any], VSpace]]] = {}

    @classmethod
    def register(cls, value_type: type, vspace_maker: Callable[[Any], VSpace] | None = None) -> None:
        VSpace.mappings[value_type] = vspace_maker or cls

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
        """One for each real number: of complex ones, 1 + 1j."""
        return self.made(lambda array: np.full_like(array, 1 + 1j if array.dtype.kind == "c" else 1))

    def randn(self) -> Any:
        def draw(array: Any) -> Any:
            real = np.random.normal(size=array.shape)
            return real + 1j * np.random.normal(size=array.shape) if array.dtype.kind == "c" else real

        return self.made(draw)

    def standard_basis(self) -> Iterator[Any]:
        """One vector for each real number that the value consists of, real and imaginary parts in turn."""
        for number, tensor in enumerate(self.tensors):
            for place in range(tensor.numel()):
                for unit in (1.0, 1j) if tensor.dtype.kind == "c" else (1.0,):
                    leaves = [np.zeros(tuple(one.shape), one.dtype) for one in self.tensors]
                    leaves[number].reshape(-1)[place] = unit
                    yield self.spec.unflatten([leaf[()] for leaf in leaves])

    def add(self, x: Any, y: Any) -> Any:
        return pytree.tree_map(lambda a, b: a + b, x, y)

    def mut_add(self, x: Any, y: Any) -> Any:
        """The sum; None stands for zeros. Nothing is changed in place here."""
        return y if x is None else self.add(x, y)

    def scalar_mul(self, x: Any, factor: float) -> Any:
        return pytree.tree_map(lambda a: a * factor, x)

    def inner_prod(self, x: Any, y: Any) -> Any:
        """The sum of products of their real numbers: of complex ones the real part of ``conj(x) * y``."""
        return sum(_real_product(a, b) for a, b in zip(pytree.flatten(x)[0], pytree.flatten(y)[0]))

    def covector(self, x: Any) -> Any:
        """From vectors to gradients and back: gradients by complex numbers are conjugates of the steepest ascent."""
        return pytree.tree_map(hips.conj, x)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, VSpace) and self.spec == other.spec and self._kinds() == other._kinds()

    def __hash__(self) -> int:
        return hash(self._kinds())

    def _kinds(self) -> tuple[Any, ...]:
        return tuple((tuple(tensor.shape), tensor.dtype.str) for tensor in self.tensors)

    def __repr__(self) -> str:
        return f"{type(self).__name__}_{self._kinds()}"


def _real_product(a: Any, b: Any) -> Any:
    return hips.real(hips.sum(hips.conj(a) * b))


class ArrayVSpace(VSpace):
    """Of an array or a number."""


class ComplexArrayVSpace(ArrayVSpace):
    """Of a complex one."""


class ContainerVSpace(VSpace):
    """Of a tree."""


class SequenceVSpace(ContainerVSpace):
    """Of a list or tuple."""


class ListVSpace(SequenceVSpace):
    """Of a list."""


class TupleVSpace(SequenceVSpace):
    """Of a tuple."""


class NamedTupleVSpace(SequenceVSpace):
    """Of a named tuple."""


class DictVSpace(ContainerVSpace):
    """Of a dict."""


VSpace.register(np.ndarray, lambda x: ComplexArrayVSpace(x) if np.iscomplexobj(x) else ArrayVSpace(x))
for _type in (float, int, *(np.dtype(char).type for char in "efdg")):
    ArrayVSpace.register(_type)
for _type in (complex, *(np.dtype(char).type for char in "FDG")):
    ComplexArrayVSpace.register(_type)
ListVSpace.register(list)
TupleVSpace.register(tuple)
DictVSpace.register(dict)


def vspace(value: Any) -> VSpace:
    """The vector space that a value lies in."""
    value = getval(value)
    known = VSpace.mappings.get(type(value))
    if known is None:
        known = NamedTupleVSpace if hasattr(value, "_fields") else VSpace
    return known(value)
