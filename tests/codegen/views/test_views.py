"""Facts that templates are given: what is saved and when, names, calls, parameters."""

import dataclasses

import pytest
from small_table import OPS, complete, op_with, table_with

from codegen.api.docs import DocItem
from codegen.api.functions import Face, make_face
from codegen.build.build import load_table
from codegen.views.entry import entry_view
from codegen.views.family import family_view
from codegen.views.model import EntryView, InplaceView, RecordView, c_type
from codegen.write.stubs import stub_view


def entry_of(entry: str, variant: int = 0) -> EntryView:
    table = table_with(entry)
    op = table.ops[-1]
    return entry_view(op, op.variants[variant], table)


def record_of(entry: str, variant: int = 0) -> RecordView:
    record = entry_of(entry, variant).record
    assert record is not None
    return record


def face_of(*entries: str) -> Face:
    table = load_table(OPS + "loss:\n" + "".join(map(complete, entries)))
    return make_face(table.by_base[table.ops[-1].base])


MUL = """
times(Tensor self, Tensor|Scalar other) -> Tensor
  forward: ufunc(multiply)
  self: grad * conj(other)
  other: grad * conj(self)
  variants: [function, method, inplace, out]
"""


# ---- declarations


@pytest.mark.parametrize(
    ("type_", "declared"),
    [
        ("Tensor", "TensorBase"),
        ("Tensor?", "TensorBase"),
        ("Tensor[]", "list"),
        ("bool", "bint"),
        ("bool?", "object"),
        ("bool[3]", "object"),
        ("Tensor?[]", "list"),
        ("int", "object"),
        ("int[]?", "object"),
        ("Scalar", "object"),
    ],
)
def test_how_arguments_are_declared(type_: str, declared: str) -> None:
    op = op_with(f"f(Tensor self, {type_} x) -> Tensor\n  forward: array(self)\n  nondifferentiable: no")
    assert c_type(op.signature.arguments[-1].type) == declared


# ---- recording


def test_a_factor_is_saved_only_for_the_other_ones_gradient() -> None:
    record = record_of(MUL)
    assert record.condition == "requires_grad_2(self, other)"
    assert [(s.edges, s.items[0].value) for s in record.before] == [((1,), "self"), ((0,), "other")]
    assert record.after == ()


def test_a_scalar_is_kept_as_a_value_without_asking() -> None:
    record = record_of(MUL, variant=1)
    assert [(s.edges, s.items[0].function, s.items[0].value) for s in record.before] == [((), "set_value", "other")]


def test_an_output_is_saved_after_it_has_its_history() -> None:
    record = record_of("e(Tensor self) -> Tensor\n  forward: ufunc(exp)\n  self: grad * conj(result)")
    assert record.before == ()
    assert [item.function for saves in record.after for item in saves.items] == ["save_output"]


def test_in_place_the_old_value_is_copied_and_the_new_one_is_self() -> None:
    inplace = entry_of(MUL).inplace
    assert inplace is not None and inplace.record is not None
    assert [s.items[0].value for s in inplace.record.before] == ["original_of(self)", "other"]
    made = inplace_of("e(Tensor self) -> Tensor\n  forward: ufunc(exp)\n  self: grad * conj(result)")
    assert made.record is not None
    assert [s.items[0].value for s in made.record.after] == ["self"]


def test_a_shape_is_read_not_its_tensor() -> None:
    record = record_of("s(Tensor self) -> Tensor\n  forward: array(np.sum(self))\n  self: grad.expand(self.shape)")
    assert [item.value for saves in record.before for item in saves.items] == ["shape_of(self)"]


def test_shapes_of_a_list() -> None:
    record = record_of(
        "j(Tensor[] tensors) -> Tensor\n  forward: array(np.stack(tensors))\n"
        "  tensors: cat_backward(grad, tensors.shape, 0)"
    )
    assert record.n_edges == "<int>len(tensors)"
    assert record.before[0].items[0].value == "shapes_of(tensors)"


ATTRIBUTES = """\
k(Tensor self, Tensor? weight, Tensor[] others, str? mode, dtype? dtype, float[]? factors, Scalar x=1) -> Tensor
  forward: array((self, weight, others, mode, dtype, factors, x)[0])
  self: >-
    zeros_like(self) + grad * x * self.numel() * self.stride()[0] * (1 if weight is None else weight.shape[0])
    * (2 if mode is None else 3) * (1 if factors is None else factors[0]) * (1 if dtype is None else 2)
  others: cat_backward(grad, others.dtype, len(others))"""


def test_what_a_node_keeps_instead_of_tensors() -> None:
    """Numbers, texts and dtypes of arguments, and what formulas ask of tensors: none of these is kept itself."""
    record = record_of(ATTRIBUTES)
    items = [item for saves in record.before for item in saves.items]
    assert {item.function for item in items} == {"set_value"}
    assert {item.value for item in items} == {
        "shape_of(self)", "dtype_of(self)", "device_of(self)", "numel_of(self)", "stride_of(self)", "weight is None",
        "None if weight is None else shape_of(weight)", "dtypes_of(others)", "len(others)", "mode", "dtype",
        "factors", "x",
    }  # fmt: skip


def test_every_saved_field_is_an_attribute() -> None:
    entry = entry_of(ATTRIBUTES.replace("(1 if dtype is None else 2)", "self * others[0]"))
    assert entry.node is not None
    names = {name for p in entry.node.properties for name in p.names}
    assert names == {
        "_saved_self", "_saved_others", "_saved_self_shape", "_saved_self_dtype", "_saved_self_device",
        "_saved_self_numel", "_saved_self_stride", "_saved_weight_is_none", "_saved_weight_shape",
        "_saved_others_dtype", "_saved_others_count", "_saved_mode", "_saved_factors", "_saved_x",
        "_raw_saved_self", "_raw_saved_others",
    }  # fmt: skip


LISTS = """\
l(Tensor[] a, Tensor weight, Tensor[]? b, Tensor[] c) -> Tensor
  forward: array(f(a, weight, b, c))
  weight: grad
  a: cat_backward(grad * a[0], a.shape, 0)
  b: '() if b is None else cat_backward(grad, b.shape, 0)'
  c: cat_backward(grad, c.shape, len(a))"""


def test_each_list_has_a_run_of_edges() -> None:
    entry = entry_of(LISTS.replace("f(a, weight, b, c)", "np.zeros(len([a, weight, b, c]))"))
    assert entry.record is not None and entry.node is not None
    assert [(edge.name, edge.index) for edge in entry.record.edges] == [
        ("weight", "0"),
        ("a", "1"),
        ("b", "1 + <int>len(a)"),
        ("c", "1 + <int>len(a) + <int>len(b or ())"),
    ]
    values = [item.value for saves in entry.record.before for item in saves.items]
    assert "len(a)" in values and "len(b or ())" in values and "len(c)" not in values
    slots = {p.names[0]: p.slot for p in entry.node.properties}
    assert [(start.name, start.before, start.slot) for start in entry.node.list_starts] == [
        ("b_edge", "1", slots["_saved_a_count"]),
        ("c_edge", "b_edge", slots["_saved_b_count"]),
    ]
    assert [g.run and (g.run.first, g.run.end) for g in entry.node.gradients] == [
        None,
        ("1", "b_edge"),
        ("b_edge", "c_edge"),
        ("c_edge", "self.n_edges"),
    ]
    assert all(gradient.tested for gradient in entry.node.gradients) and entry.node.is_selective


def test_an_optional_tensor_may_be_missing() -> None:
    record = record_of(
        "o(Tensor self, Tensor? weight=None) -> Tensor\n  forward: array(self)\n  self: grad\n  weight: grad * self"
    )
    assert record.condition == "requires_grad_2(self, weight)"


def test_many_inputs_are_asked_three_at_a_time() -> None:
    names = ["self", "b", "c", "d"]
    arguments = ", ".join(f"Tensor {name}" for name in names)
    gradients = "".join(f"\n  {name}: grad" for name in names)
    record = record_of(f"m({arguments}) -> Tensor\n  forward: array(self){gradients}")
    assert record.condition == "requires_grad_3(self, b, c) or requires_grad_1(d)"


# ---- the node


def test_the_node_names_the_forward_argument_apart_from_itself() -> None:
    node = entry_of(MUL).node
    assert node is not None
    assert node.tensor_locals == ("self_", "other")
    assert [g.text for g in node.gradients] == [
        "op_mul_tensor(grad, op_conj(other))",
        "op_mul_tensor(grad, op_conj(self_))",
    ]
    assert [[load.name for load in g.loads] for g in node.gradients] == [["other"], ["self_"]]
    assert node.fused == "TIMES_TENSOR_BACKWARD"


def test_one_gradient_is_not_asked_for() -> None:
    node = entry_of("n(Tensor self) -> Tensor\n  forward: ufunc(negative)\n  self: -grad").node
    assert node is not None and not node.gradients[0].tested


def test_passing_gradients_need_no_loop() -> None:
    node = entry_of("c(Tensor self) -> Tensor\n  forward: array(self.copy())\n  self: grad").node
    assert node is not None and node.fused == ""


def test_an_index_is_checked() -> None:
    """`shape[-1]`, compiled without bounds checks, would read anywhere."""
    node = entry_of("s(Tensor self) -> Tensor\n  forward: array(self)\n  self: grad * self.shape[-1]").node
    assert node is not None
    assert node.gradients[0].text == "op_mul_scalar(grad, item_of(self_shape, -1))"


# ---- values


def test_ufunc_calls() -> None:
    assert entry_of(MUL).compute.arguments == ("MULTIPLY", "self.array", "other.array")
    scalar = entry_of(MUL, variant=1).compute
    assert (scalar.function, scalar.arguments) == ("binary_scalar", ("MULTIPLY", "self.array", "other", "False"))
    first = entry_of("d(Tensor|Scalar self, Tensor other) -> Tensor\n  forward: ufunc(divide)\n  self: grad\n"
                     "  other: grad", variant=1)  # fmt: skip
    assert first.compute.arguments == ("DIVIDE", "other.array", "self", "True")


def test_tensors_of_an_array_expression_are_their_arrays() -> None:
    text = "f(Tensor self, Tensor? weight, int dim) -> Tensor\n  forward: array(np.take(self, weight,  dim))\n"
    compute = entry_of(text + "  nondifferentiable: no").compute
    assert compute.text == "own_memory(np.take(array_of(self), array_or_none(weight),  dim))"


def test_integers_enter_a_function_of_floats_as_floats() -> None:
    text = "s(Tensor self) -> Tensor\n  forward: pointwise({})"
    assert entry_of(text.format("exp(self) * self")).compute.floating == ("self",)
    assert entry_of(text.format("self * self")).compute.floating == ()


def inplace_of(entry: str) -> InplaceView:
    """The in-place form of an entry."""
    inplace = complete(f"{entry}\n  variants: [inplace]")
    table = load_table(f"{OPS}loss:\n{inplace}")
    op = table.ops[-1]
    made = entry_view(op, op.variants[0], table).inplace
    assert made is not None
    return made


def test_a_composite_in_place_is_copied() -> None:
    """Its parts see the value from before: they may save it."""
    twice = inplace_of("twice(Tensor self) -> Tensor\n  forward: composite(self + self)")
    assert twice.compute is not None
    assert twice.compute.text == "op_add_tensor(original, original, 1)"


def test_a_composite_computes_once_what_it_repeats() -> None:
    compute = entry_of("f(Tensor self) -> Tensor\n  forward: composite(exp(self) * self + exp(self))").compute
    assert [(part.name, part.text) for part in compute.parts] == [("exp_of_self", "op_exp(self)")]
    assert compute.text == "op_add_tensor(op_mul_tensor(exp_of_self, self), exp_of_self, 1)"


def test_branches_of_a_composite_are_left_alone() -> None:
    """What one of them computes may not be computed for the other."""
    text = "f(Tensor self, bool twice) -> Tensor\n  forward: composite(exp(self) * exp(self) if twice else self)"
    assert entry_of(text).compute.parts == ()


def test_a_view_in_place_is_copied_when_the_result_is_saved() -> None:
    made = inplace_of("e(Tensor self) -> Tensor\n  forward: ufunc(exp)\n  self: grad * result").by_copy
    assert made is not None
    assert made.condition == "self.flags & IS_VIEW or save_mode() or has_tangent_1(self)"
    assert made.arguments == ("self",)
    made = inplace_of("e(Tensor self) -> Tensor\n  forward: ufunc(exp)\n  self: grad * result * self").by_copy
    assert made is not None
    assert made.arguments == ("original_of(self)",)
    made = inplace_of("e(Tensor self) -> Tensor\n  forward: ufunc(exp)\n  self: grad * self").by_copy
    assert made is not None
    assert made.condition == "has_tangent_1(self)"


