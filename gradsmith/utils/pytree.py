"""Trees of tuples, lists, dicts, named tuples, dataclasses and registered classes, and their leaves.

>>> from gradsmith.utils import pytree
>>> leaves, spec = pytree.flatten({"w": 1, "layers": [2, (3, None)]})
>>> leaves
[1, 2, 3, None]
>>> spec.unflatten(leaf and 10 * leaf for leaf in leaves)
{'w': 10, 'layers': [20, (30, None)]}
"""

from __future__ import annotations

import builtins
import functools
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple

from gradsmith.generated.tensor import Tensor


class Kind(NamedTuple):
    """How the nodes of one class are taken apart and put together.

    `take_apart` gives the children, a text for each that leads to it from its parent, and what else is needed to
    put the node together.
    """

    take_apart: Callable[[Any], tuple[Sequence[Any], Sequence[str], Any]]
    put_together: Callable[[Any, list[Any]], Any]


@dataclass(unsafe_hash=True, slots=True)  # never changed; frozen ones take long to make
class TreeSpec:
    """The structure of a tree without its leaves. A leaf has no `cls`."""

    cls: builtins.type | None = None
    steps: tuple[str, ...] = ()
    context: Any = None
    children: tuple[TreeSpec, ...] = ()
    num_leaves: int = 1
    is_row: bool = field(default=False, compare=False)  # a tuple or list of leaves alone, the most common tree

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree of this structure with other leaves.

        Raises
        ------
        ValueError
            The number of leaves differs.
        """
        found = leaves if type(leaves) is list else list(leaves)
        if len(found) != self.num_leaves:
            raise ValueError(f"the tree has {self.num_leaves} leaves, but {len(found)} were given")
        if self.is_row:
            return self.cls(found)  # type: ignore[misc]
        return found[0] if self.cls is None else self._built(iter(found))

    def _built(self, leaves: Iterator[Any]) -> Any:
        if self.cls is None:
            return next(leaves)
        if self.cls is _NONE:
            return None
        return _kind_of(self.cls).put_together(self, [child._built(leaves) for child in self.children])  # type: ignore[union-attr]

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """What stands in a tree at the places of the leaves; it may go deeper there.

        Raises
        ------
        Mismatch
            The structure differs above the leaves.
        """
        return _leaves_up_to(self, tree, "", is_prefix=False, goes_deeper=True)

    def is_leaf(self) -> bool:
        """Whether the tree is one leaf."""
        return self.cls is None

    @property
    def type(self) -> builtins.type | None:
        """The class of the tree, as PyTorch calls it; None for a leaf."""
        return self.cls

    @property
    def children_specs(self) -> list[TreeSpec]:
        return list(self.children)

    @property
    def num_children(self) -> int:
        return len(self.children)

    @property
    def num_nodes(self) -> int:
        """Nodes and leaves."""
        return 1 + sum(child.num_nodes for child in self.children)

    def paths(self, prefix: str = "") -> Iterator[str]:
        """The way to each leaf, as it is written in Python: ``['layers'][1]``."""
        if self.cls is None:
            yield prefix
        for step, child in zip(self.steps, self.children):
            yield from child.paths(prefix + step)

    def __str__(self) -> str:
        return repr(self._built(iter([_Star()] * self.num_leaves)))


class _Star:
    def __repr__(self) -> str:
        return "*"


class Mismatch(ValueError):
    """Two trees differ in structure."""


_NONE = type(None)
LEAF = TreeSpec()
NOTHING = TreeSpec(_NONE, num_leaves=0)  # None as a node without children


# ---- classes of nodes


def _items(node: dict[Any, Any]) -> tuple[Sequence[Any], Sequence[str], Any]:
    return list(node.values()), [f"[{key!r}]" for key in node], tuple(node)


def _elements(node: Sequence[Any]) -> tuple[Sequence[Any], Sequence[str], Any]:
    return node, [f"[{i}]" for i in range(len(node))], None


def _named_elements(node: Any) -> tuple[Sequence[Any], Sequence[str], Any]:
    return node, [f".{name}" for name in node._fields], None


def _fields_of(node: Any) -> tuple[Sequence[Any], Sequence[str], Any]:
    names = [field.name for field in fields(node)]
    return [getattr(node, name) for name in names], [f".{name}" for name in names], tuple(names)


def _dataclass_of(spec: TreeSpec, children: list[Any]) -> Any:
    """Without `__init__`, which may take other arguments or check that leaves are tensors."""
    node: Any = object.__new__(spec.cls)  # type: ignore[arg-type]
    for name, child in zip(spec.context, children):
        object.__setattr__(node, name, child)
    return node


def _with_factory(node: defaultdict[Any, Any]) -> tuple[Sequence[Any], Sequence[str], Any]:
    children, steps, keys = _items(node)
    return children, steps, (node.default_factory, keys)


def _with_length(node: deque[Any]) -> tuple[Sequence[Any], Sequence[str], Any]:
    children, steps, _ = _elements(node)
    return children, steps, node.maxlen


_DICT = Kind(_items, lambda spec, children: spec.cls(zip(spec.context, children)))
_NAMED_TUPLE = Kind(_named_elements, lambda spec, children: spec.cls(*children))
_DATACLASS = Kind(_fields_of, _dataclass_of)
_KINDS: dict[type, Kind] = {
    tuple: Kind(_elements, lambda spec, children: tuple(children)),
    list: Kind(_elements, lambda spec, children: children),
    dict: _DICT,
    OrderedDict: _DICT,
    defaultdict: Kind(
        _with_factory, lambda spec, children: defaultdict(spec.context[0], zip(spec.context[1], children))
    ),
    deque: Kind(_with_length, lambda spec, children: deque(children, spec.context)),
}


# Most leaves are of one of these classes, which need no further look.
_LEAVES = frozenset({Tensor, bool, complex, float, int, str, type(None)})


def _kind_of(cls: type) -> Kind | None:
    if cls in _LEAVES:
        return None
    known = _KINDS.get(cls)
    if known is not None:
        return known
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _NAMED_TUPLE
    return _DATACLASS if is_dataclass(cls) else None


def is_registered(cls: type) -> bool:
    """Whether it is one of Python's containers, or a class that `register_pytree_node` has been given."""
    return cls in _KINDS


