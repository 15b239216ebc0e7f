"""Python expressions of the table that are no formulas: samples, points, references.

They are kept as text, and evaluated by whoever tests the ops. Here is checked that they parse, and that they use known
names only.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable

from .errors import Collector, hint_from
from .reader import RawText


def verify_names(errors: Collector, op: str, value: RawText, subject: str, names: Iterable[str]) -> None:
    """Report a text that does not parse, or that uses other names than these and those it binds itself."""
    try:
        tree = _parse(value.text)
    except SyntaxError as error:
        errors.add(value.position, op, f"{subject} does not parse: {error.msg}")
        return
    known = frozenset(names)
    for name in _free_names(tree):
        if name.id not in known:
            position = value.position_of(name.col_offset)
            errors.add(
                position, op, f"{subject} uses '{name.id}', which it does not know", hint_from("Names", name.id, known)
            )


def _parse(text: str) -> ast.expr:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what Python merely doubts is a mistake here
        return ast.parse(text, mode="eval").body


def _free_names(tree: ast.expr) -> list[ast.Name]:
    nodes = list(ast.walk(tree))
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    bound |= {n.arg for n in nodes if isinstance(n, ast.arg)}
    return [n for n in nodes if isinstance(n, ast.Name) and n.id not in bound]
