"""The node class of a variant: what comes in, what is read of the saved values, what goes out."""

from __future__ import annotations

from dataclasses import replace

from .fused_loops import backward_kernels
from .model import Backward, Gradient_, SavedTensor, SavedValue, Table, Variant
from .printing import CythonPrinter
from .views import GradientView, Incoming, Load, NodeView, PropertyView, backward_table_name


def node_view(variant: Variant, table: Table) -> NodeView | None:
    backward = variant.backward
    if backward is None:
        return None
    is_list_output = variant.signature.returns[0].type.is_tensor_list
    loads = {**{s.name: _load(s) for s in (*backward.saved, *backward.saved_lists)}, **_value_loads(backward)}
    grads = gradient_names(variant)
    printer = CythonPrinter(
        names={"self": "self_"},
        gradients=grads,
        all_gradients=grads[0] if is_list_output else "",
        saves_attributes=True,
    )
    lists = {saved.name for saved in backward.saved_lists}
    tensors = {saved.name for saved in backward.saved}
    fused = backward_kernels(variant, table) is not None
    gradients = tuple(_gradient_view(variant, backward, g, loads, printer) for g in backward.gradients)
    again = {load.name for gradient in gradients for load in gradient.loads if load.again}

    def declared(name: str) -> str:
        return f"{name} = None" if name in again else name

    return NodeView(
        class_name=backward.class_name,
        node_name=backward.node_name,
        signature=str(variant.signature),
        saving=backward.saving,
        fused=backward_table_name(variant) if fused else "",
        n_edges=len(backward.differentiable_inputs),
        single_output=len(variant.signature.returns) == 1 and not is_list_output,
        incoming=() if is_list_output else incoming(variant),
        gradient_list=grads[0] if is_list_output else "",
        tensor_locals=tuple(declared(load.name) for name, load in loads.items() if name in tensors),
        list_locals=tuple(declared(load.name) for name, load in loads.items() if name in lists),
        object_locals=tuple(load.name for name, load in loads.items() if name not in tensors | lists),
        gradients=gradients,
        properties=_properties(backward),
    )


def gradient_names(variant: Variant) -> tuple[str, ...]:
    """Locals of `apply`: ``grad``, or one per output. (`grads` itself is the engine's array.)"""
    outputs = variant.signature.output_names
    if len(outputs) > 1:
        return tuple(f"grad_{name}" for name in outputs)
    return ("gradients",) if variant.signature.returns[0].type.is_tensor_list else ("grad",)


def incoming(variant: Variant) -> tuple[Incoming, ...]:
    assert variant.backward is not None
    formulas = [gradient.formula for gradient in variant.backward.gradients]
    every = any(formula.uses_all_gradients for formula in formulas)
    used = {index for formula in formulas for index in formula.gradients}
    names = enumerate(gradient_names(variant))
    return tuple(Incoming(name, index) for index, name in names if every or index in used)


def _load(saved: SavedTensor) -> Load:
    getter = "unpack_list" if saved.is_list else "unpack"
    return Load(_local(saved.name), getter, saved.slot)


def _value_loads(backward: Backward) -> dict[str, Load]:
    return {value.name: Load(_local(value.name), "value_of", value.slot) for value in backward.values}


def _local(name: str) -> str:
    """`self` is the node inside `apply`."""
    return "self_" if name == "self" else name


def _gradient_view(
    variant: Variant, backward: Backward, gradient: Gradient_, loads: dict[str, Load], printer: CythonPrinter
) -> GradientView:
    index = backward.gradients.index(gradient)
    earlier = range(index)
    kept = everything_saved(backward)
    is_list = variant.signature.argument(gradient.inputs[0]).type.is_tensor_list
    return GradientView(
        comment=_comment(gradient),
        kind="joint" if gradient.is_joint else "list" if is_list else "single",
        edges=gradient.edges,
        tested=len(backward.differentiable_inputs) > 1 and not is_list,
        needs=_needs(backward, gradient),
        loads=tuple(
            replace(loads[k.name], again=bool(set(earlier) & set(k.needed_by)) and not isinstance(k, SavedValue))
            for k in kept
            if index in k.needed_by
        ),
        text=replace(printer, wanted=dict(zip(gradient.inputs, gradient.edges, strict=True))).text(
            gradient.formula.expr
        ),
    )


def _needs(backward: Backward, gradient: Gradient_) -> tuple[int, ...]:
    """Gradients are linear: where none of those it reads has arrived, a formula has nothing to give."""
    reads_all = gradient.formula.uses_all_gradients or gradient.formula.gradients >= set(backward.outputs)
    return () if reads_all else tuple(sorted(gradient.formula.gradients))


def _comment(gradient: Gradient_) -> str:
    """``other: grad * conj(self)``, and whether anybody wrote it."""
    inputs = ", ".join(gradient.inputs)
    return f"{inputs}{' (derived)' if gradient.formula.is_derived else ''}: {_one_line(gradient.formula.text)}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _properties(backward: Backward) -> tuple[PropertyView, ...]:
    tensors = [PropertyView(f"_saved_{s.name}", "saved_attribute", s.slot) for s in backward.saved]
    lists = [PropertyView(f"_saved_{s.name}", "saved_list_attribute", s.slot) for s in backward.saved_lists]
    values = [PropertyView(f"_saved_{v.name}", "value_of", v.slot) for v in backward.values]
    raw_tensors = [PropertyView(f"_raw_saved_{s.name}", "raw_saved", s.slot) for s in backward.saved]
    raw_lists = [PropertyView(f"_raw_saved_{s.name}", "raw_saved_list", s.slot) for s in backward.saved_lists]
    return (*tensors, *lists, *values, *raw_tensors, *raw_lists)


def everything_saved(backward: Backward) -> tuple[SavedTensor | SavedValue, ...]:
    return (*backward.saved, *backward.saved_lists, *backward.values)