def test_in_place_without_gradient_ends_the_tangents() -> None:
    made = inplace_of("f(Tensor self) -> Tensor\n  forward: ufunc(floor)\n  nondifferentiable: it jumps")
    assert made.by_copy is None
    assert made.ends_tangents


# ---- families


def test_a_family_takes_what_its_formulas_call_elsewhere() -> None:
    family = family_view("reduce", table_with(), frozenset())
    assert {source.module: source.names for source in family.imports} == {
        "gradsmith.generated.shape": ("op_expand",),
        "gradsmith.runtime.formulas.formulas": ("selection_backward",),
    }


def test_views_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        entry_of(MUL).name = "other"  # type: ignore[misc]


# ---- faces


def test_functions_call_the_first_tensor_input() -> None:
    face = face_of(MUL)
    assert face.functions[0].signature == ("input", "other", "*", "out=None")
    assert [m.name for m in face.methods] == ["times", "times_"]
    assert face.methods[0].signature == ("other=None", "*", "x2=None")


ENDS = """
ends(Tensor self, int dim) -> (Tensor low, Tensor high)
  forward: array((np.min(self, dim), np.max(self, dim)))
  self: grad_low + grad_high
  variants: [function, method, out]
"""


def test_out_is_one_tensor_for_each_result() -> None:
    function = face_of(ENDS).functions[0]
    assert function.signature == ("input", "dim", "*", "out=None")
    assert [str(p.type) for p in function.parameters if p.name == "out"] == ["Tensor[2]?"]
    assert function.doc.parameters[-1] == DocItem(
        "out", "tuple of 2 Tensor, optional", "Receives the results: low, high."
    )
    (stub,) = stub_view(family_view("loss", table_with(ENDS), frozenset())).functions
    assert stub.parameters[-1] == "out: tuple[Tensor, Tensor] | list[Tensor] | None = None"


def test_entries_that_return_more_are_overloads() -> None:
    """One face could not say what it returns and what `out` is."""
    least = """
ends(Tensor self) -> Tensor
  forward: array(np.min(self))
  nondifferentiable: an example
  variants: [function, method, out]
"""
    face = face_of(least, ENDS.replace("ends(", "ends.dim("))
    assert [c.text for c in face.binders[0].candidates] == [
        "(Tensor input, *, Tensor? out=None)",
        "(Tensor input, int dim, *, Tensor[2]? out=None)",
    ]


def test_unions_are_told_apart_by_what_is_a_tensor() -> None:
    assert face_of(MUL).calls[0].lines[-3:] == (
        "if is_tensor(other):",
        "    return op_times_tensor(<TensorBase>self, <TensorBase>other)",
        "return op_times_scalar(<TensorBase>self, other)",
    )


def test_the_first_of_numbers_alone_becomes_a_tensor() -> None:
    face = face_of("minus(Tensor|Scalar self, Tensor|Scalar other) -> Tensor\n  forward: ufunc(subtract)\n"
                   "  self: grad\n  other: -grad")  # fmt: skip
    assert face.calls[0].lines[-2:] == (
        "self = number_as_tensor(self, other)",
        "return op_minus_tensor_scalar(<TensorBase>self, other)",
    )


NO_OUT = "\n  variants: [function, method]"


def test_dim_is_also_axis() -> None:
    face = face_of(
        "r(Tensor self, int dim, bool keepdim=False) -> Tensor\n  forward: array(self)\n  self: grad" + NO_OUT
    )
    assert face.functions[0].signature == ("input", "dim", "keepdim=False")
    assert face.methods[0].signature == ("dim=None", "keepdim=False", "*", "axis=None", "keepdims=None")


def test_required_parameters_that_follow_make_room_for_second_names() -> None:
    face = face_of("r(Tensor self, int dim, int index) -> Tensor\n  forward: array(self)\n  self: grad" + NO_OUT)
    assert face.methods[0].signature == ("dim=None", "index=None", "*", "axis=None")
    assert [(p.name, p.is_required) for p in face.methods[0].parameters] == [
        ("dim", True), ("index", True), ("axis", False),
    ]  # fmt: skip


