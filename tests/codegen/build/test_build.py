"""From raw entries to the frozen table: variants, nodes, what they keep, faces."""

import dataclasses
from pathlib import Path

import pytest
from own_table import TEXT, load_changed, own_table
from small_table import op_with, show, table_with

from codegen.model import Backward, SavedTensor, SavedValue
from codegen.spec.errors import SpecErrors
from codegen.spec.vocabulary import scan_functions


def backward_of(entry: str, variant: int = 0) -> Backward:
    backward = op_with(entry).variants[variant].backward
    assert backward is not None
    return backward


# ---- variants


def test_a_union_makes_two_variants() -> None:
    tensor, scalar = table_with().by_base["mul"][0].variants
    assert (tensor.c_entry, scalar.c_entry) == ("op_mul_tensor", "op_mul_scalar")
    assert str(scalar.signature) == "mul(Tensor self, Scalar other) -> Tensor"
    assert (tensor.scalar_positions, scalar.scalar_positions) == ((), ("other",))


def test_two_unions_make_three_variants() -> None:
    """Numbers alone are Python's business."""
    op = table_with().by_base["sub"][0]
    assert [v.c_entry for v in op.variants] == ["op_sub_tensor_tensor", "op_sub_tensor_scalar", "op_sub_scalar_tensor"]
    names = [v.backward.class_name for v in op.variants if v.backward]
    assert names == ["SubBackward0", "SubTensorScalarBackward0", "SubScalarTensorBackward0"]
    assert {v.backward.node_name for v in op.variants if v.backward} == {"SubBackward0"}


def test_a_tensor_outside_the_unions_allows_numbers_alone() -> None:
    op = table_with().by_base["where"][0]
    assert [v.c_entry for v in op.variants][-1] == "op_where_scalar_scalar"
    assert op.variants[-1].backward is None


def test_overloads_are_numbered_in_file_order() -> None:
    plain, dim = table_with().by_base["sum"]
    assert (plain.variants[0].c_entry, dim.variants[0].c_entry) == ("op_sum", "op_sum_dim")
    assert plain.variants[0].backward is not None and dim.variants[0].backward is not None
    assert plain.variants[0].backward.class_name == "SumBackward0"
    assert dim.variants[0].backward.class_name == "SumBackward1"


def test_names_of_classes() -> None:
    assert backward_of("log_softmax(Tensor self) -> Tensor\n  forward: array(self)\n  self: grad").class_name == (
        "LogSoftmaxBackward0"
    )
    assert backward_of("fill_(Tensor(a!) self) -> Tensor(a!)\n  forward: array(self)\n  self: grad").class_name == (
        "FillBackward0"
    )


# ---- what a node keeps


def test_a_tensor_is_kept_for_those_who_read_it() -> None:
    backward = table_with().by_base["mul"][0].variants[0].backward
    assert backward is not None
    assert backward.differentiable_inputs == ("self", "other")
    assert backward.saved == (
        SavedTensor("self", 0, is_output=False, is_list=False, optional=False, needed_by=(1,), edges=(1,)),
        SavedTensor("other", 1, is_output=False, is_list=False, optional=False, needed_by=(0,), edges=(0,)),
    )
    assert backward.values == ()


def test_a_number_is_kept_as_a_value() -> None:
    backward = table_with().by_base["mul"][0].variants[1].backward
    assert backward is not None
    assert (backward.saved, backward.differentiable_inputs) == ((), ("self",))
    assert backward.values == (
        SavedValue("other", 0, owner=None, attribute=None, needed_by=(0,), edges=(0,), kind="operand"),
    )


def test_a_shape_is_kept_as_a_shape() -> None:
    backward = table_with().by_base["sum"][0].variants[0].backward
    assert backward is not None
    assert backward.saved == ()
    assert backward.values == (
        SavedValue("self_shape", 0, owner="self", attribute="shape", needed_by=(0,), edges=(0,)),
    )


def test_what_is_read_twice_is_kept_once() -> None:
    backward = backward_of(
        "f(Tensor self, Tensor other, int n) -> Tensor\n  forward: array(self)\n"
        "  self: (grad * result * n).expand(self.shape)\n"
        "  other: (grad * result * self.ndim * n).expand(self.shape)"
    )
    assert [(s.name, s.is_output, s.needed_by) for s in backward.saved] == [("result", True, (0, 1))]
    assert [(v.name, v.slot, v.needed_by) for v in backward.values] == [
        ("self_shape", 0, (0, 1)), ("self_ndim", 1, (1,)), ("n", 2, (0, 1))
    ]  # fmt: skip


