"""Simpler formulas mean the same: rules by example, and random formulas computed before and after."""

import math
import random

import numpy as np
import pytest
from own_table import own_table

from codegen.algebra.simplify import conjugate, factored, powers, product, replaced, total, with_logistic
from codegen.algebra.symbolic import ONE, Symbolic, Variable, formula_text
from codegen.algebra.symbolize import Symbolizer
from codegen.formula.callees import Callee, Callees
from codegen.formula.formula import Name
from codegen.formula.scope import TENSOR, Scope
from codegen.resolve.resolver import Resolver

NAMES = ("a", "b", "c")


@pytest.fixture(scope="module")
def callees() -> Callees:
    """The ops of the project's table."""
    return Callees(
        Callee(variant.signature, variant.c_entry, op.family, True, op.operators)
        for op in own_table().ops
        for variant in op.variants
    )


def read(text: str, callees: Callees, *, derivative: bool = False) -> Symbolic:
    scope = Scope({name: Name(TENSOR, name) for name in NAMES}, elementwise=True)
    return Symbolizer(callees, derivative=derivative).read(Resolver(scope, callees).resolve(text))


# ---- how it looks

SIMPLE = {
    "a * 2 * a": "2 * a * a",
    "-(-a)": "a",
    "a - (b - c)": "a - b + c",
    "-(a - b)": "b - a",
    "a + a + b - 3 * a": "b - a",
    "0.5 * (2 * a)": "a",
    "3 * 0.1 * a": "0.3 * a",
    "a / 3": "a / 3",
    "a / (b / c)": "a * c / b",
    "a / b / b": "a / b / b",
    "square(a) * a": "a * a * a",
    "square(a + 1)": "square(a + 1)",
    "(a + b) * (b + a)": "square(a + b)",
    "a ** 2": "a * a",
    "a ** -1": "1 / a",
    "exp(a) ** 5": "exp(a) ** 5",
    "a ** 0.5": "a ** 0.5",
    "(-a) ** 0.5": "(-a) ** 0.5",
    "a ** b": "a ** b",
    "conj(conj(a))": "a",
    "conj(2 * conj(a))": "2 * a",
    "where(a > 0, b, b)": "b",
    "where(a > 0, where(a > 0, a, b), c)": "where(a > 0, a, c)",
    "a if a > 0 else 0": "where(a > 0, a, 0)",
    "a > 0 and not b < 1": "logical_and(a > 0, logical_not(b < 1))",
    "(a < b) & (b < c)": "(a < b) & (b < c)",
    "a * 1e20 + inf": "1e+20 * a + inf",
    "add(a, b, alpha=2)": "add(a, b, alpha=2)",
    "2 + a * b + 3": "5 + a * b",
}


@pytest.mark.parametrize("text", SIMPLE)
def test_simple_text(text: str, callees: Callees) -> None:
    assert formula_text(read(text, callees)) == SIMPLE[text]


def test_a_value_keeps_what_may_be_nan(callees: Callees) -> None:
    """The author's a / a is NaN at zero, and 0 * a at infinity."""
    assert formula_text(read("a / a", callees)) == "a / a"
    assert formula_text(read("a * 0", callees)) == "0 * a"
    assert formula_text(read("where(a > 0, 0, b) * c", callees)) == "c * where(a > 0, 0, b)"
    assert formula_text(read("a / a", callees, derivative=True)) == "1"
    assert formula_text(read("a * 0", callees, derivative=True)) == "0"


def test_equal_however_it_is_written(callees: Callees) -> None:
    assert read("a * (b + 2 * c)", callees) == read("(c * 2 + b) * a", callees)
    assert hash(read("a * b", callees)) == hash(read("b * a", callees))
    assert read("a - b", callees) != read("b - a", callees)


def test_factors_of_all_terms_are_taken_out(callees: Callees) -> None:
    cases = {
        "exp(a) + a * (1 - exp(a)) * exp(a)": "exp(a) * (1 + a * (1 - exp(a)))",
        "0.5 * a + 0.5": "0.5 * (a + 1)",
        "2 * a * b + 4 * a * c": "2 * a * (b + 2 * c)",
        "-a - b": "-(a + b)",
        "a / c + b / c": "(a + b) / c",
        "a + b": "a + b",
        "a * 0.3 + 0.7 * b": "0.3 * a + 0.7 * b",
    }
    for text, wanted in cases.items():
        assert formula_text(factored(read(text, callees))) == wanted


def test_conjugates_go_outside(callees: Callees) -> None:
    cases = {"a * b": "conj(a * b)", "2 / a": "2 / conj(a)", "a - 1": "conj(a - 1)", "3": "3", "-conj(a)": "-a"}
    for text, wanted in cases.items():
        assert formula_text(conjugate(read(text, callees))) == wanted


def test_the_result_is_found_in_powers(callees: Callees) -> None:
    def text(derivative: str, value: str) -> str:
        return formula_text(replaced(read(derivative, callees), read(value, callees), Variable("result")))

    assert text("exp(2 * a) * 2", "exp(a * 2)") == "2 * result"
    assert text("-0.5 / (sqrt(a) * a * sqrt(a) * sqrt(a))", "1 / sqrt(a)") == "-0.5 * result * result * result / a"
    assert text("1 / (1 + a * b)", "a * b") == "1 / (1 + result)"
    assert text("a * a", "a * b") == "a * a"


