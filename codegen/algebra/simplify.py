"""Sums, products and choices of formulas, each as simple as when it was made.

The result is never more complicated than a person would write: constants are folded, signs and equal factors
collected, conjugates of conjugates dropped, choices between equals decided.

Note [What simplifying may change]
The value of a finite result never changes but by rounding. Where the original is NaN although no input is (0/0,
inf - inf, 0 * inf), the simpler form may give the number that it stands for: ``x * x / x`` is ``x``, at zero too. That
is done to derivatives alone (`derivative=True`); in a value the author's x / x stays. No rule makes a NaN out of a
number. In particular nothing is multiplied by a mask: the zero in a derivative ``where(test, d, 0)`` says that the
value does not depend on the input there, and factors go into the branches (`Choice`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm

from .symbolic import (
    ONE,
    ZERO,
    Apply,
    Choice,
    Number,
    Operation,
    Product,
    Sum,
    Symbolic,
    is_negative,
    negated,
)

Factor = tuple[Symbolic, int]


def number(value: float) -> Number:
    """A literal: the decimal number that its text says, not the binary one next to it."""
    return Number(Fraction(repr(value)))


# ---- products


def product(*operands: Symbolic, derivative: bool = False) -> Symbolic:
    return powers([(operand, 1) for operand in operands], derivative=derivative)


def quotient(over: Symbolic, under: Symbolic, *, derivative: bool = False) -> Symbolic:
    return powers([(over, 1), (under, -1)], derivative=derivative)


def powers(operands: Iterable[Factor], *, derivative: bool = False) -> Symbolic:
    """The product of bases to whole exponents."""
    coefficient, collected = _collect(operands, derivative)
    factors = tuple((base, exponent) for (base, _), exponent in collected.items() if exponent)
    if not coefficient and (derivative or not factors):
        return ZERO
    chosen = _derivative_choice(factors) if derivative else None
    if chosen is None:
        return _product(coefficient, factors)
    rest = _product(coefficient, tuple(factor for factor in factors if factor[0] is not chosen))
    return choice(
        chosen.test,
        product(rest, chosen.body, derivative=True),
        product(rest, chosen.orelse, derivative=True),
        by_element=chosen.by_element,
        derivative=True,
    )


def _collect(operands: Iterable[Factor], derivative: bool) -> tuple[Fraction, dict[tuple[Symbolic, bool], int]]:
    """Numbers multiplied, exponents of equal bases added; of values, those of one sign only."""
    coefficient = Fraction(1)
    collected: dict[tuple[Symbolic, bool], int] = {}
    for base, exponent in operands:
        inner = [(b, e * exponent) for b, e in base.factors] if isinstance(base, Product) else [(base, exponent)]
        if isinstance(base, Product):
            coefficient *= base.coefficient**exponent if base.coefficient or exponent > 0 else 1
        for b, e in inner:
            if isinstance(b, Number) and (b.value or e > 0):
                coefficient *= b.value**e
            else:
                key = (b, derivative or e > 0)
                collected[key] = collected.get(key, 0) + e
    return coefficient, collected


def _product(coefficient: Fraction, factors: tuple[Factor, ...]) -> Symbolic:
    if not factors:
        return Number(coefficient)
    if len(factors) == 1 and factors[0][1] == 1:
        base = factors[0][0]
        if coefficient == 1:
            return base
        if coefficient == -1 and isinstance(base, Sum) and any(map(is_negative, base.terms)):
            return Sum(tuple(_negative(term) for term in base.terms))
    return Product(coefficient, factors)


def _negative(term: Symbolic) -> Symbolic:
    return negated(term) if isinstance(term, (Number, Product)) else Product(Fraction(-1), ((term, 1),))


def _derivative_choice(factors: tuple[Factor, ...]) -> Choice | None:
    """A factor that chooses between derivatives one of which is a number, if there is anything to take into it."""
    for base, exponent in factors:
        if isinstance(base, Choice) and base.is_derivative and exponent == 1 and _has_number(base):
            return base
    return None


def _has_number(tree: Symbolic) -> bool:
    if isinstance(tree, Choice):
        return _has_number(tree.body) or _has_number(tree.orelse)
    return isinstance(tree, Number)


# ---- sums


def total(terms: Iterable[Symbolic], *, derivative: bool = False) -> Symbolic:
    """The sum; equal terms are counted, choices by one test put together."""
    found: list[tuple[Fraction, Symbolic]] = []
    for term in _flat(terms):
        _add(found, *_split(term), derivative)
    simple = [_product(c, _factors(rest)) for c, rest in found if c or not derivative]
    simple = [term for term in simple if term != ZERO]
    return simple[0] if len(simple) == 1 else Sum(tuple(simple)) if simple else ZERO


def difference(left: Symbolic, right: Symbolic, *, derivative: bool = False) -> Symbolic:
    return total((left, product(number(-1), right)), derivative=derivative)


def _flat(terms: Iterable[Symbolic]) -> Iterable[Symbolic]:
    for term in terms:
        match term:
            case Sum(terms=inner):
                yield from _flat(inner)
            case Product(coefficient=coefficient, factors=((Sum(terms=inner), 1),)) if coefficient == -1:
                yield from _flat(map(_negative, inner))
            case _:
                yield term


def _add(found: list[tuple[Fraction, Symbolic]], coefficient: Fraction, rest: Symbolic, derivative: bool) -> None:
    for i, (have, other) in enumerate(found):
        if other == rest and (derivative or rest == ONE or have + coefficient):
            found[i] = (have + coefficient, rest)
            return
        merged = _merged(have, other, coefficient, rest) if derivative else None
        if merged is not None:
            found[i] = (Fraction(1), merged)
            return
    found.append((coefficient, rest))


def _merged(have: Fraction, left: Symbolic, coefficient: Fraction, right: Symbolic) -> Symbolic | None:
    """Two derivatives that are chosen by one test."""
    if not (isinstance(left, Choice) and isinstance(right, Choice)):
        return None
    if left.test != right.test or not (left.is_derivative and right.is_derivative):
        return None
    parts = [
        total((product(Number(have), a), product(Number(coefficient), b)), derivative=True)
        for a, b in ((left.body, right.body), (left.orelse, right.orelse))
    ]
    return choice(left.test, parts[0], parts[1], by_element=left.by_element, derivative=True)


def _split(term: Symbolic) -> tuple[Fraction, Symbolic]:
    """A term as a number times what it counts."""
    match term:
        case Number(value=value):
            return value, ONE
        case Product(coefficient=coefficient, factors=factors):
            return coefficient, _product(Fraction(1), factors)
    return Fraction(1), term


def _factors(tree: Symbolic) -> tuple[Factor, ...]:
    if tree == ONE:
        return ()
    return tree.factors if isinstance(tree, Product) else ((tree, 1),)


def factored(tree: Symbolic) -> Symbolic:
    """A sum of derivatives with what all its terms have in common taken out: ``s + x * (1 - s) * s``."""
    if not isinstance(tree, Sum):
        return tree
    split = [_split(term) for term in tree.terms]
    counts = [dict(_factors(rest)) for _, rest in split]
    shared = {base: _common_exponent([count.get(base, 0) for count in counts]) for base in counts[0]}
    common = [(base, exponent) for base, exponent in shared.items() if exponent]
    coefficient = _common_coefficient([c for c, _ in split])
    if not common and coefficient == 1:
        return tree
    inverse = [(Number(coefficient), -1), *((base, -exponent) for base, exponent in common)]
    rest = total((powers([(term, 1), *inverse], derivative=True) for term in tree.terms), derivative=True)
    return powers([(Number(coefficient), 1), *common, (rest, 1)], derivative=True)


def _common_exponent(exponents: list[int]) -> int:
    if all(e > 0 for e in exponents):
        return min(exponents)
    return max(exponents) if all(e < 0 for e in exponents) else 0


def _common_coefficient(coefficients: list[Fraction]) -> Fraction:
    """A number that divides all others is taken out, when the rest is then simpler; so is a sign that all have."""
    sign = -1 if all(c < 0 for c in coefficients) else 1
    divisor = Fraction(gcd(*(c.numerator for c in coefficients)), lcm(*(c.denominator for c in coefficients)))
    smallest = min(map(abs, coefficients))
    return sign * (smallest if smallest == divisor else Fraction(1))


# ---- choices and conjugates


def choice(test: Symbolic, body: Symbolic, orelse: Symbolic, *, by_element: bool, derivative: bool = False) -> Symbolic:
    if isinstance(body, Choice) and body.test == test:
        body = body.body
    if isinstance(orelse, Choice) and orelse.test == test:
        orelse = orelse.orelse
    return body if body == orelse else Choice(test, body, orelse, by_element, derivative)


def conjugate(tree: Symbolic) -> Symbolic:
    """The complex conjugate, outside of as much as possible: one call for a whole product."""
    match tree:
        case Choice():
            return choice(
                tree.test,
                conjugate(tree.body),
                conjugate(tree.orelse),
                by_element=tree.by_element,
                derivative=tree.is_derivative,
            )
        case Product(coefficient=coefficient, factors=factors):
            opened = [(conjugate(base), exponent) for base, exponent in factors]
            if all(not _is_conjugate(base) for base, _ in opened):
                return powers([(Number(coefficient), 1), *opened], derivative=True)
            above = [factor for factor in factors if factor[1] > 0]
            below = [(base, -exponent) for base, exponent in factors if exponent < 0]
            if len(below) == 1:  # the quotient by a power stays one of single steps
                divisors = [(conjugate(base), -exponent) for base, exponent in below]
            else:
                divisors = [(_conjugate_whole(_product(Fraction(1), tuple(below))), -1)]
            dividend = _conjugate_whole(_product(Fraction(1), tuple(above)))
            return powers([(Number(coefficient), 1), (dividend, 1), *divisors], derivative=True)
        case Sum(terms=terms) if all(not _is_conjugate(conjugate(term)) for term in terms):
            return total(map(conjugate, terms))
    return _conjugate_whole(tree)


def _conjugate_whole(tree: Symbolic) -> Symbolic:
    if isinstance(tree, Apply) and tree.function == "conj":
        return tree.operands[0]
    return tree if isinstance(tree, Number) else Apply("conj", (tree,))


def _is_conjugate(tree: Symbolic) -> bool:
    return any(isinstance(part, Apply) and part.function == "conj" for part in tree.walk())


# ---- what says the same, and better


def with_logistic(tree: Symbolic, function: str) -> Symbolic:
    """e / (1 + e) for e = exp(x) is the logistic function of x, and so is not inf / inf where e is infinite."""
    rebuilt = _rebuilt(tree, lambda part: with_logistic(part, function))
    if not isinstance(rebuilt, Product):
        return rebuilt
    factors = dict(rebuilt.factors)
    for base in rebuilt.children():
        if isinstance(base, Apply) and base.function == "exp" and factors[base] > 0:
            below = total((base, ONE))
            if factors.get(below, 0) < 0:
                parts = [(base, -1), (below, 1), (Apply(function, base.operands), 1)]
                return with_logistic(powers([(rebuilt, 1), *parts], derivative=True), function)
    return rebuilt


# ---- the result of the op inside its own derivative


def replaced(tree: Symbolic, value: Symbolic, name: Symbolic) -> Symbolic:
    """`tree` with `name` wherever `value` stands in it, powers of it too."""
    if tree == value:
        return name
    rebuilt = _rebuilt(tree, lambda part: replaced(part, value, name))
    if isinstance(rebuilt, Product) and isinstance(value, Product):
        return _divided(rebuilt, value, name)
    return rebuilt


def _divided(tree: Product, value: Product, name: Symbolic) -> Symbolic:
    """1 / s / s / s is the cube of 1 / s."""
    have = dict(tree.factors)
    counts = [have.get(base, 0) // exponent for base, exponent in value.factors]
    whole = all(have.get(base, 0) % exponent == 0 for base, exponent in value.factors)
    if not whole or min(counts) < 1 or len(set(counts)) > 1 or not value.coefficient:
        return tree
    count = counts[0]
    return powers([(tree, 1), (value, -count), (name, count)], derivative=True)


def _rebuilt(tree: Symbolic, change: Callable[[Symbolic], Symbolic]) -> Symbolic:
    """The same kind of node with every part changed; the same object when none is."""
    parts = tree.children()
    changed = tuple(map(change, parts))
    if changed == parts and all(a is b for a, b in zip(changed, parts, strict=True)):
        return tree
    match tree:
        case Apply() | Operation():
            return replace(tree, operands=changed)
        case Choice():
            test, body, orelse = changed
            return choice(test, body, orelse, by_element=tree.by_element, derivative=tree.is_derivative)
        case Product(coefficient=coefficient, factors=factors):
            exponents = [exponent for _, exponent in factors]
            return powers([(Number(coefficient), 1), *zip(changed, exponents, strict=True)], derivative=True)
        case Sum():
            return total(changed)
    return tree
