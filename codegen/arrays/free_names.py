"""The names that a Python expression takes from outside, by Python's scopes.

A name that a comprehension binds is bound inside of it alone: in ``[f for f in fs] or f(x)`` the last `f` is another.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


def free_names(tree: ast.AST, bound: Set[str] = frozenset()) -> Iterator[ast.Name]:
    """Those that are read outside of the comprehensions that bind them."""
    if isinstance(tree, COMPREHENSIONS):
        yield from _of_comprehension(tree, bound)
    elif isinstance(tree, ast.Name):
        if isinstance(tree.ctx, ast.Load) and tree.id not in bound:
            yield tree
    else:
        for part in ast.iter_child_nodes(tree):
            yield from free_names(part, bound)


def _of_comprehension(tree: Comprehension, bound: Set[str]) -> Iterator[ast.Name]:
    """Python evaluates the iterable of the first loop in the enclosing scope."""
    first, *others = tree.generators
    yield from free_names(first.iter, bound)
    inside = bound | {name for loop in tree.generators for name in _targets(loop)}
    yield from (name for part in (first.target, *first.ifs, *others) for name in free_names(part, inside))
    values = (tree.key, tree.value) if isinstance(tree, ast.DictComp) else (tree.elt,)
    yield from (name for part in values for name in free_names(part, inside))


def _targets(loop: ast.comprehension) -> Iterator[str]:
    return (n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
