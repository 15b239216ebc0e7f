"""Ops that refuse complex tensors because something that they are made of does, or that they are the gradient of."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ..arrays.ufunc_facts import takes_complex
from ..entries.declaration import Declaration
from ..model import Table
from ..spec.errors import Problem
from ..spec.syntax import parse

_REAL_FUNCTIONS = frozenset({"erf", "erfc"})  # of loops
_ORDERING = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def refusing_complex(declarations: list[Declaration], library: Table | None = None) -> list[Declaration]:
    """The declarations, of which those that only compose others refuse what a part refuses; `complex: true` stays."""
    others = library.by_base if library else {}
    outside = {base for base, ops in others.items() if not any(op.supports_complex for op in ops)}
    while True:
        taking = {d.base for d in declarations if d.supports_complex}
        refusing = (outside | {d.base for d in declarations}) - taking
        found = [_settled(d, refusing) for d in declarations]
        if found == declarations:
            return declarations
        declarations = found


def _settled(declaration: Declaration, refusing: set[str]) -> Declaration:
    forward = declaration.forward
    if not declaration.supports_complex or "complex" in declaration.entry.keys or forward is None:
        return declaration
    is_gradient = declaration.base.endswith("_backward") and declaration.base.removesuffix("_backward") in refusing
    is_made = forward.kind in ("pointwise", "composite")
    if is_gradient or (is_made and _refuses(forward.text, declaration, refusing)):
        return replace(declaration, supports_complex=False)
    return declaration


def _refuses(text: str, declaration: Declaration, refusing: set[str]) -> bool:
    try:
        tree = parse(text)
    except Problem:
        return False  # reported where the forward is resolved
    is_loop = declaration.forward is not None and declaration.forward.kind == "pointwise"
    compares = (node for node in ast.walk(tree) if isinstance(node, ast.Compare))
    orders = any(isinstance(op, _ORDERING) for node in compares for op in node.ops)
    return (is_loop and orders) or any(_is_real(name, declaration, refusing) for name in _called(tree))


def _is_real(name: str, declaration: Declaration, refusing: set[str]) -> bool:
    if name == declaration.base:  # there it means the function of loops, or gradsmith's op
        return name in _REAL_FUNCTIONS or not takes_complex(name)
    return name in refusing


def _called(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr
