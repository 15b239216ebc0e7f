"""Formulas that entries leave out: what is derived, from which formulas, and what cannot be."""

import pytest
from own_table import TEXT, load_changed, table_beside
from small_table import complete, op_with

from codegen.model import Backward, Op
from codegen.spec.errors import SpecErrors


def derived(forward: str, signature: str = "f(Tensor self) -> Tensor", more: str = "", ops: str = "") -> Op:
    """An entry without formulas."""
    return table_beside(ops + complete(f"{signature}\n  forward: pointwise({forward})\n{more}")).ops[-1]


def backward_of(op: Op) -> Backward:
    backward = op.variants[0].backward
    assert backward is not None
    return backward


def texts(op: Op) -> dict[str, str]:
    return {g.inputs[0]: g.formula.text for g in backward_of(op).gradients}


REAL = "  complex: false\n"
CASES = {
    "self * self": "2 * grad * conj(self)",
    "self ** 3": "3 * grad * conj(self * self)",
    "self ** -1.5": "-1.5 * grad * conj(self ** -2.5)",
    "1 / sqrt(self)": "-0.5 * grad * conj(result * result * result)",
    "exp(2 * self) + 1": "2 * grad * conj(exp(2 * self))",
    "exp(-self ** 2 / 2)": "-grad * conj(self * result)",
    "tanh(exp(self))": "grad * conj(exp(self) * (1 - result * result))",
    "self * sigmoid(self)": "grad * conj(sigmoid(self) * (1 + self * (1 - sigmoid(self))))",
    "log1p(exp(self))": "grad * conj(sigmoid(self))",
    "log(self) / 3": "grad / conj(self) / 3",
    "cos(self) * sin(self)": "grad * conj(square(cos(self)) - square(sin(self)))",
}


@pytest.mark.parametrize("forward", CASES)
def test_derived_text(forward: str) -> None:
    assert texts(derived(forward)) == {"self": CASES[forward]}


def test_real_ops_need_no_conjugates() -> None:
    assert texts(derived("self * conj(self)", more=REAL)) == {"self": "2 * grad * self"}
    assert texts(derived("erf(2 * self)", more=REAL)) == {"self": "2.256758334191025 * grad * exp(-4 * self * self)"}
    assert texts(derived("sqrt(abs(self))", more=REAL)) == {"self": "0.5 * grad * sgn(self) / sqrt(abs(self))"}


def test_several_inputs() -> None:
    lerp = derived("self + weight * (end - self)", "f(Tensor self, Tensor end, Tensor|Scalar weight) -> Tensor")
    assert texts(lerp) == {
        "self": "grad * conj(1 - weight)",
        "end": "grad * conj(weight)",
        "weight": "grad * conj(end - self)",
    }
    scalar = lerp.variants[1].backward
    assert scalar is not None and scalar.differentiable_inputs == ("self", "end")


def test_only_what_is_left_out_is_derived() -> None:
    op = derived("self * other", "f(Tensor self, Tensor other) -> Tensor", "  self: conj(other) * grad\n")
    assert texts(op) == {"self": "conj(other) * grad", "other": "grad * conj(self)"}
    assert [g.formula.is_derived for g in backward_of(op).gradients] == [False, True]


def test_an_input_may_still_have_no_gradient() -> None:
    op = derived("self * other", "f(Tensor self, Tensor other) -> Tensor", "  other: non_differentiable\n")
    assert texts(op) == {"self": "grad * conj(other)"}


def test_choices_stay_outside() -> None:
    """A mask would multiply what was not chosen by zero, and make NaN of an infinity."""
    signature = "f(Tensor self, Scalar p) -> Tensor"
    elu = derived("where(self > 0, self, p * expm1(self))", signature, REAL)
    assert texts(elu) == {"self": "where(self > 0, grad, grad * p * (expm1(self) + 1))"}
    shrink = derived("self - p * sign(self) if abs(self) > p else 0", signature, REAL)
    assert texts(shrink) == {"self": "where(abs(self) > p, grad, 0)"}
    gated = derived("log(self) * where(self > 1, self, 1)", more=REAL)
    assert "where(self > 1, log(self), 0)" in texts(gated)["self"]


def test_a_choice_by_a_number() -> None:
    op = derived("self + other if p == 1 else self + p * other", "f(Tensor self, Tensor other, Scalar p) -> Tensor")
    assert texts(op) == {"self": "grad", "other": "grad if p == 1 else grad * conj(p)"}


