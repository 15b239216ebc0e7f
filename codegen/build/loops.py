"""Formulas of an op that become compiled loops. Each is lowered once, when the table is complete."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ..formula.callees import is_outside
from ..formula.formula import Call, Conditional, Expr, Gradient, Literal, Name, Operator
from ..loops.loop import MAX_INPUTS, MAX_SCALARS, Loop, Loops
from ..loops.terms import NAMED_TERMS, SYMBOLS, UFUNC_TERMS, Term, as_number, number, select
from ..model import Backward, GradientRule, Table, Variant


def loops_of(variant: Variant, table: Table) -> Loops:
    return Loops(_forward(variant, table), _backward(variant, table))


def _backward(variant: Variant, table: Table) -> tuple[Loop | None, ...]:
    backward = variant.backward
    if backward is None or len(variant.signature.returns) != 1 or backward.saved_lists:
        return ()
    loops = [_expect_gradient_loop(variant, backward, gradient, table) for gradient in backward.gradients]
    passing = [gradient.formula.is_identity for gradient in backward.gradients]
    if all(passing) or any(loop is None and not p for loop, p in zip(loops, passing, strict=True)):
        return ()
    return tuple(loops)


def _expect_gradient_loop(variant: Variant, backward: Backward, gradient: GradientRule, table: Table) -> Loop | None:
    if gradient.formula.is_identity or gradient.is_joint or not gradient.formula.is_pointwise:
        return None
    places = Places(
        inputs={saved.name: f"GS_SAVED | {saved.slot}" for saved in backward.saved},
        scalars={value.name: value.slot for value in backward.values if value.owner is None},
        gradients=("grad",),
    )
    name = f"{variant.stem}_backward_{gradient.inputs[0]}"
    text = f"{gradient.inputs[0]}: {gradient.formula.text}"
    return expect_loop(name, text, gradient.formula.expr, places, table)


def _forward(variant: Variant, table: Table) -> Loop | None:
    formula = variant.forward.formula
    if variant.forward.kind != "pointwise" or formula is None:
        return None
    places = Places(
        inputs={a.name: str(i) for i, a in enumerate(variant.tensors)},
        scalars={a.name: i for i, a in enumerate(variant.numbers)},
    )
    return expect_loop(f"{variant.stem}_forward", formula.text, formula.expr, places, table)


# ---- one expression


@dataclass(frozen=True)
class Places:
    """Location of each name of a formula when the loop runs."""

    inputs: Mapping[str, str]
    scalars: Mapping[str, int]
    gradients: tuple[str, ...] = ()


def expect_loop(name: str, text: str, expr: Expr, places: Places, table: Table) -> Loop | None:
    """The loop of an expression, or None when it is none."""
    try:
        return _loop(name, text, expr, places, table)
    except NotFusable:
        return None


def _loop(name: str, text: str, expr: Expr, places: Places, table: Table) -> Loop:
    found = {**dict(places.inputs), **{g: f"GS_GRAD | {i}" for i, g in enumerate(places.gradients)}}
    scope = {n: Term("input", name=n) for n in places.inputs} | {n: Term("scalar", name=n) for n in places.scalars}
    gradients = tuple(Term("input", name=g) for g in places.gradients)
    term = as_number(Lowering(table, scope, gradients).lower(expr))
    used = {t.name for t in term.steps() if t.kind in ("input", "scalar")}
    inputs = tuple(n for n in (*places.gradients, *places.inputs) if n in used)
    scalars = tuple(n for n in places.scalars if n in used)
    if not inputs or len(inputs) > MAX_INPUTS or len(scalars) > MAX_SCALARS:
        raise NotFusable
    return Loop(
        name=name,
        formula=text,
        term=term,
        inputs=inputs,
        scalars=scalars,
        input_places=tuple(found[n] for n in inputs),
        scalar_places=tuple(places.scalars[n] for n in scalars),
    )


class NotFusable(Exception):
    """The expression is no loop over numbers. Not an error: the ops of the formula are used instead."""


@dataclass(frozen=True)
class Lowering:
    """Turns an expression into a term; `scope` says what the names stand for."""

    table: Table
    scope: Mapping[str, Term]
    gradients: tuple[Term, ...] = ()

    def lower(self, expr: Expr) -> Term:
        match expr:
            case Name(name=name) if name in self.scope:
                return self.scope[name]
            case Gradient(index=index):
                return self.gradients[index]
            case Literal(value=bool() | int() | float() as value):
                return number(value)
            case Operator(symbol=symbol, operands=operands):
                return self._build(UFUNC_TERMS.get(SYMBOLS.get(symbol, "")), operands)
            case Conditional():
                return self._build(select, (expr.test, expr.body, expr.orelse))
            case Call():
                return self._call(expr)
        raise NotFusable

    def _build(self, build: Callable[..., Term] | None, operands: tuple[Expr, ...]) -> Term:
        if build is None:
            raise NotFusable
        return build(*map(self.lower, operands))

    def _call(self, expr: Call) -> Term:
        if expr.function in NAMED_TERMS and not is_outside(expr.c_entry):
            return self._build(NAMED_TERMS[expr.function], expr.arguments)
        variant = self.table.variants.get(expr.c_entry)
        if variant is None:  # a helper of numbers: exp(beta)
            return self._build(UFUNC_TERMS.get(expr.function), expr.arguments)
        if variant.forward.kind == "ufunc":
            return self._build(UFUNC_TERMS.get(variant.forward.ufunc), expr.arguments)
        if variant.forward.formula is None:
            raise NotFusable
        names = [argument.name for argument in variant.signature.arguments]
        scope = dict(zip(names, map(self.lower, expr.arguments), strict=True))
        term = replace(self, scope=scope, gradients=()).lower(variant.forward.formula.expr)
        return replace(term, label=variant.signature.base)
