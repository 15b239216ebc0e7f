"""`gradsmith.utils.pytree` under the names of ``torch.utils._pytree``.

Trees are those of PyTorch: dataclasses that nobody has registered are leaves here, and nodes there.

>>> from gradsmith.utils import _pytree
>>> _pytree.tree_map(lambda x: 10 * x, {"w": 1, "layers": [2, (3,)]})
{'w': 10, 'layers': [20, (30,)]}
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from types import UnionType
from typing import Any, NamedTuple

from gradsmith.utils import pytree
from gradsmith.utils.pytree import LEAF, Kind, Mismatch, TreeSpec

__all__ = [
    "Context", "FlattenFn", "FlattenFunc", "GetAttrKey", "KeyEntry", "KeyPath", "LeafSpec", "MappingKey", "NodeDef",
    "PyTree", "SUPPORTED_NODES", "SequenceKey", "TreeSpec", "UnflattenFn", "UnflattenFunc", "arg_tree_leaves",
    "is_namedtuple", "is_namedtuple_class", "is_namedtuple_instance", "key_get", "keystr", "map_only",
    "register_pytree_node", "tree_all", "tree_all_only", "tree_any", "tree_any_only", "tree_flatten",
    "tree_flatten_with_path", "tree_is_leaf", "tree_iter", "tree_leaves", "tree_leaves_with_path", "tree_map",
    "tree_map_", "tree_map_only", "tree_map_only_", "tree_map_with_path", "tree_structure", "tree_unflatten",
]  # fmt: skip

PyTree = Any
Context = Any
FlattenFn = Callable[[PyTree], tuple[list[Any], Context]]
UnflattenFn = Callable[[Iterable[Any], Context], PyTree]
FlattenFunc, UnflattenFunc = FlattenFn, UnflattenFn  # older names
IsLeaf = Callable[[Any], bool]


class _LeafSpecs(type):
    def __call__(cls) -> TreeSpec:
        return LEAF

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TreeSpec) and instance.is_leaf()


class LeafSpec(metaclass=_LeafSpecs):
    """The structure of a leaf, which is a `TreeSpec`."""


# ---- classes of nodes


class NodeDef(NamedTuple):
    """How the nodes of one class are taken apart and put together."""

    type: type[Any]
    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[Iterable[Any], Any], Any]


def _definition(cls: type, kind: Kind) -> NodeDef:
    def take_apart(node: Any) -> tuple[list[Any], Any]:
        children, _, context = kind.take_apart(node)
        return list(children), context

    return NodeDef(cls, take_apart, lambda children, context: kind.put_together(_node(cls, context), list(children)))


def _node(cls: type, context: Any) -> TreeSpec:
    return TreeSpec(cls, (), context, (), 0)


_NAMED_TUPLE = NodeDef(
    namedtuple,  # type: ignore[arg-type]  # a function stands for the classes that it makes
    lambda node: (list(node), type(node)),
    lambda children, cls: cls(*children),
)


class _SupportedNodes(Mapping[Any, NodeDef]):
    """Class -> what is registered for it now."""

    def __getitem__(self, cls: Any) -> NodeDef:
        return _NAMED_TUPLE if cls is namedtuple else _definition(cls, pytree.registered_kinds()[cls])

    def __iter__(self) -> Iterator[Any]:
        return iter([*pytree.registered_kinds(), namedtuple])

    def __len__(self) -> int:
        return len(pytree.registered_kinds()) + 1


SUPPORTED_NODES = _SupportedNodes()


def register_pytree_node(
    cls: type,
    flatten_fn: FlattenFn,
    unflatten_fn: UnflattenFn,
    *,
    flatten_with_keys_fn: Callable[[PyTree], tuple[list[tuple[Any, Any]], Context]] | None = None,
    **names_in_files: Any,
) -> None:
    """Have the objects of a class count as nodes; see `gradsmith.utils.pytree.register_pytree_node`.

    `flatten_with_keys_fn` gives the children with their keys, for paths. Further arguments of PyTorch are for
    structures in files, and not used.
    """
    pytree.register_pytree_node(cls, flatten_fn, unflatten_fn)
    if flatten_with_keys_fn is not None:
        _KEYED[cls] = flatten_with_keys_fn


def _register_pytree_node(
    cls: type, flatten_fn: FlattenFn, unflatten_fn: UnflattenFn, *texts: Any, **names_in_files: Any
) -> None:
    register_pytree_node(cls, flatten_fn, unflatten_fn)


def is_namedtuple_class(cls: type) -> bool:
    """Whether it is a class of named tuples."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_namedtuple_instance(obj: object) -> bool:
    """Whether it is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj: object) -> bool:
    """Whether it is a named tuple, or a class of them."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


_is_namedtuple_instance = is_namedtuple_instance


