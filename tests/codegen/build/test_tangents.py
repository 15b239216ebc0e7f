"""Forward mode as it is read from entries, or derived from the formulas of their gradients."""

import pytest
from small_table import OPS, complete

from codegen.build.build import load_table
from codegen.formula.printing import CythonPrinter
from codegen.model import Tangents


def tangents_of(entry: str, variant: int = 0) -> Tangents:
    """Forward mode of the entry, added to the small table."""
    table = load_table(f"{OPS}\nextremes:\n{complete(entry)}")
    found = table.ops[-1].variants[variant].tangents
    assert found is not None
    return found


def terms_of(found: Tangents) -> list[tuple[tuple[str, ...], str]]:
    """Tangents that each term reads, and its text."""
    return [(term.reads, CythonPrinter().text(term.expr)) for output in found.outputs for term in output.terms]


def test_an_elementwise_op_uses_its_gradients() -> None:
    found = tangents_of("f(Tensor self) -> Tensor\n  forward: ufunc(tanh)\n  self: grad * conj(result)")
    assert (found.rule, found.declared) == ("auto_element_wise", False)
    assert terms_of(found) == [(("self",), "op_mul_tensor(self_t, result)")]


def test_each_input_has_a_term_of_its_own() -> None:
    found = tangents_of("f(Tensor self, Tensor other) -> Tensor\n  forward: ufunc(add)\n  self: grad\n  other: -grad")
    assert terms_of(found) == [(("self",), "self_t"), (("other",), "op_neg(other_t)")]


def test_what_is_not_holomorphic_is_conjugated_twice() -> None:
    found = tangents_of("f(Tensor self) -> Tensor\n  forward: ufunc(tanh)\n  self: grad.sum(0)")
    assert terms_of(found) == [(("self",), "op_conj(op_sum_dim(op_conj(self_t), (0,), False))")]


def test_a_real_op_needs_no_conjugates() -> None:
    entry = "f(Tensor self) -> Tensor\n  forward: ufunc(tanh)\n  self: conj(grad).sum(0)\n  complex: false"
    assert terms_of(tangents_of(entry)) == [(("self",), "op_sum_dim(self_t, (0,), False)")]


AFFINE = "f({} self, int dim) -> {}\n  forward: array(self + dim)\n  self: grad.expand(self.shape)"


def test_a_view_whose_gradient_reads_no_value_is_linear() -> None:
    found = tangents_of(AFFINE.format("Tensor(a)", "Tensor(a)"))
    assert found.rule == "auto_linear"
    assert terms_of(found) == [(("self",), "op_f(self_t, dim)")]


def test_of_an_array_function_that_is_not_derived() -> None:
    """The gradient of x + 1 reads no value either."""
    assert tangents_of(AFFINE.format("Tensor", "Tensor")).rule == "transposed"


LINEAR = """f(Tensor self, Tensor|Scalar other) -> Tensor
  forward: array(self)
  self: grad
  other: grad
  result: auto_linear"""


def test_a_linear_op_is_applied_to_all_tangents() -> None:
    assert terms_of(tangents_of(LINEAR)) == [(("self", "other"), "op_f_tensor(self_t, other_t)")]


def test_a_number_has_the_tangent_zero() -> None:
    assert terms_of(tangents_of(LINEAR, variant=1)) == [(("self",), "op_f_scalar(self_t, 0)")]


PRODUCT = """f(Tensor self, Tensor|Scalar other) -> Tensor
  forward: array(self)
  self: grad * other
  other: grad * self"""
LINEAR_IN_EACH = f"{PRODUCT}\n  result: auto_linear_in_each"


def test_an_op_that_is_linear_in_each_input() -> None:
    found = tangents_of(LINEAR_IN_EACH)
    assert found.rule == "auto_linear_in_each"
    assert terms_of(found) == [
        (("self",), "op_f_tensor(self_t, other)"),
        (("other",), "op_f_tensor(self, other_t)"),
    ]


def test_a_number_that_a_gradient_reads_is_no_zero() -> None:
    """Zero in its place would lose what it multiplies."""
    assert terms_of(tangents_of(LINEAR_IN_EACH, variant=1)) == [(("self",), "op_f_scalar(self_t, other)")]


def test_what_is_left_is_transposed() -> None:
    found = tangents_of("f(Tensor self) -> Tensor\n  forward: array(self)\n  self: grad * self")
    assert (found.rule, found.outputs) == ("transposed", ())


def test_an_entry_may_choose_its_rule() -> None:
    entry = "f(Tensor self) -> Tensor\n  forward: array(self)\n  self: grad * self\n  result: auto_element_wise"
    found = tangents_of(entry)
    assert (found.rule, found.declared) == ("auto_element_wise", True)
    assert terms_of(found) == [(("self",), "op_mul_tensor(self_t, self)")]


def test_a_formula_is_cut_into_its_terms() -> None:
    entry = f"{PRODUCT}\n  result: self_t * other - (other_t * self - self_t)"
    found = tangents_of(entry)
    assert (found.rule, found.text) == ("formula", "self_t * other - (other_t * self - self_t)")
    assert terms_of(found) == [
        (("self",), "op_mul_tensor(self_t, other)"),
        (("other",), "op_neg(op_mul_tensor(other_t, self))"),
        (("self",), "self_t"),
    ]


def test_terms_of_numbers_are_left_out() -> None:
    entry = f"{PRODUCT}\n  result: self_t * other + other_t * self"
    assert terms_of(tangents_of(entry, variant=1)) == [(("self",), "op_mul_scalar(self_t, other)")]


TWO = """f(Tensor self) -> (Tensor large, Tensor small)
  forward: array((self, self))
  self: grad_large + grad_small"""


@pytest.mark.parametrize("lines", ["large: self_t\n  small: -self_t", "large, small: (self_t, -self_t)"])
def test_several_results(lines: str) -> None:
    found = tangents_of(f"{TWO}\n  {lines}")
    assert [output.output for output in found.outputs] == [0, 1]
    assert terms_of(found) == [(("self",), "self_t"), (("self",), "op_neg(self_t)")]