def test_nothing_is_kept_for_an_input_without_gradient() -> None:
    backward = backward_of(
        "f(Tensor self, Tensor other) -> Tensor\n  forward: array(self)\n"
        "  self: grad\n  other: non_differentiable"
    )  # fmt: skip
    assert (backward.differentiable_inputs, backward.saved, backward.values) == (("self",), (), ())


def test_an_optional_tensor() -> None:
    backward = backward_of(
        "f(Tensor self, Tensor? weight=None) -> Tensor\n  forward: array(self)\n"
        "  self: grad if weight is None else grad * weight\n  weight: grad * self"
    )
    assert [(s.name, s.optional, s.needed_by) for s in backward.saved] == [
        ("self", False, (1,)),
        ("weight", True, (0,)),
    ]
    assert [(v.name, v.attribute) for v in backward.values] == [("weight_is_none", "is_none")]


def test_a_list_of_tensors() -> None:
    backward = backward_of(
        "f(Tensor[] tensors, int n) -> Tensor\n  forward: array(np.zeros(n))\n"
        "  tensors: cat_backward(grad * tensors[0], tensors.shape, n)"
    )
    assert [(v.name, v.slot) for v in backward.values] == [("tensors_shape", 0), ("n", 1)]
    assert backward.saved == ()
    assert backward.saved_lists == (
        SavedTensor("tensors", 2, is_output=False, is_list=True, optional=False, needed_by=(0,), edges=(0,)),
    )
    assert backward.n_values == 3


def test_several_results() -> None:
    backward = table_with().by_base["max"][0].variants[0].backward
    assert backward is not None
    assert backward.gradients[0].formula.gradients == {0}
    assert [(s.name, s.slot, s.is_output) for s in backward.saved] == [("indices", 0, True)]


def test_results_as_a_list() -> None:
    op = table_with().by_base["unbind"][0]
    assert op.variants[0].backward is not None
    assert op.variants[0].backward.gradients[0].formula.uses_all_gradients
    assert (op.variants[0].is_view, op.variants[0].multi_view) == (True, True)


# ---- joint formulas

JOINT = "f(Tensor self, Tensor|Scalar other) -> Tensor\n  forward: ufunc(multiply)\n  {}: {}"


def test_a_joint_formula_has_several_edges() -> None:
    (gradient,) = backward_of(JOINT.format("other, self", "(grad * self, grad)")).gradients
    assert (gradient.inputs, gradient.edges, gradient.is_joint) == (("other", "self"), (1, 0), True)


def test_a_joint_formula_loses_the_part_of_a_number() -> None:
    backward = backward_of(JOINT.format("other, self", "(grad * self, grad * 2)"), variant=1)
    (gradient,) = backward.gradients
    assert (gradient.inputs, gradient.edges) == (("self",), (0,))
    assert show(gradient.formula.expr) == "op_mul_scalar(grad0, 2)"
    assert backward.saved == ()


def test_gradients_come_in_the_order_of_their_inputs() -> None:
    backward = backward_of(
        "f(Tensor self, Tensor other) -> Tensor\n  forward: array(self)\n  other: -grad\n  self: grad"
    )
    assert [g.inputs for g in backward.gradients] == [("self",), ("other",)]


# ---- forward


def test_forwards() -> None:
    table = table_with()
    ufunc = table.by_base["exp"][0].variants[0].forward
    assert (ufunc.kind, ufunc.ufunc, ufunc.is_elementwise) == ("ufunc", "exp", True)
    pointwise = table.by_base["add"][0].variants[1].forward
    assert pointwise.formula is not None
    assert show(pointwise.formula.expr) == (
        "(op_sub_tensor_scalar(self, neg other) if (alpha == 1) else op_sub_tensor_scalar(self, (neg alpha * other)))"
    )


def test_array_expressions_that_need_scipy() -> None:
    entry = "f(Tensor self{}) -> Tensor\n  forward: array({})\n  self: grad"
    assert op_with(entry.format("", "scipy.special.j0(self) + scipy.linalg.norm(self)")).needs_scipy
    assert not op_with(entry.format("", "np.exp(self)")).needs_scipy
    assert not op_with(entry.format(", int scipy", "self * scipy")).needs_scipy