def _get_node_type(tree: Any) -> Any:
    """The key of a node in `SUPPORTED_NODES`; of anything else, its class."""
    is_named = is_namedtuple_instance(tree) and not pytree.is_registered(type(tree))
    return namedtuple if is_named else type(tree)


# ---- the ways of PyTorch's own nodes, for classes that register themselves


def _list_flatten(d: list[Any]) -> tuple[list[Any], Any]:
    return d, None


def _list_unflatten(values: Iterable[Any], context: Any) -> list[Any]:
    return list(values)


def _tuple_flatten(d: tuple[Any, ...]) -> tuple[list[Any], Any]:
    return list(d), None


def _tuple_unflatten(values: Iterable[Any], context: Any) -> tuple[Any, ...]:
    return tuple(values)


def _namedtuple_flatten(d: Any) -> tuple[list[Any], Any]:
    return _NAMED_TUPLE.flatten_fn(d)


def _namedtuple_unflatten(values: Iterable[Any], context: Any) -> Any:
    return _NAMED_TUPLE.unflatten_fn(values, context)


def _dict_flatten(d: Mapping[Any, Any]) -> tuple[list[Any], Any]:
    return list(d.values()), list(d)


def _dict_unflatten(values: Iterable[Any], context: Iterable[Any]) -> dict[Any, Any]:
    return dict(zip(context, values))


def _ordereddict_flatten(d: Mapping[Any, Any]) -> tuple[list[Any], Any]:
    return _dict_flatten(d)


def _ordereddict_unflatten(values: Iterable[Any], context: Iterable[Any]) -> OrderedDict[Any, Any]:
    return OrderedDict(zip(context, values))


# ---- paths: the keys of the nodes on the way to a leaf


class SequenceKey(NamedTuple):
    """The place of a child in a list or tuple."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx}]"

    def get(self, sequence: Sequence[Any]) -> Any:
        return sequence[self.idx]


class MappingKey(NamedTuple):
    """The key of a child in a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Mapping[Any, Any]) -> Any:
        return mapping[self.key]


class GetAttrKey(NamedTuple):
    """The name of a child that is an attribute, as in a named tuple."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        return getattr(obj, self.name)


KeyEntry = Any
KeyPath = tuple[KeyEntry, ...]


def _sequence_flatten_with_keys(d: Any) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    values, context = SUPPORTED_NODES[type(d)].flatten_fn(d)
    return [(SequenceKey(i), value) for i, value in enumerate(values)], context


_list_flatten_with_keys = _tuple_flatten_with_keys = _deque_flatten_with_keys = _sequence_flatten_with_keys


def _dict_flatten_with_keys(d: Mapping[Any, Any]) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    values, context = _dict_flatten(d)
    return [(MappingKey(key), value) for key, value in zip(context, values, strict=True)], context


_ordereddict_flatten_with_keys = _defaultdict_flatten_with_keys = _dict_flatten_with_keys


def _namedtuple_flatten_with_keys(d: Any) -> tuple[list[tuple[KeyEntry, Any]], Context]:
    return [(GetAttrKey(name), getattr(d, name)) for name in d._fields], type(d)


_KEYED: dict[Any, Callable[[Any], tuple[list[tuple[KeyEntry, Any]], Context]]] = {
    list: _list_flatten_with_keys,
    tuple: _tuple_flatten_with_keys,
    deque: _deque_flatten_with_keys,
    dict: _dict_flatten_with_keys,
    OrderedDict: _ordereddict_flatten_with_keys,
    defaultdict: _defaultdict_flatten_with_keys,
    namedtuple: _namedtuple_flatten_with_keys,
}


def tree_flatten_with_path(tree: Any, is_leaf: IsLeaf | None = None) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """The leaves, each with its path, and the structure.

    >>> from gradsmith.utils import _pytree
    >>> leaves, structure = _pytree.tree_flatten_with_path({"w": 1, "layers": [2, (3,)]})
    >>> [(_pytree.keystr(path), leaf) for path, leaf in leaves]
    [("['w']", 1), ("['layers'][0]", 2), ("['layers'][1][0]", 3)]
    """
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_leaves_with_path(tree: Any, is_leaf: IsLeaf | None = None) -> list[tuple[KeyPath, Any]]:
    """The leaves, each with its path."""
    return list(_with_paths(tree, (), is_leaf))


def tree_map_with_path(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: IsLeaf | None = None) -> Any:
    """A tree like this one of what a function gives for the path of each leaf, the leaf, and those of other trees."""
    leaves, structure = tree_flatten_with_path(tree, is_leaf)
    paths, firsts = [path for path, _ in leaves], [leaf for _, leaf in leaves]
    groups = zip(paths, firsts, *(structure.flatten_up_to(rest) for rest in rests), strict=True)
    return tree_unflatten([func(*group) for group in groups], structure)


def keystr(kp: KeyPath) -> str:
    """A path as it is written in Python."""
    return "".join(str(key) for key in kp)


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What is at the end of a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


def _with_paths(tree: Any, path: KeyPath, is_leaf: IsLeaf | None) -> Iterator[tuple[KeyPath, Any]]:
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    kind = _get_node_type(tree)
    if kind not in _KEYED:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a flatten_with_keys_fn argument to "
            "register_pytree_node."
        )
    for key, child in _KEYED[kind](tree)[0]:
        yield from _with_paths(child, (*path, key), is_leaf)


# ---- taking trees apart


def _stops(is_leaf: IsLeaf | None) -> IsLeaf:
    if is_leaf is None:
        return _is_unregistered
    return lambda tree: is_leaf(tree) or _is_unregistered(tree)


def _is_unregistered(tree: Any) -> bool:
    return is_dataclass(tree) and not pytree.is_registered(type(tree))


def tree_flatten(tree: PyTree, is_leaf: IsLeaf | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, and its structure. None is a leaf, and so is what `is_leaf` says."""
    return pytree.flatten(tree, _stops(is_leaf))


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The tree of a structure with these leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but got item of type "
            f"{type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_leaves(tree: PyTree, is_leaf: IsLeaf | None = None) -> list[Any]:
    """The leaves of a tree."""
    return tree_flatten(tree, is_leaf)[0]


