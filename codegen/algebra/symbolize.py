"""Resolved expressions as algebra: `formula.Expr` -> `symbolic.Symbolic`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ..formula.callees import Callees, literal
from ..formula.formula import Call, Conditional, Expr, Gradient, Literal, Name, Operator
from .simplify import choice, conjugate, difference, number, powers, product, quotient, total
from .symbolic import ZERO, Apply, Constant, Operation, Symbolic, Variable

CONJUGATES = frozenset({"conj", "conj_physical", "conj_complex"})
# Functions that leave real numbers unchanged.
REAL_IDENTITIES = CONJUGATES | {"real", "positive"}
_WHOLE_POWERS = range(-8, 9)


class NotSymbolic(Exception):
    """The expression has a step that algebra does not know; the text says which."""


@dataclass(frozen=True)
class Symbolizer:
    """Reads the expressions of one scope."""

    callees: Callees
    names: Mapping[str, Symbolic] = field(default_factory=dict)  # what names stand for, if not for themselves
    gradient: Symbolic | None = None  # what `grad` stands for
    only_real: bool = False  # conjugates are left out
    derivative: bool = False  # see Note [What simplifying may change]

    def read(self, expr: Expr) -> Symbolic:
        match expr:
            case Name(name=name):
                return self.names.get(name, Variable(name))
            case Gradient():
                return self.gradient or Variable("grad")
            case Literal():
                return _constant(expr)
            case Operator():
                return self._operator(expr)
            case Call():
                return self._call(expr)
            case Conditional(test=test, body=body, orelse=orelse):
                return self._choice(test, body, orelse, by_element=expr.is_elementwise)
        raise NotSymbolic(f"reads a {expr.type}")

    def value(self, expr: Expr) -> Symbolic:
        """The argument of a function is a value, also in a derivative."""
        return replace(self, derivative=False).read(expr)

    def _operator(self, expr: Operator) -> Symbolic:
        operands = [self.read(operand) for operand in expr.operands]
        match expr.symbol, operands:
            case "neg", [operand]:
                return product(number(-1), operand, derivative=self.derivative)
            case "**", [base, _] if (exponent := whole_power(expr.operands[1])) is not None:
                return powers([(base, exponent)], derivative=self.derivative)
        arithmetic = _ARITHMETIC.get(expr.symbol)
        if arithmetic is not None:
            return arithmetic(operands[0], operands[1], derivative=self.derivative)
        values = tuple(self.value(operand) for operand in expr.operands)
        if expr.symbol in ("and", "or", "not") and expr.type.is_tensor:
            return self._logical(expr, values)
        return Operation("-" if expr.symbol == "neg" else expr.symbol, values)

    def _logical(self, expr: Operator, values: tuple[Symbolic, ...]) -> Symbolic:
        """A forward may say `and` of tensors; a formula calls the op."""
        if not expr.resolved:
            raise NotSymbolic(f"says '{expr.symbol}' of tensors, for which the table has no op")
        return Apply(self.callees.of_entry(expr.resolved).signature.base, values)

    def _call(self, expr: Call) -> Symbolic:
        function, arguments = expr.function, expr.arguments
        if self.callees.is_shared(function):  # algebra knows functions by their names
            raise NotSymbolic(shared_name(function))
        if self.only_real and function in REAL_IDENTITIES:
            return self.read(arguments[0])
        if function == "where" and len(arguments) == 3:
            return self._choice(*arguments, by_element=True)
        if function == "conj":
            return conjugate(self.read(arguments[0]))
        if function == "square":
            return powers([(self.read(arguments[0]), 2)], derivative=self.derivative)
        if function == "zeros_like" and self.derivative:
            return ZERO
        positional, named = self._arguments(expr)
        values = (*map(self.value, positional), *map(self.value, named.values()))
        return Apply(function, values, tuple(named))

    def _choice(self, test: Expr, body: Expr, orelse: Expr, *, by_element: bool) -> Symbolic:
        """A choice between gradients is one between derivatives."""
        chosen = any(isinstance(part, Gradient) for branch in (body, orelse) for part in branch.walk())
        return choice(
            self.value(test),
            self.read(body),
            self.read(orelse),
            by_element=by_element,
            derivative=self.derivative and chosen,
        )

    def _arguments(self, expr: Call) -> tuple[list[Expr], dict[str, Expr]]:
        """The arguments as one would write them: without defaults that were filled in."""
        callee = self.callees.expect_entry(expr.c_entry)
        if callee is None:  # a function of the loops, or of Python
            return list(expr.arguments), {}
        positional: list[Expr] = []
        named: dict[str, Expr] = {}
        has_gap = False
        for argument, value in zip(callee.signature.arguments, expr.arguments, strict=True):
            if argument.default is not None and value == literal_of(argument.default):
                has_gap = True
            elif has_gap or argument.keyword_only:
                named[argument.name] = value
            else:
                positional.append(value)
        return positional, named


_ARITHMETIC: dict[str, Callable[..., Symbolic]] = {
    "+": lambda a, b, derivative: total((a, b), derivative=derivative),
    "-": difference,
    "*": product,
    "/": quotient,
}


def shared_name(function: str) -> str:
    return f"calls '{function}', which is the name of one of gradsmith's ops and of another in this table"


def literal_of(default: str) -> Literal:
    return literal(ast.literal_eval(default))


def whole_power(exponent: Expr) -> int | None:
    """A small whole exponent, which makes a power a product."""
    match exponent:
        case Literal(value=int() as value) if not isinstance(value, bool) and value in _WHOLE_POWERS and value:
            return value
    return None


def _constant(expr: Literal) -> Symbolic:
    value = expr.value
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if is_number and value - value == 0:  # type: ignore[operator]
        return number(value)  # type: ignore[arg-type]
    if expr.type.name in ("dtype", "float"):  # `float64`, `inf`, `nan` are names
        return Constant(str(value))
    return Constant(repr(value))
