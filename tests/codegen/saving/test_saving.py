"""Values that nodes keep: ways to write a formula, their prices, whose choice it is, and the reasons that are given."""

from pathlib import Path

import pytest
from own_table import own_table, table_beside
from small_table import OPS, complete

from codegen.__main__ import main
from codegen.build.build import load_table
from codegen.model import Backward, Forward, Op, Table
from codegen.saving.cost import Prices
from codegen.saving.explanation import notes
from codegen.views.table_rows import op_rows
from codegen.write.render import render_all


def own_op(base: str) -> Op:
    return next(op for op in own_table().ops if op.base == base)


def table_with(signature: str, *lines: str) -> Table:
    return table_beside(complete("\n  ".join((signature, *lines))))


def op_of(*lines: str) -> Op:
    return table_with("f(Tensor self) -> Tensor", *lines).ops[-1]


def node_of(op: Op, variant: int = 0) -> Backward:
    backward = op.variants[variant].backward
    assert backward is not None
    return backward


def kept(op: Op, variant: int = 0) -> list[str]:
    return [saved.name for saved in node_of(op, variant).saved]


def formula(op: Op) -> str:
    return node_of(op).gradients[0].formula.text


# ---- ways of a formula that somebody wrote


OWN_VALUE = {
    "a function": ("f(Tensor self) -> Tensor", "ufunc(exp)", "grad * conj(f(self))"),
    "a method": ("f(Tensor self) -> Tensor", "ufunc(exp)", "grad * conj(self.f())"),
    "the forward": ("f(Tensor self) -> Tensor", "pointwise(exp(2 * self))", "2 * grad * conj(exp(2 * self))"),
    "the forward otherwise": ("f(Tensor self) -> Tensor", "pointwise(exp(2 * self))", "2 * grad * conj(exp(self * 2))"),
    "an array function": ("f(Tensor self, int dim) -> Tensor", "array(np.exp(self) + dim)", "grad * f(self, dim)"),
    "a named argument": (
        "f(Tensor self, *, Scalar p=2) -> Tensor", "pointwise(exp(p * self))", "grad * conj(p * f(self, p=p))",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OWN_VALUE)
def test_what_the_op_computes_is_its_result(name: str) -> None:
    signature, forward, text = OWN_VALUE[name]
    lines = (f"forward: {forward}", f"self: {text}")
    assert kept(table_with(signature, *lines).ops[-1]) == ["self"]
    rewritten = table_with(signature, *lines, "saves: [result]").ops[-1]
    assert kept(rewritten) == ["result"]
    assert "result" in formula(rewritten) and "f(" not in formula(rewritten)


LIKE_IT = {
    "another argument": ("f(Tensor self, Scalar p=2) -> Tensor", "array(self**p)", "grad * f(self)"),
    "other places": ("f(Tensor self, Tensor other) -> Tensor", "array(self - other)", "grad * f(other, self)"),
    "one result of two": (
        "f(Tensor self) -> (Tensor a, Tensor b)",
        "array((self, self))",
        "grad_a * f(self).a + grad_b",
    ),
    "a view": ("f(Tensor(a) self) -> Tensor(a)", "array(self[:])", "grad * f(self)"),
}


@pytest.mark.parametrize("name", LIKE_IT)
def test_what_only_looks_like_it_is_not(name: str) -> None:
    signature, forward, text = LIKE_IT[name]
    without = ["other: non_differentiable"] if "other" in signature else []
    op = table_with(signature, f"forward: {forward}", f"self: {text}", *without).ops[-1]
    assert formula(op) == text and not node_of(op).note


def test_the_result_can_be_computed_again() -> None:
    lines = ("forward: ufunc(exp)", "self: grad * conj(result)")
    assert kept(op_of(*lines)) == ["result"]
    again = op_of(*lines, "saves: [self]")
    assert kept(again) == ["self"] and formula(again) == "grad * conj(f(self))"
    array = op_of("forward: array(np.exp(self))", "self: grad * result", "saves: [self]")
    assert kept(array) == ["self"] and formula(array) == "grad * f(self)"


def test_a_shape_is_no_reason_to_compute_anything() -> None:
    op = op_of("forward: ufunc(exp)", "self: grad.expand(result.shape) * conj(f(self))", "saves: [self]")
    assert formula(op) == "grad.expand(result.shape) * conj(f(self))"
    assert [value.name for value in node_of(op).values] == ["result_shape"]


def test_every_variant_has_a_plan_of_its_own() -> None:
    """A number costs nothing, so that the op is computed again where the other operand is one."""
    op = table_with(
        "f(Tensor|Scalar self, Tensor|Scalar other) -> Tensor",
        "forward: ufunc(true_divide)",
        "self: grad / conj(other)",
        "other: -grad * conj(f(self, other) / other)",
        "saves: [other, result]",
    ).ops[-1]
    assert [kept(op, i) for i in range(3)] == [["other", "result"], [], ["other"]]


# ---- whose choice it is


def test_a_way_that_keeps_less_is_taken() -> None:
    twice = op_of("forward: pointwise(tanh(2 * self))", "self: 2 * grad * conj(1 - result * tanh(2 * self))")
    assert formula(twice) == "2 * grad * conj(1 - result * result)"
    cheap = op_of("forward: pointwise(3 * self * self)", "self: grad * conj(3 * self + result / self)")
    assert formula(cheap) == "grad * conj(3 * self + f(self) / self)"
    assert node_of(cheap).saving == "saves self: result would be one array more"
    assert not node_of(twice).note and not node_of(cheap).note


def test_a_little_is_no_reason_to_change_what_somebody_wrote() -> None:
    """A root and some arithmetic are nearly an array."""
    text = "grad * (result / sqrt(self * self + 1))"
    op = op_of("forward: pointwise((self + sqrt(self * self + 1)) / 2)", f"self: {text}", "complex: false")
    assert formula(op) == text and not node_of(op).note
    assert node_of(op).saving == "saves self and result: f need not be computed again"


def test_a_way_that_keeps_another_tensor_is_for_the_author() -> None:
    lines = ("forward: ufunc(exp)", "self: grad * conj(f(self))")
    table = table_with("f(Tensor self) -> Tensor", *lines)
    assert kept(table.ops[-1]) == ["self"]
    assert (
        node_of(table.ops[-1]).saving == "saves self, as written: result would be cheaper, f need not be computed again"
    )
    assert notes(table) == (
        "own.yaml:2:1: f: note: saves self; result would be cheaper: f need not be computed again. "
        "Say 'saves: [result]' to have that, or 'saves: [self]' if it is meant.",
    )
    decided = table_with("f(Tensor self) -> Tensor", *lines, "saves: [self]")
    assert notes(decided) == ()
    assert node_of(decided.ops[-1]).saving == (
        "saves self, as the entry says: result would be cheaper, f need not be computed again"
    )


def test_the_note_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "table.yaml"
    path.write_text(OPS + complete("f(Tensor self) -> Tensor\n  forward: ufunc(exp)\n  self: grad * conj(f(self))\n"))
    assert main([str(path), "--output", str(tmp_path)]) == 0
    assert ": f: note: saves self; result would be cheaper: " in capsys.readouterr().err


def test_what_nobody_wrote_is_the_cheapest_unless_the_entry_says() -> None:
    assert kept(op_of("forward: pointwise(exp(self * 2))")) == ["result"]
    said = op_of("forward: pointwise(exp(self * 2))", "saves: [self]")
    assert kept(said) == ["self"] and formula(said) == "2 * grad * conj(exp(2 * self))"
    assert "result would be cheaper, exp need not be computed again" in node_of(said).saving


def test_an_entry_of_a_table_in_the_tree_decides_too() -> None:
    lines = ("f(Tensor self) -> Tensor", "forward: ufunc(exp)", "self: grad * conj(f(self))")
    assert len(notes(load_table(OPS + complete("\n  ".join(lines))))) == 1
    op = load_table(OPS + complete("\n  ".join((*lines, "saves: [result]")))).ops[-1]
    assert formula(op) == "grad * conj(result)"


# ---- prices


def test_a_cheap_step_is_computed_again_rather_than_kept() -> None:
    sgn = own_op("sgn")
    assert kept(sgn) == ["self"] and formula(sgn) == "sgn_backward(grad, self, sgn(self))"


def test_one_array_is_worth_less_than_a_function() -> None:
    pow_ = own_op("pow")
    assert kept(pow_) == ["self", "exponent", "result"]
    assert node_of(pow_).saving == "saves self, exponent and result: pow need not be computed again"


def test_prices_of_what_is_kept() -> None:
    """An op in place copies what it overwrites; its result is dear for views alone; that of a reduction is small."""
    exp = Forward("ufunc", "exp", ufunc="exp")

    def price(name: str, *, is_inplace: bool, is_reduction: bool = False) -> float:
        return Prices(exp, "op_f", ("self",), "result", is_inplace, is_reduction).of_kept(name)

    assert price("self", is_inplace=False) == price("result", is_inplace=False)
    assert price("self", is_inplace=True) > price("result", is_inplace=True) > price("result", is_inplace=False)
    assert price("result", is_inplace=False, is_reduction=True) == 0


def test_the_result_of_a_reduction_is_small() -> None:
    amax = own_op("amax")
    assert node_of(amax).saving == "saves self and result: amax need not be computed again"


# ---- reasons


def test_reasons_without_a_choice() -> None:
    reasons = {row.name.partition("(")[0]: row.saving for row in op_rows(own_table())}
    assert reasons["log"] == "saves self: the gradient needs it"
    assert reasons["maximum"] == "saves self and other: every gradient needs them"
    assert reasons["mul"] == "saves self for the gradient of other, other for the gradient of self"
    assert reasons["remainder"] == "saves self and other for the gradient of other"
    assert reasons["sum"] == "saves no tensor: the shape of self is enough"
    assert reasons["split"] == "saves no tensor: the shape and dtype of self are enough"
    assert reasons["add"] == reasons["neg"] == ""


@pytest.mark.parametrize(("base", "function"), [("exp", "exp"), ("relu", "relu"), ("rsqrt", "sqrt"), ("tanh", "tanh")])
def test_the_result_spares_a_step(base: str, function: str) -> None:
    op = own_op(base)
    assert node_of(op).saving == f"saves result: {function} need not be computed again"


def test_every_node_says_why_it_keeps_what_it_keeps() -> None:
    table = own_table()
    files = render_all(table)
    for op in table.ops:
        for variant in op.variants:
            if variant.backward is None:
                continue
            reason = variant.backward.saving
            tensors = (*variant.backward.saved, *variant.backward.saved_lists)
            assert all(saved.name in reason for saved in tensors), variant.c_entry
            assert reason or not tensors, variant.c_entry
            if reason:
                text = files[f"{op.family}.pyx"]
                node = text[text.index(f"cdef class {variant.backward.class_name}(") :].split("cdef int apply")[0]
                comment = " ".join(line.strip("# ") for line in node.splitlines())  # a long one has several lines
                assert f"{reason[0].upper()}{reason[1:]}." in comment, variant.c_entry


def test_the_own_table_has_decided_everything() -> None:
    assert notes(own_table()) == ()
