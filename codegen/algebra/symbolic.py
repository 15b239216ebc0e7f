"""Formulas as algebra: sums, products and functions of exact numbers, and their text.

A formula that was resolved (`formula.Expr`) knows types and C entries; one that is being derived has none yet. Here it
is a sum of terms or a product of powers, so that equal things are equal however they were written: ``x * 2 * x`` and
``2 * square(x)`` are one product. Numbers are fractions, and stay exact until they are printed. The functions that make
such trees simple are in `simplify`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from ..formula.formula import ATOM, BINDING, CONDITIONAL, UNARY
from ..formula.trees import HashedOnce


@dataclass(frozen=True, eq=False)
class Symbolic(HashedOnce):
    """A node of the tree."""

    def children(self) -> tuple[Symbolic, ...]:
        return ()

    def walk(self) -> Iterator[Symbolic]:
        """This node and everything below it."""
        yield self
        for child in self.children():
            yield from child.walk()


@dataclass(frozen=True, eq=False)
class Number(Symbolic):
    value: Fraction


@dataclass(frozen=True, eq=False)
class Constant(Symbolic):
    """A constant that is not a rational number, as written: ``1j``, ``True``, ``nan``, ``'mean'``."""

    text: str


@dataclass(frozen=True, eq=False)
class Variable(Symbolic):
    """An argument, ``result`` or ``grad``."""

    name: str


@dataclass(frozen=True, eq=False)
class Apply(Symbolic):
    """A function; the last `keywords` operands are given by name."""

    function: str
    operands: tuple[Symbolic, ...]
    keywords: tuple[str, ...] = ()

    def children(self) -> tuple[Symbolic, ...]:
        return self.operands


@dataclass(frozen=True, eq=False)
class Operation(Symbolic):
    """An operator that no rule knows: comparisons, logic, ``**`` of something else than a whole number."""

    symbol: str
    operands: tuple[Symbolic, ...]

    def children(self) -> tuple[Symbolic, ...]:
        return self.operands


@dataclass(frozen=True, eq=False)
class Choice(Symbolic):
    """``where(test, body, orelse)``, or ``body if test else orelse`` when the test is one for all elements.

    One that chooses between derivatives (`is_derivative`) takes factors into its branches: a zero in it means that the
    value does not depend on the input there, which holds whatever the factors are, infinite ones and NaN too.
    """

    test: Symbolic
    body: Symbolic
    orelse: Symbolic
    by_element: bool
    is_derivative: bool = False

    def children(self) -> tuple[Symbolic, ...]:
        return (self.test, self.body, self.orelse)


@dataclass(frozen=True, eq=False)
class Product(Symbolic):
    """`coefficient` times powers. In a value, x / x is kept: a base may be there above and below the line."""

    coefficient: Fraction
    factors: tuple[tuple[Symbolic, int], ...]  # in the order in which they came; no exponent is zero

    def children(self) -> tuple[Symbolic, ...]:
        return tuple(base for base, _ in self.factors)

    def _compared(self) -> tuple[object, ...]:
        return (self.coefficient, frozenset(self.factors))


@dataclass(frozen=True, eq=False)
class Sum(Symbolic):
    terms: tuple[Symbolic, ...]  # in the order in which they came

    def children(self) -> tuple[Symbolic, ...]:
        return self.terms

    def _compared(self) -> tuple[object, ...]:
        return (frozenset(self.terms),)


ZERO, ONE = Number(Fraction(0)), Number(Fraction(1))


# ---- text


def formula_text(tree: Symbolic, *, squares: bool = True) -> str:
    """The tree in the formula language, as a person would write it; `squares` says that there is an op ``square``."""
    return _Printer(squares).text(tree)


@dataclass(frozen=True)
class _Printer:
    squares: bool

    def text(self, tree: Symbolic) -> str:
        return self._print(tree)[0]

    def _print(self, tree: Symbolic) -> tuple[str, int]:
        """Text, and how tightly its outermost operator binds."""
        match tree:
            case Number(value=value):
                return _number(value)
            case Constant(text=text) | Variable(name=text):
                return text, ATOM
            case Apply(function=function):
                return f"{function}({', '.join(self._arguments(tree))})", ATOM
            case Operation():
                return self._operation(tree)
            case Choice():
                return self._choice(tree)
            case Product():
                return self._product(tree)
            case Sum():
                return self._sum(tree), BINDING["+"]
        raise TypeError(f"no text for {type(tree).__name__}")

    def _within(self, tree: Symbolic, binding: int) -> str:
        text, own = self._print(tree)
        return f"({text})" if own < binding else text

    def _arguments(self, tree: Apply) -> list[str]:
        texts = [self.text(operand) for operand in tree.operands]
        named = len(texts) - len(tree.keywords)
        return texts[:named] + [f"{k}={text}" for k, text in zip(tree.keywords, texts[named:], strict=True)]

    def _operation(self, tree: Operation) -> tuple[str, int]:
        symbol, operands = tree.symbol, tree.operands
        binding = BINDING[symbol]
        if len(operands) == 1:
            return f"{symbol}{' ' if symbol.isalpha() else ''}{self._within(operands[0], binding)}", binding
        if symbol == "**":
            return f"{self._within(operands[0], ATOM)} ** {self._within(operands[1], UNARY)}", binding
        # A chain of comparisons would mean something else without parentheses.
        left = binding + 1 if binding == BINDING["=="] else binding
        texts = [self._within(operands[0], left), *(self._within(operand, binding + 1) for operand in operands[1:])]
        return f" {symbol} ".join(texts), binding

    def _choice(self, tree: Choice) -> tuple[str, int]:
        numbers = isinstance(tree.body, Number) or isinstance(tree.orelse, Number)
        if tree.by_element or numbers:  # `where` makes a tensor of a number, `if` does not
            return f"where({', '.join(map(self.text, tree.children()))})", ATOM
        parts = [self._within(part, CONDITIONAL + 1) for part in (tree.body, tree.test)]
        return f"{parts[0]} if {parts[1]} else {self.text(tree.orelse)}", CONDITIONAL

    def _product(self, tree: Product) -> tuple[str, int]:
        """Divisions come last and one by one: a product of divisors might overflow."""
        sign = "-" if tree.coefficient < 0 else ""
        above, below = coefficient_parts(abs(tree.coefficient))
        ordered = sorted(tree.factors, key=lambda factor: not isinstance(factor[0], Variable))  # short ones first
        numerators = [text for base, power in ordered if power > 0 for text in self._power(base, power)]
        divisors = [self._within(base, UNARY + 1) for base, power in tree.factors for _ in range(-power)]
        if above != 1 or not numerators:
            numerators.insert(0, _number(above)[0])
        if below != 1:
            divisors.append(_number(below)[0])
        text = " / ".join([" * ".join(numerators), *divisors])
        binding = BINDING["*"] if len(numerators) > 1 or divisors else UNARY if sign else ATOM
        return f"{sign}{text}", binding

    def _power(self, base: Symbolic, power: int) -> list[str]:
        """``x * x``; of what is longer than a name ``square(...)``, and ``** n`` from the fourth power on."""
        is_short = isinstance(base, Variable)
        if power == 1 or (power <= 3 and (is_short or not self.squares)):
            return [self._within(base, UNARY + 1)] * power
        return [f"square({self.text(base)})"] if power == 2 else [f"{self._within(base, ATOM)} ** {power}"]

    def _sum(self, tree: Sum) -> str:
        """A positive term comes first where there is one."""
        terms = list(tree.terms)
        first = next((i for i, term in enumerate(terms) if not is_negative(term)), 0)
        terms.insert(0, terms.pop(first))
        text = self._within(terms[0], BINDING["+"])
        for term in terms[1:]:
            sign, shown = ("-", negated(term)) if is_negative(term) else ("+", term)
            text += f" {sign} {self._within(shown, BINDING['+'] + 1)}"
        return text


def is_negative(tree: Symbolic) -> bool:
    match tree:
        case Number(value=value) | Product(coefficient=value):
            return value < 0
    return False


def negated(tree: Symbolic) -> Symbolic:
    """The opposite of a number or product."""
    match tree:
        case Number(value=value):
            return Number(-value)
        case Product(coefficient=coefficient, factors=((base, 1),)) if coefficient == -1:
            return base
        case Product(coefficient=coefficient, factors=factors):
            return Product(-coefficient, factors)
    raise TypeError(f"{type(tree).__name__} has no sign")


# ---- numbers

_LONG = 12  # more digits than a person would write


def _number(value: Fraction) -> tuple[str, int]:
    is_whole = value.denominator == 1 and abs(value) < 10**15
    text = str(value.numerator) if is_whole else repr(_rounded(value))
    return text, UNARY if value < 0 else ATOM


def _rounded(value: Fraction) -> float:
    """The float; of several within the error of a product of rounded constants, the shortest."""
    try:
        exact = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    short = float(f"{exact:.15g}")
    return short if len(repr(short)) < _LONG and abs(short - exact) <= 4e-16 * abs(exact) else exact


def coefficient_parts(value: Fraction) -> tuple[Fraction, Fraction]:
    """``1/3`` is written as a division, ``1/2`` as 0.5."""
    is_decimal = len(repr(_rounded(value))) <= _LONG or value.denominator > 1000
    return (value, Fraction(1)) if is_decimal else (Fraction(value.numerator), Fraction(value.denominator))