def test_array_functions_and_their_modules() -> None:
    entry = "f(Tensor self, int[] dims) -> Tensor\n  forward: array(flip_of(self, [d for d in dims]))\n  self: grad"
    forward = op_with(entry, functions={"flip_of": "shapes", "other": "x"}).variants[0].forward
    assert forward.functions == (("flip_of", "shapes"),)
    assert forward.names == {"self", "dims"}
    assert forward.text == "flip_of(self, [d for d in dims])"


def test_composites_have_no_node() -> None:
    entry = "f(Tensor self, Tensor other) -> Tensor\n  forward: composite((self * other).sum())"
    op = op_with(entry)
    assert op.is_composite and op.variants[0].backward is None
    assert op.variants[0].forward.formula is not None
    assert show(op.variants[0].forward.formula.expr) == "op_sum(op_mul_tensor(self, other))"


def test_functions_are_found_in_the_text_of_modules(tmp_path: Path) -> None:
    (tmp_path / "shapes.pyx").write_text("cpdef object flip_of(a):\n    pass\ncdef int hidden(x):\n    pass\n")
    (tmp_path / "more.py").write_text("def roll_of(a):\n    pass\ndef _own(a):\n    pass\n")
    assert scan_functions(tmp_path) == {"roll_of": "more", "flip_of": "shapes"}


# ---- faces


def test_fields_of_an_op() -> None:
    op = table_with().by_base["mul"][0]
    assert (op.family, op.base, op.overload, op.doc) == ("arithmetic", "mul", "", "Product.")
    assert op.name == "mul(Tensor self, Tensor|Scalar other) -> Tensor"
    assert op.forms == {"function", "method", "inplace", "out"}
    assert op.operators == (("__mul__", "binary"), ("__rmul__", "reflected"), ("__imul__", "inplace"))
    assert op.aliases == ("multiply",)
    assert op.samples == ({"self": "real(3, 4)", "other": "real(3, 4)"}, {"self": "real(3, 4)", "other": "2.5"})
    assert op.supports_complex and op.output_differentiability == (True,)


def test_default_forms() -> None:
    assert op_with("f(Tensor self) -> Tensor\n  forward: composite(self)").forms == {"function", "method"}
    assert op_with("f(Tensor[] xs) -> Tensor\n  forward: composite(cat(xs))").forms == {"function"}


def test_an_op_for_formulas_only() -> None:
    assert (
        op_with("f(Tensor self) -> Tensor\n  forward: array(self)\n  self: grad\n  variants: []").forms == frozenset()
    )


def test_views_and_writers() -> None:
    table = table_with("zero_(Tensor(a!) self) -> Tensor(a!)\n  forward: array(0)\n  self: grad * 0")
    assert table.by_base["expand"][0].is_view
    zero = table.by_base["zero_"][0].variants[0]
    assert (zero.is_view, [a.name for a in zero.written]) == (False, ["self"])


def test_table() -> None:
    table = table_with()
    assert table.families == ("arithmetic", "exponential", "comparison", "reduce", "shape")
    assert [op.base for op in table.of_family("shape")] == ["expand", "mT", "cat", "unbind"]
    assert table.variant("op_mul_scalar").signature.base == "mul"
    assert len(table.variants) == sum(len(op.variants) for op in table.ops)


def test_the_model_is_frozen() -> None:
    op = table_with().ops[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        op.doc = "other"  # type: ignore[misc]


def test_equal_texts_give_equal_tables() -> None:
    assert table_with() == table_with()


# ---- the real table


def test_the_table_of_the_project_loads() -> None:
    assert len(own_table().ops) > 100


def test_a_mistake_in_the_table_of_the_project_is_found() -> None:
    text = TEXT.replace("self: grad * conj(other)", "self: grad * conj(othr)")
    with pytest.raises(SpecErrors) as raised:
        load_changed(text)
    (error,) = raised.value.errors
    assert error.op == "mul"
    assert str(error).endswith(
        "mul: formula for 'self' uses 'othr', which is not in scope. "
        "In scope: grad, other, result, self. Did you mean 'other'?"
    )
