"""Trees of tensors that are handed from step to step, and must look the same at each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradsmith.runtime.graph.tensor import TensorBase
from gradsmith.runtime.tensors.factories.creation import full, over_array, tensor
from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.utils import pytree

Tensors = Sequence[Any]


class TensorTree:
    """The structure of a tree whose leaves are tensors, or None, and what each tensor looks like."""

    def __init__(self, op: str, what: str, tree: Any) -> None:
        self.op, self.what = op, what
        leaves, self.spec = pytree.flatten(tree)
        self.places = [place for place, leaf in enumerate(leaves) if leaf is not None]
        self.tensors: list[Any] = [self._first(leaves, place) for place in self.places]
        self.looks = [(one.shape, one.dtype) for one in self.tensors]

    def _first(self, leaves: list[Any], place: int) -> Any:
        """A tensor as it is, and one for an array or a number."""
        leaf = leaves[place]
        if is_tensor(leaf):
            return leaf
        if isinstance(leaf, np.ndarray):
            return over_array(leaf)
        if isinstance(leaf, (bool, int, float, complex, np.generic)):
            return tensor(leaf)
        raise TypeError(
            f"{self.op}(): {self._path(place)} must be a tensor, a number or None, but is a {type(leaf).__name__}"
        )

    def _path(self, place: int) -> str:
        return self.what + list(self.spec.paths())[place]

    def built(self, tensors: Tensors) -> Any:
        """The tree with other tensors."""
        if self.spec.cls is None:
            return tensors[0] if self.places else None
        leaves = [None] * self.spec.num_leaves
        for place, one in zip(self.places, tensors):
            leaves[place] = one
        return self.spec.unflatten(leaves)

    def flat(self, tree: Any) -> list[Any]:
        """The tensors of another tree, which must look like those of this one.

        Raises
        ------
        RuntimeError
            Its structure, or the shape or dtype of a tensor, differs.
        """
        if tree is None and self.spec.cls is None and not self.places:
            return []
        if isinstance(tree, TensorBase) and self.spec.cls is None and self.places:
            return [self._like_first(tree, 0)]
        leaves = self._leaves_of(tree)
        return [self._like_first(leaves[place], n) for n, place in enumerate(self.places)]

    def _leaves_of(self, tree: Any) -> list[Any]:
        try:
            leaves = pytree.leaves_like(self.spec, tree, self.what)
        except pytree.Mismatch as error:
            raise RuntimeError(f"{self.op}(): {self.what} must keep its structure: {error}") from None
        if [place for place, leaf in enumerate(leaves) if leaf is not None] != self.places:
            raise RuntimeError(f"{self.op}(): {self.what} must have None where it had None before, and nowhere else")
        return leaves

    def _like_first(self, leaf: Any, n: int) -> Any:
        shape, dtype = self.looks[n]
        if isinstance(leaf, TensorBase) and leaf.dtype == dtype and leaf.shape == shape:
            return leaf
        if not is_tensor(leaf) and not isinstance(leaf, np.ndarray) and np.isscalar(leaf):
            leaf = full((), leaf, dtype=dtype)
        if not is_tensor(leaf):
            raise RuntimeError(
                f"{self.op}(): {self._path(self.places[n])} must be a tensor at every step, but one is a "
                f"{type(leaf).__name__}"
            )
        if leaf.dtype != dtype or leaf.shape != shape:
            raise RuntimeError(
                f"{self.op}(): {self._path(self.places[n])} must keep its shape and dtype, but was {dtype} of shape "
                f"{list(shape)}, and is {leaf.dtype} of shape {list(leaf.shape)} after a step. Convert it, or begin "
                f"with what the steps give"
            )
        return leaf
