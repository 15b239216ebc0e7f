"""Expressions that Python reads and the generator cannot work with: too deep, too large, too long."""

import time

import pytest
from small_table import op_with, table_with

from codegen.entries.policy import expect_interval
from codegen.spec.errors import Problem, SpecErrors
from codegen.spec.schema import Signature
from codegen.spec.syntax import DEEPEST, parse_python

LARGE = "9" * 320


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("-" * 200 + "x", f"is nested more than {DEEPEST} levels deep"),
        ("-" * 5000 + "x", f"is nested more than {DEEPEST} levels deep"),
        ("+".join(["x"] * 500), f"is nested more than {DEEPEST} levels deep"),
        ("(" * 500 + "x" + ")" * 500, "does not parse: too many nested parentheses"),
        ("9" * 5000, "does not parse: Exceeds the limit"),
        ("x\0", "null bytes"),
        ("[1.0  2.0]", "^does not parse: invalid syntax$"),
        (r"x == '\ud800'", "has a text with half of a surrogate pair"),
    ],
)
def test_what_cannot_be_worked_with(text: str, message: str) -> None:
    with pytest.raises(Problem, match=message):
        parse_python(text)


def test_it_is_told_with_its_place() -> None:
    entry = "f(Tensor self) -> Tensor\n  forward: array(self)\n  self: {}"
    for formula, message in (("-" * 200 + "grad", "is nested more"), (f"grad * {LARGE}", "that no float can hold")):
        with pytest.raises(SpecErrors, match=rf"derivatives\.yaml:\d+:\d+: f: formula for 'self' .*{message}"):
            table_with(entry.format(formula))
    with pytest.raises(Problem, match="default of 'n' is nested more than"):
        Signature.parse(f"f(Tensor self, int n={'-' * 200}1) -> Tensor")
    assert expect_interval(f"(0, {LARGE})") is None and expect_interval(f"({'-' * 200}1, 2)") is None


def test_products_of_constants_may_overflow() -> None:
    backward = op_with("f(Tensor self) -> Tensor\n  forward: pointwise(self * 1e300 * 1e300)").variants[0].backward
    assert backward is not None and backward.gradients[0].formula.text == "inf * grad"


@pytest.mark.parametrize(
    "expression",
    [
        "exp(" * 25 + "self" + ")" * 25,
        " * ".join(f"exp(self * {i})" for i in range(9)),
        " + ".join(["self * self"] * 50),
    ],
)
def test_long_expressions_take_no_longer_than_they_are_long(expression: str) -> None:
    start = time.perf_counter()
    op = op_with(f"f(Tensor self) -> Tensor\n  forward: pointwise({expression})")
    assert op.variants[0].backward is not None and time.perf_counter() - start < 30  # not hours