def test_there_are_no_second_names_where_a_missing_argument_would_pass_for_none() -> None:
    face = face_of("r(Tensor self, int dim, int? index) -> Tensor\n  forward: array(self)\n  self: grad" + NO_OUT)
    assert face.functions[0].signature == ("input", "dim", "index")


def test_second_names_give_way_to_arguments_of_that_name() -> None:
    face = face_of("r(Tensor self, int a) -> Tensor\n  forward: array(self * a)\n  self: grad * a" + NO_OUT)
    assert face.functions[0].signature == ("input", "a")
    assert [p.name for p in face.functions[0].parameters] == ["input", "a", "x", "x1", "A"]


ALL = "r(Tensor self) -> Tensor\n  forward: array(self)\n  self: grad" + NO_OUT
ALONG = "r.dim(Tensor self, int dim, bool keepdim=False) -> Tensor\n  forward: array(self)\n  self: grad" + NO_OUT
OTHER = "r.other(Tensor self, Tensor other) -> Tensor\n  forward: array(self)\n  self: grad\n  other: grad" + NO_OUT


def test_an_extension_is_picked_by_what_it_adds() -> None:
    function = face_of(ALL, ALONG).functions[0]
    assert function.extension is not None and function.extension.call == "call_r_dim"
    assert function.lines[-3] == "if dim is not None or keepdim is not False:"


def test_other_overloads_are_bound_at_run_time() -> None:
    face = face_of(ALL, ALONG, OTHER)
    [binder] = face.binders
    assert binder.table == "R_OVERLOADS"
    assert [c.text for c in binder.candidates] == [
        "(Tensor input)", "(Tensor input, int dim, bool keepdim=False)", "(Tensor input, Tensor other)",
    ]  # fmt: skip
    assert binder.direct == ((1, "call_r"), (3, "call_r_dim"))


def test_methods_take_no_out() -> None:
    """A binder that does would let them, so they have one of their own."""
    with_out = ALL.replace("[function, method]", "[function, method, out]")
    face = face_of(with_out, ALONG, OTHER)
    assert [(b.name, b.table, b.candidates[0].text) for b in face.binders] == [
        ("bind_r", "R_OVERLOADS", "(Tensor input, *, Tensor? out=None)"),
        ("method_bind_r", "R_METHODS", "(Tensor input)"),
    ]
    assert (face.functions[0].binder, face.methods[0].binder) == ("bind_r", "method_bind_r")
    functions = [entry.replace("[function, method]", "[function, out]") for entry in (ALL, ALONG, OTHER)]
    assert [b.name for b in face_of(*functions).binders] == ["bind_r"]


def test_reflected_operators_swap_unless_the_table_says_they_commute() -> None:
    operators = {o.method: o.target.arguments for o in make_face(table_with().by_base["sub"]).operators}
    assert operators == {"__sub__": ("self", "other"), "__rsub__": ("other", "self")}
    operators = {o.method: o.target.arguments for o in make_face(table_with().by_base["mul"]).operators}
    assert operators["__rmul__"] == ("self", "other")


def test_a_shape_is_spread_out_in_methods() -> None:
    face = make_face(table_with().by_base["expand"])
    assert face.methods[0].signature == ("*args", "size=None")
    assert face.methods[0].target.arguments == ("self", 'one_of(args, size, "expand", "size")')
    assert face.functions[0].signature == ("input", "size")


def test_an_op_for_formulas_has_no_face() -> None:
    face = face_of("hidden(Tensor self) -> Tensor\n  forward: array(self)\n  self: grad\n  variants: []")
    assert (face.calls, face.functions, face.methods) == ((), (), ())


def test_what_a_guard_tests_is_loaded_before_it() -> None:
    """The part is read where `scale` is there, or always: whether it is there is asked first."""
    text = (
        "f(Tensor self, Tensor other, Tensor? scale) -> Tensor\n"
        "  forward: array(np.zeros((self, other, scale)))\n"
        "  let: {part: exp(self)}\n"
        "  self: grad if scale is None else grad * part\n"
        "  other: grad * part\n"
        "  scale: grad"
    )
    node = entry_of(text).node
    assert node is not None
    (block,) = node.shared
    assert "scale_is_none" in block.parts[0].text
    assert "scale_is_none" in [load.name for load in block.loads]
