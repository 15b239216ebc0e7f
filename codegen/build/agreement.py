"""Formulas that the author wrote, compared with what follows from the forward.

Where a derivative can be derived (see `derive`), the written formula has to give the same numbers, at a few random
points of the domain. Kinks have no chance of being hit, so that a policy at a kink is the author's alone.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass

from ..algebra.evaluate import Evaluator, NoValue, Value
from ..algebra.symbolic import Symbolic, formula_text
from ..algebra.symbolize import NotSymbolic, Symbolizer
from ..check.context import Context
from ..entries.declaration import Declaration
from ..model import GradientRule, Interval, Op
from ..spec.errors import Collector, Position
from ..spec.schema import Argument
from .derive import Deriver

POINTS = 4  # that must agree
ATTEMPTS = 40  # to find as many in the domain
TOLERANCE = 1e-7
_ARITHMETIC_ERRORS = (ArithmeticError, ValueError, TypeError)  # the last: complex numbers are not ordered

Point = dict[str, Value]


def verify_agreement(ops: list[Op], declarations: list[Declaration], deriver: Deriver, context: Context) -> None:
    """Report every written formula of a pointwise op that is not the derivative of its forward."""
    library = deriver.library.ops if deriver.library else ()
    evaluator = Evaluator({op.base: op for op in (*library[::-1], *ops[::-1])}, context.callees)
    for op, declaration in zip(ops, declarations, strict=True):
        backward = op.variants[0].backward
        if op.variants[0].forward.kind != "pointwise" or backward is None or op.policy.surrogate:
            continue
        for gradient in backward.gradients:
            if not gradient.formula.is_derived and not gradient.is_joint:
                comparison = _expect_comparison(op, declaration, gradient, deriver, evaluator)
                if comparison is not None:
                    comparison.verify(context.errors)


@dataclass(frozen=True)
class _Comparison:
    op: Op
    gradient: GradientRule
    forward: Symbolic
    written: Symbolic
    derived: Symbolic
    evaluator: Evaluator

    def verify(self, errors: Collector) -> None:
        try:
            wrong = next((found for found in self.values() if not _agree(*found[1:])), None)
        except NoValue:
            return
        if wrong is None:
            return
        point, written, derived = wrong
        formula = self.gradient.formula
        place = ", ".join(f"{name}={_shown(value)}" for name, value in point.items() if name != "result")
        errors.add(
            Position(formula.line, formula.column),
            self.op.base,
            f"formula for '{self.gradient.inputs[0]}' is not the derivative of the forward: at {place} "
            f"'{' '.join(formula.text.split())}' is {_shown(written)}, and '{formula_text(self.derived)}' is "
            f"{_shown(derived)}",
            "Correct it, or leave it out.",
        )

    def values(self) -> Iterator[tuple[Point, Value, Value]]:
        """Both formulas at random points; those outside of the domain are passed over."""
        found = 0
        for point in self.points():
            try:
                point["result"] = self.evaluator.value(self.forward, point)
                pair = [self.evaluator.value(tree, point) for tree in (self.written, self.derived)]
            except _ARITHMETIC_ERRORS:
                continue
            if all(math.isfinite(abs(value)) for value in pair):
                yield point, pair[0], pair[1]
                found += 1
                if found == POINTS:
                    return

    def points(self) -> Iterator[Point]:
        """Complex points first where the op takes them, then real ones of either sign, then positive ones."""
        rng = random.Random(self.op.name)
        kinds = ["complex", "real", "positive"] if self.op.supports_complex else ["real", "positive"]
        domain = dict(self.op.policy.domain)
        for kind in kinds:
            for _ in range(ATTEMPTS):
                point = {a.name: _random(a, rng, kind, domain.get(a.name)) for a in self.op.signature.arguments}
                yield {**point, "grad": _number(rng, kind)}


def _expect_comparison(
    op: Op, declaration: Declaration, gradient: GradientRule, deriver: Deriver, evaluator: Evaluator
) -> _Comparison | None:
    """None where no formula can be derived, or an argument is no number."""
    forward = op.variants[0].forward.formula
    kinds = {a.type.plain.required.name for a in op.signature.arguments if not a.type.is_list}
    if forward is None or not kinds <= {"Tensor", "Scalar", "float", "int", "bool"}:
        return None
    derived = deriver.expect_formula(declaration, forward.expr, gradient.inputs[0])
    symbolizer = Symbolizer(evaluator.callees, only_real=not op.supports_complex)
    try:
        trees = [symbolizer.read(expr) for expr in (forward.expr, gradient.formula.expr)]
    except NotSymbolic:
        return None
    return _Comparison(op, gradient, trees[0], trees[1], derived, evaluator) if derived is not None else None


def _random(argument: Argument, rng: random.Random, kind: str, domain: Interval | None) -> Value:
    match argument.type.plain.required.name:
        case "bool":
            return rng.random() < 0.5
        case "int":
            return rng.randint(1, 3)
        case "float":
            return _number(rng, "positive" if kind == "positive" else "real")
    return _number(rng, kind) if domain is None else _inside(rng, domain)


def _number(rng: random.Random, kind: str) -> Value:
    magnitude = rng.uniform(0.2, 2)
    if kind == "positive":
        return magnitude
    return magnitude * (rng.choice((-1, 1)) if kind == "real" else complex(rng.uniform(-1, 1), rng.uniform(-1, 1)))


def _inside(rng: random.Random, domain: Interval) -> float:
    lower, upper = max(domain.lower, -10.0), min(domain.upper, 10.0)
    return rng.uniform(min(lower, domain.upper - 1), max(upper, domain.lower + 1))


def _agree(left: Value, right: Value) -> bool:
    return abs(left - right) <= TOLERANCE * max(1.0, abs(left), abs(right))


def _shown(value: Value) -> str:
    return f"{value:.4g}"
