"""Conditions under which a formula reads a part: the tests of the choices around it.

``f(scale) if grad_input_mask[0] else None`` reads `scale` where the first gradient is wanted, and nothing of what
`scale` is computed from may be there otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..formula.facts import folded
from ..formula.formula import Comprehension, Conditional, Expr, Literal, Name, Operator, Variable
from ..formula.scope import BOOL

ALWAYS = Literal(BOOL, True)


def guard_of(name: str, formula: Expr, named: Mapping[str, Expr]) -> Expr | None:
    """When a formula reads a part, itself or through other parts; None when it never does."""
    return _guard_through(name, formula, named, {})


def _guard_through(name: str, formula: Expr, named: Mapping[str, Expr], known: dict[str, Expr | None]) -> Expr | None:
    """The same; `known` are the guards of other parts, each of which many parts may read."""
    guards = list(_guards(name, formula))
    for other in sorted(formula.names & named.keys() - {name}):
        if other not in known:
            known[other] = _guard_through(name, named[other], named, known)
        inner = known[other]
        outer = guard_of(other, formula, {}) if inner is not None else None
        if inner is not None and outer is not None:
            guards.append(_both(outer, inner))
    guards = _weakest(guards)
    return folded("or", guards) if len(guards) > 1 else next(iter(guards), None)


def _weakest(guards: list[Expr]) -> list[Expr]:
    """Each once, without those that ask for all that another one does; always where one is the opposite of another."""
    if any(folded("not", (guard,)) in guards for guard in guards):
        return [ALWAYS]
    asked = {guard: frozenset(_conjuncts(guard)) for guard in guards}
    return [guard for guard in asked if not any(asked[other] < asked[guard] for other in asked)]


def _conjuncts(guard: Expr) -> Iterator[Expr]:
    match guard:
        case Operator(symbol="and", operands=operands):
            for operand in operands:
                yield from _conjuncts(operand)
        case _:
            yield guard


def _guards(name: str, expr: Expr) -> Iterator[Expr]:
    """The condition of each place that reads the name."""
    if name not in expr.names:
        return
    if not expr.has_choices:
        yield ALWAYS
        return
    match expr:
        case Name(name=own):
            yield from (ALWAYS,) if own == name else ()
        case Conditional(test=test, body=body, orelse=orelse, resolved=""):
            yield from _guards(name, test)
            yield from (_both(test, guard) for guard in _guards(name, body))
            yield from (_both(folded("not", (test,)), guard) for guard in _guards(name, orelse))
        case Operator(symbol="and" | "or" as symbol, operands=(left, right), resolved=""):
            yield from _guards(name, left)
            asked = left if symbol == "and" else folded("not", (left,))
            yield from (_both(asked, guard) for guard in _guards(name, right))
        case Comprehension():
            yield from (_outside(guard) for child in expr.children() for guard in _guards(name, child))
        case _:
            yield from (guard for child in expr.children() for guard in _guards(name, child))


def _both(outer: Expr, inner: Expr) -> Expr:
    return folded("and", (outer, inner))


def _outside(guard: Expr) -> Expr:
    """Of a test inside a comprehension nothing is known before it."""
    return ALWAYS if any(isinstance(part, Variable) for part in guard.walk()) else guard
