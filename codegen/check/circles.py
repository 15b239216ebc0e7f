"""Ops whose forwards call each other in a circle: none of them would ever give a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..entries.declaration import Declaration
from ..formula.callees import intrinsics
from ..formula.formula import Call, Conditional, Expr
from ..spec.errors import Collector
from .context import Context
from .forward import expect_forward

# Behind a C entry: the op as its compiled loop alone, where the caller knows that the loop fits.
_LOOP = " loop"


@dataclass(frozen=True)
class _Caller:
    """One variant of an entry, and the C entries that its forward calls."""

    declaration: Declaration
    calls: tuple[str, ...]


def report_circles(declarations: list[Declaration], context: Context) -> bool:
    """Report each circle, at the first of its entries; were there any?"""
    callers = dict(_callers(declarations, context))
    settled: set[str] = set()
    circles = [circle for c_entry in callers if (circle := _expect_circle(c_entry, callers, settled))]
    for circle in circles:
        _report([callers[member].declaration for member in circle], context.errors)
    return bool(circles)


def _callers(declarations: list[Declaration], context: Context) -> Iterator[tuple[str, _Caller]]:
    """C entry -> its calls, for the forwards that are expressions over ops."""
    for declaration in declarations:
        if declaration.forward is None or declaration.forward.kind not in ("composite", "pointwise"):
            continue
        for c_entry, (signature, _) in zip(declaration.c_entries, declaration.expanded, strict=True):
            forward = expect_forward(declaration, signature, context)
            if forward is None or forward.formula is None:
                continue
            yield c_entry, _Caller(declaration, tuple(_called(forward.formula.expr)))
            if forward.is_elementwise:
                yield c_entry + _LOOP, _Caller(declaration, tuple(_called_in_loop(forward.formula.expr)))


def _called(expr: Expr) -> Iterator[str]:
    """C entries that the printed text calls; the operands of a resolved call are its arguments."""
    name = getattr(expr, "resolved", "") or getattr(expr, "c_entry", "")
    if name:
        yield name
    if isinstance(expr, Conditional) and not name and _asks_for_loop(expr.test):
        yield from (c_entry + _LOOP for c_entry in _called(expr.body))
        yield from _called(expr.orelse)
        return
    for child in getattr(expr, "resolved_arguments", ()) or expr.children():
        yield from _called(child)


def _asks_for_loop(test: Expr) -> bool:
    return isinstance(test, Call) and test.function == "fits_loop"


def _called_in_loop(expr: Expr) -> Iterator[str]:
    """The same of a loop, which is compiled of the loops of other ops; functions of C are no ops."""
    for part in expr.walk():
        name = getattr(part, "resolved", "") or getattr(part, "c_entry", "")
        if name and not (isinstance(part, Call) and part.function in intrinsics()):
            yield name + _LOOP


def _expect_circle(start: str, callers: Mapping[str, _Caller], settled: set[str]) -> list[str]:
    """The first circle that is met on the way from `start`; what leads to no new one is `settled` from then on."""
    path: list[str] = []
    waiting = [iter((start,))]
    while waiting:
        c_entry = next(waiting[-1], None)
        if c_entry is None:
            waiting.pop()
            settled.update(path[-1:])
            del path[-1:]
            continue
        if c_entry not in callers:
            c_entry = c_entry.removesuffix(_LOOP)
        if c_entry in path:
            circle = path[path.index(c_entry) :]
            settled.update(path)
            return circle
        elif c_entry in callers and c_entry not in settled:
            path.append(c_entry)
            waiting.append(iter(callers[c_entry].calls))
    return []


def _report(circle: list[Declaration], errors: Collector) -> None:
    first = min(circle, key=lambda declaration: (declaration.position.line, declaration.position.column))
    start = circle.index(first)
    others = [*circle[start + 1 :], *circle[:start]]
    names = [f"{other.signature.full_name} (line {other.position.line})" for other in others]
    shown = " -> ".join((first.signature.full_name, *names, first.signature.full_name))
    raw = first.forward
    assert raw is not None
    problem = f"forward calls itself: {shown}" if names else "forward calls the op itself"
    hint = "One of them must compute its value in another way." if names else "Compute the value in another way."
    errors.add(raw.raw.position_of(raw.start), first.base, problem, hint)