def test_the_logistic_function_is_recognised(callees: Callees) -> None:
    def text(formula: str) -> str:
        return formula_text(with_logistic(read(formula, callees), "sigmoid"))

    assert text("exp(a) / (1 + exp(a)) * b") == "b * sigmoid(a)"
    assert text("exp(a) / (2 + exp(a))") == "exp(a) / (2 + exp(a))"
    assert text("exp(a)") == "exp(a)"


def test_factors_go_into_chosen_derivatives() -> None:
    """Nothing is multiplied by zero: what is not chosen may be infinite."""
    from codegen.algebra.simplify import choice

    test, a, b = Variable("test"), Variable("a"), Variable("b")
    zero = total(())
    left = choice(test, ONE, zero, by_element=True, derivative=True)
    right = choice(test, zero, a, by_element=True, derivative=True)
    assert formula_text(product(b, left, derivative=True)) == "where(test, b, 0)"
    assert formula_text(total((left, product(b, right, derivative=True)), derivative=True)) == "where(test, 1, b * a)"
    assert formula_text(powers([(b, 2), (b, -3)], derivative=True)) == "1 / b"


# ---- random formulas


def random_text(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.15:
        return rng.choice([*NAMES, "a", "b", "2", "3", "0.5", "-1", "1"])
    kind = rng.choice(["+", "-", "*", "*", "/", "neg", "exp", "tanh", "square", "**", "where", "if", "abs"])
    left, right = random_text(rng, depth - 1), random_text(rng, depth - 1)
    tensor = rng.choice(NAMES)
    match kind:
        case "neg":
            return f"-({left})"
        case "exp" | "tanh" | "square" | "abs":
            return f"{kind}({tensor} + {left})"
        case "**":
            return f"({tensor} * ({left})) ** {rng.choice([-2, -1, 2, 3, 4])}"
        case "where":
            return f"where({tensor} > {rng.choice(NAMES)}, {tensor} * ({left}), {right})"
        case "if":
            return f"({tensor} + ({left}) if {tensor} < 0.3 else {right})"
    return f"(({tensor} * ({left})) {kind} ({right}))"


def evaluated(text: str, values: dict[str, np.ndarray]) -> np.ndarray:
    functions = {name: getattr(np, name) for name in ("exp", "tanh", "square", "where", "abs", "conj")}
    with np.errstate(all="ignore"):
        return np.asarray(eval(elementwise(text), {**functions, **values}))


def elementwise(text: str) -> str:
    """``a if test else b`` of arrays."""
    import ast

    class Choose(ast.NodeTransformer):
        def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
            parts = [self.visit(part) for part in (node.test, node.body, node.orelse)]
            return ast.Call(ast.Name("where", ast.Load()), parts, [])

    return ast.unparse(ast.fix_missing_locations(Choose().visit(ast.parse(text, mode="eval"))))


def agree(before: np.ndarray, after: np.ndarray) -> bool:
    """A number stays the same number; NaN may become anything."""
    defined = ~np.isnan(before)
    before, after = np.broadcast_arrays(
        before[defined] if before.ndim else before, after[defined] if after.ndim else after
    )
    return bool(
        np.allclose(before, after, rtol=1e-6, atol=1e-9 * max(1, np.abs(before[np.isfinite(before)]).max(initial=0)))
    )


@pytest.mark.parametrize("seed", range(300))
def test_random_formulas_keep_their_value(seed: int, callees: Callees) -> None:
    rng = random.Random(seed)
    text = "a + " + random_text(rng, 4)
    values = {name: np.array([rng.uniform(-2, 2) for _ in range(6)]) for name in NAMES}
    before = np.broadcast_to(evaluated(text, values), 6)
    for derivative in (False, True):
        simple = formula_text(read(text, callees, derivative=derivative))
        after = np.broadcast_to(evaluated(simple, values), 6)
        assert agree(before, after), simple
    assert formula_text(read(simple, callees)) == simple or derivative


@pytest.mark.parametrize("seed", range(200))
def test_special_values_of_random_formulas(seed: int, callees: Callees) -> None:
    """Zeros, infinities and NaN: a value keeps all but NaN of no NaN, and stays NaN where an input is."""
    rng = random.Random(1000 + seed)
    text = "a + " + random_text(rng, 3)
    points = [0.0, 1.0, -2.0, math.inf, -math.inf]
    values = {name: np.array([rng.choice(points) for _ in range(12)]) for name in NAMES}
    simple = formula_text(read(text, callees))
    before, after = (np.broadcast_to(evaluated(t, values), 12) for t in (text, simple))
    assert agree(before, after), simple
    values["a"] = np.full(12, math.nan)
    before, after = (np.broadcast_to(evaluated(t, values), 12) for t in (text, simple))
    assert np.isnan(after[np.isnan(before)]).all(), simple


@pytest.mark.parametrize("seed", range(100))
def test_complex_random_formulas(seed: int, callees: Callees) -> None:
    rng = random.Random(2000 + seed)
    text = (
        "conj(a * ("
        + " - ".join(f"({t}) * conj({n})" for n in NAMES for t in [f"{n} / {rng.choice(NAMES)} + exp({n})"])
        + "))"
    )
    values = {name: np.array([complex(rng.uniform(-2, 2), rng.uniform(-2, 2)) for _ in range(4)]) for name in NAMES}
    for derivative in (False, True):
        simple = formula_text(read(text, callees, derivative=derivative))
        assert np.allclose(evaluated(text, values), evaluated(simple, values)), simple