def registered_kinds() -> dict[type, Kind]:
    """Class -> its kind: Python's containers, and what `register_pytree_node` has been given."""
    return dict(_KINDS)


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Sequence[Any], Any]],
    unflatten_fn: Callable[[Sequence[Any], Any], Any],
) -> None:
    """Have the objects of a class count as nodes of trees.

    Parameters
    ----------
    cls : type
        The class; subclasses are not included.
    flatten_fn : callable
        Takes an object and gives its children and what else is needed to make it again, which is compared by ``==``.
    unflatten_fn : callable
        Takes these two and gives an object.

    Raises
    ------
    ValueError
        The class is a kind of node already.
    """
    if is_registered(cls):
        raise ValueError(f"{cls.__name__} is already registered as a node of trees")

    def take_apart(node: Any) -> tuple[Sequence[Any], Sequence[str], Any]:
        children, context = flatten_fn(node)
        return children, [f"[{i}]" for i in range(len(children))], context

    _KINDS[cls] = Kind(take_apart, lambda spec, children: unflatten_fn(children, spec.context))


# ---- taking trees apart


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree from left to right, and its structure. None is a leaf, and so is what `is_leaf` says."""
    if type(tree) in _LEAVES:
        return [tree], LEAF
    leaves: list[Any] = []
    return leaves, _flattened(tree, leaves) if is_leaf is None else _flattened_until(is_leaf, tree, leaves)


def _flattened_until(is_leaf: Callable[[Any], bool], tree: Any, leaves: list[Any]) -> TreeSpec:
    kind = _kind_of(type(tree))
    if kind is None or is_leaf(tree):
        leaves.append(tree)
        return LEAF
    nodes, steps, context = kind.take_apart(tree)
    return _spec(type(tree), steps, context, [_flattened_until(is_leaf, node, leaves) for node in nodes])


def _flattened(tree: Any, leaves: list[Any]) -> TreeSpec:
    cls = type(tree)
    if (cls is tuple or cls is list) and _LEAVES.issuperset(map(type, tree)):
        leaves += tree
        return _row(cls, len(tree))  # type: ignore[arg-type]  # a class is hashable
    kind = _kind_of(cls)
    if kind is None:
        leaves.append(tree)
        return LEAF
    nodes, steps, context = kind.take_apart(tree)
    return _spec(cls, steps, context, [_flattened(node, leaves) for node in nodes])


def _spec(cls: type, steps: Sequence[str], context: Any, children: list[TreeSpec]) -> TreeSpec:
    return TreeSpec(cls, tuple(steps), context, tuple(children), sum(child.num_leaves for child in children))


@functools.lru_cache(maxsize=64)
def _row(cls: type, count: int) -> TreeSpec:
    steps = tuple(f"[{i}]" for i in range(count))
    return TreeSpec(cls, steps, None, (LEAF,) * count, count, is_row=True)


def without_none(leaves: list[Any], spec: TreeSpec) -> tuple[list[Any], TreeSpec]:
    """Leaves and structure of a tree whose None are no leaves, as in JAX. If there is nothing else, they stay."""
    kept = [leaf for leaf in leaves if leaf is not None]
    if not kept or len(kept) == len(leaves):
        return leaves, spec
    return kept, _none_as_nodes(spec, iter(leaves))


def _none_as_nodes(spec: TreeSpec, leaves: Iterator[Any]) -> TreeSpec:
    if spec.cls is None:
        return NOTHING if next(leaves) is None else LEAF
    return _spec(spec.cls, spec.steps, spec.context, [_none_as_nodes(child, leaves) for child in spec.children])


def leaves_like(spec: TreeSpec, tree: Any, path: str = "") -> list[Any]:
    """The leaves of a tree that should have the structure `spec`; keys of a dict may come in any order.

    Raises
    ------
    Mismatch
        The structure differs; says where, as a path that begins with `path`.
    """
    return _leaves_up_to(spec, tree, path, is_prefix=False)


def spread_over(spec: TreeSpec, prefix: Any, path: str = "") -> list[Any]:
    """A leaf for each leaf of `spec`: where `prefix` has a leaf, it counts for all that is below.

    Raises
    ------
    Mismatch
        `prefix` is no upper part of the structure.
    """
    return _leaves_up_to(spec, prefix, path, is_prefix=True)


def _leaves_up_to(spec: TreeSpec, tree: Any, path: str, is_prefix: bool, goes_deeper: bool = False) -> list[Any]:
    if spec.cls is None:
        if not (is_prefix or goes_deeper) and _kind_of(type(tree)) is not None:
            raise Mismatch(f"{path or 'the tree'} is a {type(tree).__name__} where a leaf is expected")
        return [tree]
    if spec.cls is _NONE and tree is None:
        return []
    kind = _kind_of(type(tree))
    if kind is None and is_prefix:
        return [tree] * spec.num_leaves
    if type(tree) is not spec.cls or kind is None:
        raise Mismatch(f"{path or 'the tree'} is a {type(tree).__name__} where a {spec.cls.__name__} is expected")
    nodes, steps, _ = kind.take_apart(tree)
    by_step = dict(zip(steps, nodes))
    if by_step.keys() != set(spec.steps):
        raise Mismatch(f"{path or 'the tree'} has {_listed(steps)} where {_listed(spec.steps)} is expected")
    found: list[Any] = []
    for step, child in zip(spec.steps, spec.children):
        found += _leaves_up_to(child, by_step[step], path + step, is_prefix, goes_deeper)
    return found


def _listed(steps: Iterable[str]) -> str:
    return ", ".join(steps) or "nothing"


def tree_map(function: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Apply a function to the leaves of a tree, and of others of the same structure beside it."""
    leaves, spec = flatten(tree)
    beside = [leaves_like(spec, other) for other in others]
    return spec.unflatten(function(*group) for group in zip(leaves, *beside))
