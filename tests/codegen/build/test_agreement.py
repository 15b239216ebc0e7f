"""A formula that somebody wrote, and that is not the derivative of its forward, is an error of the table."""

import pytest
from own_table import table_beside
from small_table import complete

from codegen.spec.errors import SpecErrors


def problems(entry: str) -> list[str]:
    try:
        table_beside(complete(entry))
    except SpecErrors as errors:
        return [f"{e.position.line - 1}:{e.position.column}: {e.problem}" for e in errors.errors]
    return []


def entry(forward: str, formula: str, signature: str = "f(Tensor self) -> Tensor", more: str = "") -> str:
    return f"{signature}\n  forward: pointwise({forward})\n  self: {formula}\n{more}".rstrip()


REAL = "  complex: false"
RIGHT = {
    "another way to write it": ("tanh(self)", "grad / conj(square(cosh(self)))", ""),
    "by the result": ("exp(2 * self)", "2 * grad * conj(result)", ""),
    "a policy at a kink": ("maximum(self, 0)", "where(self < 0, 0, grad)", REAL),
    "on a domain": (
        "log(self) * sqrt(self)",
        "grad * (log(self) / 2 + 1) / sqrt(self)",
        "  domain: {self: '(0, inf)'}",
    ),
    "real numbers only": ("abs(self) * self", "2 * grad * abs(self)", REAL),
    "what cannot be derived": ("(self * self) ** self", "grad", REAL),
}
WRONG = {
    "a factor": ("self * self", "grad * conj(self)", ""),
    "a sign": ("cos(self)", "grad * conj(sin(self))", ""),
    "no conjugate": ("self * self", "2 * grad * self", ""),
    "a branch": ("where(self > 0, self, expm1(self))", "where(self > 0, grad, grad * expm1(self))", REAL),
    "the other branch": ("maximum(self, 0)", "where(self > 0, 0, grad)", REAL),
    "a power": ("self ** 3", "grad * 3 * conj(self)", ""),
    "a constant": ("0.5 * self * (1 + erf(0.7 * self))", "grad * 0.5 * (1 + erf(0.7 * self))", REAL),
    "a domain": ("log(self)", "grad / (self + 1)", "  domain: {self: '(0, inf)'}\n  complex: false"),
    "zero": ("self * self", "zeros_like(grad)", ""),
}


@pytest.mark.parametrize("case", RIGHT)
def test_right_formulas_pass(case: str) -> None:
    forward, formula, more = RIGHT[case]
    assert problems(entry(forward, formula, more=more)) == []


@pytest.mark.parametrize("case", WRONG)
def test_wrong_formulas_are_told(case: str) -> None:
    forward, formula, more = WRONG[case]
    (problem,) = problems(entry(forward, formula, more=more))
    assert problem.startswith("3:9: formula for 'self' is not the derivative of the forward: at self=")
    assert f"'{formula}' is " in problem


def test_both_texts_and_values_are_shown() -> None:
    (problem,) = problems(entry("self * self", "3 * grad * self", more=REAL))
    assert "'3 * grad * self' is " in problem and "'2 * grad * self' is " in problem


def test_each_input_is_compared() -> None:
    signature = "f(Tensor self, Tensor|Scalar other, Scalar alpha=1) -> Tensor"
    (problem,) = problems(entry("self + alpha * other", "grad", signature, "  other: grad * alpha\n"))
    assert problem.startswith("4:10: formula for 'other' is not")


def test_what_does_not_depend_on_the_input() -> None:
    signature = "f(Tensor self, Tensor other) -> Tensor"
    (problem,) = problems(entry("other * (self > 0)", "grad", signature, f"  other: grad * (self > 0)\n{REAL}"))
    assert "'grad' is " in problem and "'0' is 0" in problem
