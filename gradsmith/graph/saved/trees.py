"""Structures of arguments and results as JSON: null for a leaf, else an object with one key that says its kind."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from gradsmith.graph.saved.entries import family_named
from gradsmith.graph.saved.literals import NotStorable, expect
from gradsmith.utils import pytree

DEEPEST = 50  # levels
GENERATED = "gradsmith.generated."
DICTS: dict[str, type] = {"dict": dict, "OrderedDict": OrderedDict}
ROWS: dict[str, type] = {"tuple": tuple, "list": list}


def encode(spec: pytree.TreeSpec) -> Any:
    """The JSON of a structure.

    Raises
    ------
    NotStorable
        It has a class that a file cannot name.
    """
    cls, children = spec.cls, [encode(child) for child in spec.children]
    if cls is None:
        return None
    if cls in ROWS.values():
        return {cls.__name__: children}
    if cls in DICTS.values() and all(type(key) in (str, int, bool, type(None)) for key in spec.context):
        return {cls.__name__: [list(pair) for pair in zip(spec.context, children)]}
    if cls.__module__.startswith(GENERATED) and issubclass(cls, tuple):
        return {"results": [cls.__module__.removeprefix(GENERATED), cls.__name__, children]}
    raise NotStorable(f"the structure has a {cls.__name__}; a file knows tuples, lists, and dicts with plain keys")


def decode(node: Any) -> pytree.TreeSpec:
    """The structure that JSON stands for.

    Raises
    ------
    CorruptFileError
        It is no JSON that `encode` gives.
    """
    _, spec = pytree.flatten(_tree(node, 0))
    return spec


def _tree(node: Any, level: int) -> Any:
    """A tree of that structure, with None for leaves."""
    expect(level < DEEPEST, f"a structure has more than {DEEPEST} levels")
    if node is None:
        return None
    expect(isinstance(node, dict) and len(node) == 1, "a structure is neither a leaf nor an object of one key")
    [(kind, content)] = node.items()
    expect(isinstance(content, list), "a structure has no list of parts")
    if kind in ROWS:
        return ROWS[kind]([_tree(child, level + 1) for child in content])
    if kind in DICTS:
        return _dict(DICTS[kind], content, level)
    expect(kind == "results" and len(content) == 3, "a structure is of a kind that is not known")
    return _results(content, level)


def _dict(cls: type, pairs: list[Any], level: int) -> Any:
    expect(all(isinstance(pair, list) and len(pair) == 2 for pair in pairs), "a dict is not of pairs")
    expect(all(type(key) in (str, int, bool, type(None)) for key, _ in pairs), "a dict has a key that is not plain")
    found = cls([(key, _tree(child, level + 1)) for key, child in pairs])
    expect(len(found) == len(pairs), "a dict has a key twice")
    return found


def _results(content: list[Any], level: int) -> Any:
    """What an op with several results gives, such as that of ``sort``."""
    family, name, children = content
    module = family_named(family)
    cls = getattr(module, str(name), None)
    is_known = isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")
    expect(
        is_known and module is not None and cls.__module__ == module.__name__,
        f"there are no results {str(name)[:40]!r}",
    )
    assert cls is not None
    expect(isinstance(children, list) and len(children) == len(cls._fields), "results differ in number")
    return cls(*[_tree(child, level + 1) for child in children])
