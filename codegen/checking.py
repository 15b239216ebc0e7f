"""Resolving a text of the table: what formulas and forward expressions have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .callees import Callees
from .errors import Collector, Consequence, Problem
from .formula import Expr
from .reader import RawText
from .resolve import Resolver, Scope


@dataclass(frozen=True)
class Resolved:
    expr: Expr
    spellings: frozenset[str]  # how it writes gradients: "grad", "grads", "grad_values"


@dataclass
class Context:
    """The table around one entry."""

    callees: Callees
    multi_returns: Mapping[str, tuple[str, ...]]  # C entry -> names of its returns, if several
    functions: Mapping[str, str]  # array functions: name -> module
    errors: Collector
    # Variants repeat the formulas of their entry; a mistake is told of the first only.
    _told: set[tuple[RawText, int]] = field(default_factory=set)

    def expect_expr(
        self, raw: RawText, scope: Scope, op: str, subject: str, part: tuple[int, str] | None = None
    ) -> Resolved | None:
        """The tree of `raw` (or of the `part` of it that begins at an offset), unless it is wrong."""
        start, text = part or (0, raw.text)
        resolver = Resolver(scope, self.callees)
        try:
            return Resolved(resolver.resolve(text), frozenset(resolver.spellings))
        except Consequence:
            return None
        except Problem as problem:
            self.error(raw, start + problem.offset, op, f"{subject} {problem.problem}", problem.hint)
            return None

    def error(self, raw: RawText, offset: int, op: str, problem: str, hint: str = "") -> None:
        if (raw, 0) in self._told:
            return
        self._told.add((raw, 0))
        self.errors.add(raw.position_of(offset), op, problem, hint)
