"""The value of a formula at a point, in plain Python numbers: what the generator needs to compare two of them."""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..formula.callees import Callees
from ..formula.formula import Formula
from ..model import Op
from .symbolic import Apply, Choice, Constant, Number, Operation, Product, Sum, Symbolic, Variable
from .symbolize import NotSymbolic, Symbolizer

Value = complex  # floats, ints and truth values are complex numbers to Python's types


class NoValue(Exception):
    """The formula has a step that is no function of plain numbers."""


# Functions of real and complex numbers alike, by NumPy's name.
_ANALYTIC: Mapping[str, Callable[[complex], complex]] = {
    **{name: getattr(cmath, name) for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"arc{name}": getattr(cmath, f"a{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "expm1": lambda x: cmath.exp(x) - 1,
    "log1p": lambda x: cmath.log(1 + x),
    "log2": lambda x: cmath.log(x) / math.log(2),
    "log10": cmath.log10,
    "exp2": lambda x: 2**x,
}
_OTHERS: Mapping[str, Callable[..., Value]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "true_divide": operator.truediv,
    "divide": operator.truediv, "power": operator.pow, "negative": operator.neg, "positive": operator.pos,
    "floor_divide": operator.floordiv, "remainder": operator.mod, "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x, "conjugate": lambda x: x.conjugate(), "conj": lambda x: x.conjugate(),
    "real": lambda x: x.real, "absolute": abs, "abs": abs, "sign": lambda x: x / abs(x),
    "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc, "rint": round,
    "cbrt": lambda x: math.copysign(abs(x) ** (1 / 3), x), "maximum": max, "minimum": min,
    "copysign": math.copysign, "hypot": math.hypot, "arctan2": math.atan2, "erf": math.erf, "erfc": math.erfc,
    "lgamma": math.lgamma, "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt,
    "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "logical_and": lambda a, b: bool(a) and bool(b), "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_not": operator.not_, "isnan": cmath.isnan, "zeros_like": lambda x: 0 * x,
}  # fmt: skip
_SYMBOLS: Mapping[str, Callable[..., Value]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "&": lambda a, b: bool(a) and bool(b), "|": lambda a, b: bool(a) or bool(b), "~": operator.not_,
    "and": lambda a, b: a and b, "or": lambda a, b: a or b, "not": operator.not_, "**": operator.pow,
    "//": operator.floordiv, "%": operator.mod, "-": operator.neg,
}  # fmt: skip
_CONSTANTS: Mapping[str, Value] = {"inf": math.inf, "nan": math.nan, "True": True, "False": False}


@dataclass
class Evaluator:
    """Evaluates formulas that call the ops of a table."""

    ops: Mapping[str, Op]  # by base
    callees: Callees
    _bodies: dict[str, tuple[tuple[str, ...], Symbolic]] = field(default_factory=dict)

    def value(self, tree: Symbolic, scope: Mapping[str, Value]) -> Value:
        """The value; errors of arithmetic are those of Python."""
        match tree:
            case Number(value=value):
                return float(value)
            case Constant(text=text):
                return self._constant(text)
            case Variable(name=name):
                return scope[name]
            case Sum(terms=terms):
                return sum(self.value(term, scope) for term in terms)
            case Product(coefficient=coefficient, factors=factors):
                return math.prod((self.value(b, scope) ** e for b, e in factors), start=float(coefficient))
            case Choice(test=test, body=body, orelse=orelse):
                return self.value(body if self.value(test, scope) else orelse, scope)
            case Operation(symbol=symbol, operands=operands) if symbol in _SYMBOLS:
                return _SYMBOLS[symbol](*(self.value(operand, scope) for operand in operands))
            case Apply(function=function, operands=operands, keywords=()):
                return self._call(function, [self.value(operand, scope) for operand in operands])
        raise NoValue

    @staticmethod
    def _constant(text: str) -> Value:
        if text in _CONSTANTS:
            return _CONSTANTS[text]
        try:
            return complex(text)
        except ValueError:
            raise NoValue from None

    def _call(self, function: str, operands: list[Value]) -> Value:
        """An op by its forward, whatever else has its name."""
        if self.callees.is_shared(function):
            raise NoValue
        op = self.ops.get(function)
        forward = op.variants[0].forward if op else None
        name = forward.ufunc if forward and forward.ufunc else function
        if name in _ANALYTIC:
            return _analytic(_ANALYTIC[name], operands)
        if name in _OTHERS:
            return _OTHERS[name](*operands)
        if forward is None or forward.formula is None:
            raise NoValue
        names, body = self._body(function, forward.formula)
        return self.value(body, dict(zip(names, operands, strict=False)))

    def _body(self, function: str, formula: Formula) -> tuple[tuple[str, ...], Symbolic]:
        if function not in self._bodies:
            arguments = self.ops[function].signature.arguments
            try:
                tree = Symbolizer(self.callees).read(formula.expr)
            except NotSymbolic:
                raise NoValue from None
            self._bodies[function] = (tuple(a.name for a in arguments), tree)
        return self._bodies[function]


def _analytic(function: Callable[[complex], complex], operands: list[Value]) -> Value:
    """Of real numbers a real number; a point where it is none is outside the domain."""
    value = function(operands[0])
    if isinstance(operands[0], complex):
        return value
    if complex(value).imag:
        raise ValueError("outside the domain")
    return complex(value).real
