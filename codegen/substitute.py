"""Trees with some of their parts replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from .formula import Expr

Replacement = Callable[[Any], Expr]


def substituted(expr: Expr, replacements: Mapping[type[Expr], Replacement]) -> Expr:
    """`expr` with every node of a class in `replacements` replaced by what its function gives, from the leaves up."""
    return rebuilt(expr, lambda part: replacements[type(part)](part) if type(part) in replacements else part)


def rebuilt(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """`expr` with `change` applied to every node, children first."""
    changed: dict[str, Any] = {}
    for entry in fields(expr):
        value = getattr(expr, entry.name)
        new = _rebuilt_value(value, change)
        if new is not value:
            changed[entry.name] = new
    return change(replace(expr, **changed) if changed else expr)


def _rebuilt_value(value: Any, change: Callable[[Expr], Expr]) -> Any:
    if isinstance(value, Expr):
        return rebuilt(value, change)
    if isinstance(value, tuple) and any(isinstance(item, Expr) for item in value):
        items = tuple(rebuilt(item, change) if isinstance(item, Expr) else item for item in value)
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items
    return value