def test_tie_policy_carries_over() -> None:
    assert texts(derived("clamp(3 * self, -1, 1)", more=REAL)) == {
        "self": "where((3 * self >= -1) & (3 * self <= 1), 3 * grad, 0)"
    }
    assert texts(derived("relu(self) + 1", more=REAL)) == {"self": "where(relu(self) <= 0, 0, grad)"}
    assert texts(derived("maximum(self, -self)", more=REAL)) == {
        "self": "where(self == -self, 0, grad * (where(self < -self, 0, 1) + where(self > -self, 0, -1)))"
    }


def test_comparisons_have_no_derivative() -> None:
    assert texts(derived("self * (self > 1)")) == {"self": "grad * (self > 1)"}


def test_users_ops_are_derived_through() -> None:
    """With a formula of their own, or without."""
    given = "cube(Tensor self) -> Tensor\n  forward: ufunc(positive)\n  self: grad * conj(tripled(self))"
    without = "tripled(Tensor self) -> Tensor\n  forward: pointwise(3 * self * self)"
    op = derived("cube(exp(self)) + tripled(self)", ops=complete(given) + complete(without))
    assert texts(op) == {"self": "grad * conj(exp(self) * tripled(exp(self)) + 6 * self)"}


def test_an_entry_of_the_own_table() -> None:
    entry = complete("f(Tensor self) -> Tensor\n  forward: pointwise(tanh(erf(self)))\n  complex: false")
    op = load_changed(TEXT + entry).ops[-1]
    assert texts(op) == {"self": "1.1283791670955126 * grad * exp(-self * self) * (1 - result * result)"}


def test_the_result_serves_where_it_is_cheaper() -> None:
    assert texts(derived("exp(self * 2)")) == {"self": "2 * grad * conj(result)"}
    assert backward_of(derived("exp(self * 2)")).saving == "saves result: exp need not be computed again"
    silu = backward_of(derived("self * sigmoid(self)"))
    assert [saved.name for saved in silu.saved] == ["self"]


def test_every_variant_resolves_the_text() -> None:
    op = derived("self - alpha * other", "f(Tensor|Scalar self, Tensor|Scalar other, *, Scalar alpha) -> Tensor")
    inputs = [v.backward.differentiable_inputs for v in op.variants if v.backward]
    assert inputs == [("self", "other"), ("self",), ("other",)]


def test_without_ops_of_the_table_the_text_names_none() -> None:
    """The small table has no `square` and no `sigmoid`."""
    op = op_with("f(Tensor self) -> Tensor\n  forward: pointwise(exp(self) * exp(self) * self)")
    assert op.variants[0].backward is not None
    text = op.variants[0].backward.gradients[0].formula.text
    assert "square" not in text and "**" not in text


# ---- what cannot be derived


def why_not(forward: str, signature: str = "f(Tensor self) -> Tensor", more: str = "") -> str:
    with pytest.raises(SpecErrors) as raised:
        derived(forward, signature, more)
    (error,) = raised.value.errors
    assert error.position.line in (2, 3)
    return f"{error.position.column}: {error.problem}. {error.hint}"


def test_a_formula_that_is_written_by_hand_cannot_be_read() -> None:
    signature = "f(Tensor self, Tensor other) -> Tensor"
    assert why_not("1 + self ** other", signature, "  other: non_differentiable\n") == (
        "31: no formula for input 'self', and none can be derived: the formula of pow hands 'grad' to "
        "pow_backward_self. Write the formula by hand: 'self: ...'."
    )


def test_no_complex_derivative() -> None:
    assert why_not("2 * abs(self)") == (
        "26: no formula for input 'self', and none can be derived: abs has no complex derivative. "
        "If the op is for real numbers, say 'complex: false'. Write the formula by hand: 'self: ...'."
    )
    assert "conj has no complex derivative" in why_not("self * conj(self)")


def test_no_derivative_at_all() -> None:
    assert why_not("where(self > 0, 1.0 * other, 0)", "f(Tensor self, Tensor other) -> Tensor", REAL) == (
        "9: no formula for input 'self', and its derivative is zero everywhere. "
        "If that is meant, write 'self: non_differentiable'."
    )


def test_a_mistake_in_a_formula_is_told_once() -> None:
    """Not again for each formula that would be derived from it."""
    text = TEXT.replace("self: grad * conj(result)", "self: grad * conj(reslt)")
    entry = complete("f(Tensor self) -> Tensor\n  forward: pointwise(exp(self))")
    with pytest.raises(SpecErrors) as raised:
        load_changed(text + entry)
    (error,) = raised.value.errors
    assert error.op == "exp"
