"""Objects that hold what a run makes, such as a distribution that a function returns.

They are taken apart into their attributes, so that each run can put together one of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.module import Module
from gradsmith.utils import pytree

IsMade = Callable[[Tensor], bool]


class Opened:
    """A node of a tree in the place of an object: its class, and its attributes by name."""

    def __init__(self, cls: type, names: tuple[str, ...], values: Sequence[Any]) -> None:
        self.cls, self.names, self.values = cls, names, values


class _What(NamedTuple):
    cls: type
    names: tuple[str, ...]


def _put_together(values: Sequence[Any], what: _What) -> Any:
    made: Any = object.__new__(what.cls)
    made.__dict__.update(zip(what.names, values))
    return made


pytree.register_pytree_node(Opened, lambda node: (list(node.values), _What(node.cls, node.names)), _put_together)


def opened(tree: Any, is_made: IsMade, within: tuple[int, ...] = ()) -> Any:
    """The tree with objects that hold tensors of the run taken apart. What was there before the run stays as it is."""
    leaves, spec = pytree.flatten(tree)
    found = [_opened(leaf, is_made, within) for leaf in leaves]
    return tree if all(one is leaf for one, leaf in zip(found, leaves)) else spec.unflatten(found)


def _opened(leaf: Any, is_made: IsMade, within: tuple[int, ...]) -> Any:
    if not _may_be_opened(leaf) or id(leaf) in within:
        return leaf
    values = [opened(value, is_made, (*within, id(leaf))) for value in vars(leaf).values()]
    holds_any = any((isinstance(one, Tensor) and is_made(one)) for value in values for one in pytree.flatten(value)[0])
    return Opened(type(leaf), tuple(vars(leaf)), values) if holds_any else leaf


def _may_be_opened(leaf: Any) -> bool:
    """Is it no more than its attributes?"""
    cls: Any = type(leaf)
    return (
        cls.__new__ is object.__new__
        and isinstance(getattr(leaf, "__dict__", None), dict)
        and not isinstance(leaf, (Tensor, Module, type))
        and not any(vars(base).get("__slots__") for base in cls.__mro__)
    )


def leaves_like(spec: pytree.TreeSpec, tree: Any) -> list[Any]:
    """The leaves of a tree that another run gave, whose objects are taken apart as they were in the first one."""
    return pytree.flatten(_opened_like(spec, tree))[0]


def _opened_like(spec: pytree.TreeSpec, tree: Any) -> Any:
    if spec.cls is None or spec.is_row:
        return tree
    if spec.cls is Opened:
        values = [_opened_like(child, vars(tree)[name]) for child, name in zip(spec.children, spec.context.names)]
        return Opened(spec.context.cls, spec.context.names, values)
    nodes, level = pytree.flatten(tree, is_leaf=lambda node: node is not tree)
    return level.unflatten([_opened_like(child, node) for child, node in zip(spec.children, nodes)])
