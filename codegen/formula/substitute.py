"""Trees with some of their parts replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from .formula import Expr

Replacement = Callable[[Any], Expr]


def substituted(expr: Expr, replacements: Mapping[type[Expr], Replacement]) -> Expr:
    """`expr` with every node of a class in `replacements` replaced by what its function gives, from the leaves up."""
    return rebuilt(expr, lambda part: replacements[type(part)](part) if type(part) in replacements else part)


def rebuilt(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """`expr` with `change` applied to every node, children first."""
    return _Rebuilder(change).rebuilt(expr)


def replaced_below(expr: Expr, instead: Mapping[Expr, Expr]) -> Expr:
    """`expr` with the parts below it that are keys of `instead` replaced, those of a replaced part left as they are."""
    return _Rebuilder(lambda part: part, instead).with_children(expr)


@dataclass(frozen=True)
class _Rebuilder:
    """Rebuilds a node once: an operator has each operand twice, as it is written and as an argument."""

    change: Callable[[Expr], Expr]
    instead: Mapping[Expr, Expr] = field(default_factory=dict)
    done: dict[int, Expr] = field(default_factory=dict)  # by identity

    def rebuilt(self, expr: Expr) -> Expr:
        if id(expr) not in self.done:
            self.done[id(expr)] = self.instead.get(expr) or self.change(self.with_children(expr))
        return self.done[id(expr)]

    def with_children(self, expr: Expr) -> Expr:
        changed: dict[str, Any] = {}
        for entry in fields(expr):
            value = getattr(expr, entry.name)
            new = self.value(value)
            if new is not value:
                changed[entry.name] = new
        return replace(expr, **changed) if changed else expr

    def value(self, value: Any) -> Any:
        if isinstance(value, Expr):
            return self.rebuilt(value)
        if isinstance(value, tuple) and any(isinstance(item, Expr) for item in value):
            items = tuple(self.rebuilt(item) if isinstance(item, Expr) else item for item in value)
            return value if all(a is b for a, b in zip(items, value, strict=True)) else items
        return value