def tree_iter(tree: PyTree, is_leaf: IsLeaf | None = None) -> Iterator[Any]:
    """The leaves of a tree, one after another."""
    return iter(tree_leaves(tree, is_leaf))


def tree_structure(tree: PyTree, is_leaf: IsLeaf | None = None) -> TreeSpec:
    """The structure of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_is_leaf(tree: PyTree, is_leaf: IsLeaf | None = None) -> bool:
    """Whether a tree is one leaf."""
    return tree_structure(tree, is_leaf).is_leaf()


_is_leaf = tree_is_leaf


def arg_tree_leaves(*args: PyTree, **kwargs: PyTree) -> list[Any]:
    """The leaves of all arguments."""
    return tree_leaves((args, kwargs))


def _broadcast_to_and_flatten(tree: PyTree, treespec: TreeSpec, is_leaf: IsLeaf | None = None) -> list[Any] | None:
    """A leaf for each leaf of a structure of which `tree` is the upper part; None when it is not."""
    leaves, upper = tree_flatten(tree, is_leaf)
    whole = treespec.unflatten([LEAF] * treespec.num_leaves)
    try:
        below = [tree_structure(part).num_leaves for part in upper.flatten_up_to(whole)]
    except Mismatch:
        return None
    return [leaf for leaf, count in zip(leaves, below) for _ in range(count)]


# ---- functions of leaves


def tree_map(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf | None = None) -> PyTree:
    """Apply a function to the leaves of a tree, and to what stands in `rests` at their places."""
    leaves, spec = tree_flatten(tree, is_leaf)
    return spec.unflatten(map(func, leaves, *map(spec.flatten_up_to, rests)))


def tree_map_(func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf | None = None) -> PyTree:
    """Call a function for the leaves of a tree, which it may change, and return the tree."""
    leaves, spec = tree_flatten(tree, is_leaf)
    for group in zip(leaves, *map(spec.flatten_up_to, rests)):
        func(*group)
    return tree


def _test_of(wanted: Any) -> Callable[[Any], bool]:
    """By a class, classes, or a function that says which values are meant."""
    if isinstance(wanted, (type, tuple, UnionType)):
        return lambda value: isinstance(value, wanted)
    if callable(wanted):
        return lambda value: bool(wanted(value))
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def map_only(wanted: Any, /) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """A decorator: the function is called for values of these classes, others stay as they are."""
    is_meant = _test_of(wanted)
    return lambda func: lambda value: func(value) if is_meant(value) else value


def tree_map_only(wanted: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf | None = None) -> PyTree:
    """Apply a function to the leaves of some classes; others stay as they are."""
    return tree_map(map_only(wanted)(func), tree, is_leaf=is_leaf)


def tree_map_only_(wanted: Any, /, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf | None = None) -> PyTree:
    """Call a function for the leaves of some classes, which it may change, and return the tree."""
    return tree_map_(map_only(wanted)(func), tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf | None = None) -> bool:
    """Whether something is true of all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf | None = None) -> bool:
    """Whether something is true of any leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(wanted: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf | None = None) -> bool:
    """Whether something is true of all leaves of some classes."""
    return all(pred(leaf) for leaf in _only(wanted, tree, is_leaf))


def tree_any_only(wanted: Any, /, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf | None = None) -> bool:
    """Whether something is true of any leaf of some classes."""
    return any(pred(leaf) for leaf in _only(wanted, tree, is_leaf))


def _only(wanted: Any, tree: PyTree, is_leaf: IsLeaf | None) -> Sequence[Any]:
    return list(filter(_test_of(wanted), tree_iter(tree, is_leaf)))
