"""Which arguments a program takes: those like the ones that it was saved with."""

from __future__ import annotations

from typing import Any

from gradsmith.compiler.guards import key_of_value
from gradsmith.generated.tensor import Tensor
from gradsmith.graph.saved.document import Argument, Document, kind_of
from gradsmith.runtime.arrays.dtypes import get_default_dtype
from gradsmith.runtime.calls.forward_ad import all_tangents
from gradsmith.runtime.switches.grad_mode import is_grad_enabled
from gradsmith.utils import pytree


class Accepting:
    """Compares the arguments of a call with those of a document."""

    def __init__(self, document: Document) -> None:
        self.document, self.name = document, document.name
        self.paths = [_name(path) for path in document.tree.paths()]

    def leaves_of(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The leaves of arguments that the program takes.

        Raises
        ------
        TypeError
            The structure, or what is no tensor, is another one.
        RuntimeError
            A tensor has another dtype or shape, or requires grad where the program has no backward.
        """
        self._expect_default_dtype()
        by_position, by_name = self.document.tree.children
        try:
            leaves = pytree.leaves_like(by_position, args, "argument ")
            leaves += pytree.leaves_like(by_name, kwargs, "argument ")
        except pytree.Mismatch as error:
            raise TypeError(
                f"{self.name}(): not the structure that the arguments had when it was saved: {error}"
            ) from None
        for path, argument, leaf in zip(self.paths, self.document.arguments, leaves):
            self._expect_alike(path, argument, leaf)
        self._expect_same_tensors(leaves)
        return leaves

    def _expect_alike(self, path: str, argument: Argument, leaf: Any) -> None:
        if argument.kind is None:
            if isinstance(leaf, Tensor) or key_of_value(leaf) != key_of_value(argument.plain):
                what = f"{argument.plain!r} when the program was saved, and is part of it"
                raise TypeError(f"{self.name}(): {path} was {what}, but is {_shown(leaf)}")
            return
        if not isinstance(leaf, Tensor):
            raise TypeError(f"{self.name}(): {path} must be a tensor of {argument.kind}, but is {_shown(leaf)}")
        if kind_of(leaf) != argument.kind:
            raise RuntimeError(
                f"{self.name}(): {path} must be a tensor of {argument.kind}, but is one of {kind_of(leaf)}"
            )
        if leaf.requires_grad and not argument.requires_grad and is_grad_enabled():
            raise RuntimeError(
                f"{self.name}(): {path} requires grad, but did not when the program was saved, which has no gradient "
                "for it. Save it with arguments that require grad, or detach() this one"
            )
        if all_tangents(leaf):
            raise RuntimeError(f"{self.name}(): {path} has a tangent; a program from a file has no forward mode")

    def _expect_same_tensors(self, leaves: list[Any]) -> None:
        first: dict[int, int] = {}
        for place, argument in enumerate(self.document.arguments):
            if argument.kind is None:
                continue
            known = first.setdefault(argument.value, place)
            if leaves[known] is not leaves[place]:
                names = f"{self.paths[known]} and {self.paths[place]}"
                raise RuntimeError(f"{self.name}(): {names} were one tensor when the program was saved")

    def _expect_default_dtype(self) -> None:
        if get_default_dtype().name != self.document.dtype:
            raise RuntimeError(
                f"{self.name}(): the program was saved where the default dtype was {self.document.dtype}; "
                f"call set_default_dtype({self.document.dtype}) before"
            )


def _name(path: str) -> str:
    """``[0][2]['a']`` of (args, kwargs), as ``argument 2['a']``."""
    _, _, rest = path.partition("]")
    first, _, inner = rest[1:].partition("]")
    return f"argument {first}{inner}"


def _shown(leaf: Any) -> str:
    return f"a tensor of {kind_of(leaf)}" if isinstance(leaf, Tensor) else repr(leaf)[:200]
