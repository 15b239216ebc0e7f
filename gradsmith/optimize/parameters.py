"""Trees of parameters as the one vector of float64 that SciPy's solvers change, and back."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.tensors.factories.creation import tensor as new_tensor
from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.utils import pytree
from gradsmith.utils.pytree import Mismatch

Vector = NDArray[np.float64]


class Leaf(NamedTuple):
    """One leaf of the parameters: where errors find it, its shape, and how numbers become what the user gave."""

    path: str
    shape: tuple[int, ...]
    give_back: Callable[[Vector], Any]

    @property
    def size(self) -> int:
        return math.prod(self.shape)


class Parameters:
    """The structure of the parameters that a solver was given as `x0`, and their first values.

    Parameters
    ----------
    x0 : tree of Tensor, array_like and numbers
        Leaves are real. A list or tuple of numbers alone is an array, as in SciPy.
    where : str
        The function that errors name.
    """

    def __init__(self, x0: Any, where: str, name: str = "x0") -> None:
        self.where = where
        self.name = name
        values, self.spec = pytree.flatten(_as_array_if_numbers(x0))
        paths = list(self.spec.paths(name))
        arrays = [self._array_of(value, path) for value, path in zip(values, paths)]
        self.leaves = [Leaf(path, array.shape, _giver_back(value)) for value, path, array in zip(values, paths, arrays)]
        self.sizes = [leaf.size for leaf in self.leaves]
        self.size = sum(self.sizes)
        if not self.size:
            raise ValueError(f"{where}(): {name} has no elements to optimize")
        self.start: Vector = np.concatenate([array.astype(np.float64).ravel() for array in arrays])

    def _array_of(self, value: Any, path: str) -> NDArray[Any]:
        """The numbers of a leaf, checked."""
        if is_tensor(value):
            if value.is_meta:
                raise TypeError(f"{self.where}(): {path} is on the meta device and has no numbers to start from")
            array = value.detach().numpy(force=True)
        elif isinstance(value, (np.ndarray, np.generic, numbers.Real)) and not isinstance(value, bool):
            array = np.asarray(value)
        else:
            raise TypeError(f"{self.where}(): {path} must be a Tensor, an array or a number, got {_described(value)}")
        if array.dtype.kind not in "iuf":
            raise TypeError(f"{self.where}(): {path} must be real, got dtype {array.dtype}")
        if not np.isfinite(array).all():
            raise ValueError(f"{self.where}(): {path} is not finite")
        return array

    # ---- both ways

    def tree(self, vector: Any) -> Any:
        """The parameters as tensors that a function gets: parts of `vector`, a tensor."""
        if len(self.leaves) == 1:
            parts = [vector]
        else:
            ends = np.cumsum(self.sizes).tolist()
            parts = [vector[end - size : end] for size, end in zip(self.sizes, ends)]
        return self.spec.unflatten([part.reshape(leaf.shape) for part, leaf in zip(parts, self.leaves)])

    def given_back(self, vector: Any) -> Any:
        """A tree with the types, shapes and dtypes of `x0`, from an array of SciPy."""
        parts = np.split(np.array(vector, np.float64), np.cumsum(self.sizes)[:-1].tolist())
        return self.spec.unflatten([leaf.give_back(part.reshape(leaf.shape)) for part, leaf in zip(parts, self.leaves)])

    def place(self, index: int) -> str:
        """How errors name one element of the vector."""
        for leaf in self.leaves:
            if index < leaf.size:
                where = ", ".join(str(int(n)) for n in np.unravel_index(index, leaf.shape))
                return f"{leaf.path}[{where}]" if where else leaf.path
            index -= leaf.size
        raise IndexError(index)

    # ---- what goes along with them

    def vector_like(self, given: Any, what: str, missing: float = math.nan) -> Vector:
        """A number for each element: from one for all, from a vector, or from a tree whose leaves fit those of `x0`.

        `missing` takes the place of None.
        """
        if _is_plain(given):
            array = np.asarray(given, np.float64).ravel()
            if array.size in (1, self.size):
                return array + np.zeros(self.size)
        return self._joined(self.spread(given, what), what, missing)

    def spread(self, given: Any, what: str) -> list[Any]:
        """What `given`, an upper part of the tree or the whole, has for each leaf."""
        try:
            return pytree.spread_over(self.spec, given, what)
        except Mismatch as error:
            raise ValueError(f"{self.where}(): {what} must have the structure of {self.name}: {error}") from None

    def _joined(self, parts: Sequence[Any], what: str, missing: float) -> Vector:
        return np.concatenate([self.filled(leaf, part, what, missing) for leaf, part in zip(self.leaves, parts)])

    def filled(self, leaf: Leaf, value: Any, what: str, missing: float) -> Vector:
        """A number for each element of a leaf."""
        array = missing if value is None else value.numpy(force=True) if is_tensor(value) else value
        try:
            return np.broadcast_to(np.asarray(array, np.float64), leaf.shape).ravel()
        except (TypeError, ValueError):
            raise ValueError(
                f"{self.where}(): {what} for {leaf.path} must be a number or broadcast to shape {list(leaf.shape)}, "
                f"got {_described(value)}"
            ) from None


def _as_array_if_numbers(x0: Any) -> Any:
    """An array of a list or tuple of numbers, also of such lists: what SciPy takes for a vector."""
    if type(x0) in (list, tuple) and x0 and _are_numbers(x0):
        try:
            return np.asarray(x0, np.float64)
        except ValueError:  # rows of different lengths: a tree
            return x0
    return x0


def _are_numbers(values: Any) -> bool:
    return all(
        isinstance(value, numbers.Real) or (type(value) in (list, tuple) and _are_numbers(value)) for value in values
    )


def _is_plain(given: Any) -> bool:
    """A number or a vector, rather than a tree."""
    if isinstance(given, (list, tuple)):
        return all(isinstance(value, numbers.Real) for value in given)
    return isinstance(given, (np.ndarray, numbers.Real))


def _giver_back(value: Any) -> Callable[[Vector], Any]:
    """What makes a leaf like `value`, of the same dtype if that is floating point."""
    if not is_tensor(value) and not isinstance(value, (np.ndarray, np.generic)):
        return float
    dtype = value.dtype if value.dtype.kind == "f" else np.dtype(np.float64)
    if is_tensor(value):
        return lambda array: new_tensor(array, dtype=dtype)
    if isinstance(value, np.generic):
        return lambda array: dtype.type(array)
    return lambda array: array.astype(dtype)


def _described(value: Any) -> str:
    shape = getattr(value, "shape", None)
    return type(value).__name__ if shape is None else f"{type(value).__name__} of shape {list(shape)}"
