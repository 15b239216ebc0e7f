"""The node class of a variant: its incoming gradients, the saved values it reads, its outgoing gradients."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from typing import TypeGuard

from ..formula.facts import folded
from ..formula.formula import (
    Attribute,
    Call,
    Conditional,
    Expr,
    Gradient,
    IsUndefined,
    IsWanted,
    Literal,
    Name,
    Operator,
)
from ..formula.printing import CythonPrinter
from ..formula.scope import BOOL
from ..model import Backward, GradientRule, Op, SavedTensor, SavedValue, Table, Variant
from ..spec.names import backward_table_name, edge_name
from ..spec.schema_types import Type
from .guards import ALWAYS
from .model import EdgeRun, GradientView, Incoming, ListStart, Load, NodeView, PartView, PropertyView, SharedView
from .sharing import SharedFormulas, SharedPart, each_for_itself, share

_VALUE_GETTERS = {"plain": "value_of", "operand": "unpack_number", "object": "unpack_object"}
# What makes zeros around the gradient of a part, and (module, name) of what adds it to a sum instead, with the same
# arguments after node and edge. See runtime/engine/sums_at.pyx, Note [Sums of parts].
_ZEROS_AROUND = "op_basic_index_backward"
_ADDS_PART = ("gradsmith.runtime.engine.sums_at", "add_at_index")
_DESCRIPTORS = {"plain": "saved_value", "operand": "saved_number", "object": "saved_object"}


def node_view(op: Op, variant: Variant, table: Table) -> NodeView | None:
    backward = variant.backward
    if backward is None:
        return None
    signature = variant.signature
    loads = {**{s.name: _load(s) for s in (*backward.saved, *backward.saved_lists)}, **_value_loads(backward)}
    grads = gradient_names(variant)
    printer = CythonPrinter(
        names={"self": "self_"},
        gradients=grads,
        all_gradients=gradient_list(variant),
        saves_attributes=True,
    )
    lists = {saved.name for saved in backward.saved_lists}
    tensors = {saved.name for saved in backward.saved}
    fused = bool(table.loops[variant.c_entry].backward)
    formulas = _shared_formulas(variant, backward, grads)
    blocks = _shared_views(backward, formulas, loads, printer)
    gradients = [
        _gradient_view(variant, backward, i, formulas, _loads_of(i, backward, formulas, blocks, loads), printer)
        for i in range(len(backward.gradients))
    ]
    shared, gradients = _loading_once(blocks, gradients)
    if "function" in op.forms and not table.library:  # whose docstring has the formulas
        gradients = [replace(g, comment=_short_comment(backward, g.comment)) for g in gradients]
    loaded = [load for block in shared for load in block.loads] + [load for g in gradients for load in g.loads]
    again = {load.name for load in loaded if load.again}
    is_sole = not shared and len(gradients) == 1 and not gradients[0].condition
    first = gradients[0].loads if is_sole else ()

    def declared(name: str) -> str:
        return f"{name} = None" if name in again else name

    return NodeView(
        class_name=backward.class_name,
        node_name=backward.node_name,
        signature=str(signature) if len(op.variants) > 1 else signature.full_name,
        saving=backward.saving,
        fused=backward_table_name(variant.stem) if fused else "",
        n_edges=len(backward.differentiable_inputs),
        single_output=len(signature.returns) == 1 and not signature.returns_list,
        incoming=incoming(variant),
        gradient_list=gradient_list(variant) if _reads_list(variant) else "",
        list_start=sum(not returned.type.is_list for returned in signature.returns),
        list_starts=_list_starts(variant, backward),
        tensor_locals=(
            *(declared(load.name) for name, load in loads.items() if name in tensors and load not in first),
            *dict.fromkeys(part.name for part in formulas.parts if part.expr.type.is_tensor),
        ),
        list_locals=tuple(declared(load.name) for name, load in loads.items() if name in lists and load not in first),
        object_locals=tuple(
            load.name
            for name, load in loads.items()
            if name not in tensors | lists and load in loaded and load not in first
        )
        + tuple(dict.fromkeys(part.name for part in formulas.parts if part.expr.type.is_list)),
        shared=tuple(shared),
        gradients=tuple(gradients),
        loaded_first=first,
        freed=tuple(value.slot for value in backward.values if value.kind == "operand"),
        properties=_properties(backward),
    )


def gradient_names(variant: Variant) -> tuple[str, ...]:
    """Locals of `apply`: ``grad``, or one per output, by their numbers. (`grads` itself is the engine's array.)"""
    outputs = variant.signature.in_gradient_order
    if len(outputs) > 1:
        return tuple(f"grad_{name}" for name, _ in outputs)
    return ("gradients",) if variant.signature.returns_list else ("grad",)


def gradient_list(variant: Variant) -> str:
    """The local with the gradients of a list of results, or ""."""
    return gradient_names(variant)[-1] if variant.signature.in_gradient_order[-1][1].type.is_list else ""


def _reads_list(variant: Variant) -> bool:
    assert variant.backward is not None
    is_read = any(gradient.formula.uses_all_gradients for gradient in variant.backward.gradients)
    return variant.signature.returns_list or (is_read and bool(gradient_list(variant)))


def incoming(variant: Variant) -> tuple[Incoming, ...]:
    """Of the results that are no list."""
    assert variant.backward is not None
    formulas = [gradient.formula for gradient in variant.backward.gradients]
    every = any(formula.uses_all_gradients for formula in formulas) and not gradient_list(variant)
    used = {index for formula in formulas for index in formula.gradients}
    outputs = zip(gradient_names(variant), variant.signature.in_gradient_order, strict=True)
    return tuple(
        Incoming(name, index, returned.type.optional or all(_is_tested(formula.expr, index) for formula in formulas))
        for index, (name, (_, returned)) in enumerate(outputs)
        if (every or index in used) and not returned.type.is_list
    )


def _is_tested(expr: Expr, index: int) -> bool:
    """Is a gradient read only where a test has said that it has arrived? Zeros need not take its place then."""
    match expr:
        case Gradient():
            return expr.index != index
        case Conditional(test=IsUndefined(index=tested)) if tested == index:
            return _is_tested(expr.body, index)
    return all(_is_tested(child, index) for child in expr.children())


def _load(saved: SavedTensor) -> Load:
    getter, c_type = ("unpack_list", "list") if saved.is_list else ("unpack", "TensorBase")
    return Load(_local(saved.name), getter, saved.slot, c_type)


def _value_loads(backward: Backward) -> dict[str, Load]:
    return {
        value.name: Load(_local(value.name), _VALUE_GETTERS[value.kind], value.slot, "object")
        for value in backward.values
    }


def _local(name: str) -> str:
    """`self` is the node inside `apply`."""
    return "self_" if name == "self" else name


# ---- what several gradients read


def _shared_formulas(variant: Variant, backward: Backward, gradients: tuple[str, ...]) -> SharedFormulas:
    """Shared are parts of ops with one result and single tensors: there every formula is evaluated when wanted.

    Parts named by `let` are always shared, except between formulas of lists. Each of these computes its own, since
    their edges are counted when the node runs.
    """
    formulas = tuple(gradient.formula.expr for gradient in backward.gradients)
    lets = dict(let for gradient in backward.gradients for let in gradient.formula.lets)
    returns = variant.signature.returns
    is_single = len(returns) == 1 and not returns[0].type.is_list and not variant.gradient_lists
    kept = {_local(saved.name) for saved in everything_saved(backward)}
    taken = frozenset(kept | set(gradients) | {"self", "parts"} | lets.keys())
    found = share(formulas, taken, lets, automatic=is_single)
    if not variant.gradient_lists:
        return found
    return replace(found, parts=tuple(part for whole in found.parts for part in each_for_itself(whole)))


def _shared_views(
    backward: Backward, formulas: SharedFormulas, loads: dict[str, Load], printer: CythonPrinter
) -> list[SharedView]:
    """Runs of parts that the same gradients read, if these are more than one."""
    blocks: list[SharedView] = []
    own = replace(printer, wanted={name: edge for edge, name in enumerate(backward.differentiable_inputs)})
    several = (part for part in formulas.parts if len(part.readers) > 1)
    for readers, run in groupby(several, key=lambda part: part.readers):
        parts = {part.name: _guarded(part, backward) for part in run}
        edges = tuple(edge for i in readers for edge in backward.gradients[i].edges)
        there = _loaded(edges, blocks)
        names = [name for name in _names(parts.values()) if name in loads]
        blocks.append(
            SharedView(
                edges=edges,
                tested=len(edges) < len(backward.differentiable_inputs),
                loads=tuple(loads[name] for name in names if loads[name] not in there),
                parts=tuple(PartView(name, own.text(part)) for name, part in parts.items()),
            )
        )
    return blocks


def _guarded(part: SharedPart, backward: Backward) -> Expr:
    """The part where a formula reads it, else None."""
    gradients = [backward.gradients[i] for i in part.readers]
    guards = [_within(gradient, guard) for gradient, guard in zip(gradients, part.guards, strict=True)]
    if all(guard == ALWAYS for guard in guards):
        return part.expr
    conditions = [
        folded("and", (_is_wanted(gradient), guard)) for gradient, guard in zip(gradients, guards, strict=True)
    ]
    conditions = conditions if len(conditions) > 1 else guards
    test = folded("or", conditions) if len(conditions) > 1 else conditions[0]
    return Conditional(part.expr.type, test, part.expr, Literal(Type("None"), None))


def _within(gradient: GradientRule, guard: Expr) -> Expr:
    """The guard where the formula is computed at all: one of its inputs is asked for."""
    asked = guard.operands if isinstance(guard, Operator) and guard.symbol == "or" else (guard,)
    return ALWAYS if all(IsWanted(BOOL, name) in asked for name in gradient.inputs) else guard


def _is_wanted(gradient: GradientRule) -> Expr:
    wanted = [IsWanted(BOOL, name) for name in gradient.inputs]
    return folded("or", wanted) if len(wanted) > 1 else wanted[0]


def _loaded(edges: tuple[int, ...], blocks: list[SharedView]) -> set[Load]:
    """Names already computed when the gradients of some edges are wanted."""
    return {load for block in blocks if set(edges) <= set(block.edges) for load in block.loads}


def _loads_of(
    index: int, backward: Backward, formulas: SharedFormulas, blocks: list[SharedView], loads: dict[str, Load]
) -> tuple[Load, ...]:
    """Saved values that a formula reads and no shared part has unpacked before."""
    own = [part.expr for part in formulas.parts if part.readers == (index,)]
    names = _names([*own, formulas.formulas[index]])
    there = _loaded(backward.gradients[index].edges, blocks)
    kept = [saved for saved in everything_saved(backward) if index in saved.needed_by and saved.name in names]
    return tuple(loads[saved.name] for saved in kept if loads[saved.name] not in there)


def _loading_once(
    blocks: list[SharedView], gradients: list[GradientView]
) -> tuple[list[SharedView], list[GradientView]]:
    """Tensors that an earlier step may have loaded are asked for first."""
    seen: set[str] = set()

    def marked(loads: tuple[Load, ...]) -> tuple[Load, ...]:
        found = tuple(
            replace(load, again=load.name in seen and load.getter not in _VALUE_GETTERS.values()) for load in loads
        )
        seen.update(load.name for load in loads)
        return found

    shared = [replace(block, loads=marked(block.loads)) for block in blocks]
    return shared, [replace(gradient, loads=marked(gradient.loads)) for gradient in gradients]


def _names(exprs: Iterable[Expr]) -> list[str]:
    """Saved names that expressions read, each once."""
    parts = (part for expr in exprs for part in expr.walk())
    found = (p.name if isinstance(p, Name) else p.saved_name for p in parts if isinstance(p, (Name, Attribute)))
    return list(dict.fromkeys(found))


# ---- one gradient


def _gradient_view(
    variant: Variant,
    backward: Backward,
    index: int,
    formulas: SharedFormulas,
    loads: tuple[Load, ...],
    printer: CythonPrinter,
) -> GradientView:
    gradient = backward.gradients[index]
    own = replace(printer, wanted=dict(zip(gradient.inputs, gradient.edges, strict=True)))
    run = _edge_run(variant, backward, gradient.inputs[0])
    return GradientView(
        comment=_comment(gradient),
        is_joint=gradient.is_joint,
        edges=gradient.edges,
        run=run,
        tested=len(backward.differentiable_inputs) > 1,
        needs=_needs(backward, gradient),
        loads=loads,
        parts=tuple(PartView(p.name, own.text(_guarded(p, backward))) for p in formulas.parts if p.readers == (index,)),
        text=own.parts(formulas.formulas[index]),
        attempt=_attempt(formulas.formulas[index], gradient, own),
    )


def _attempt(formula: Expr, gradient: GradientRule, printer: CythonPrinter) -> str:
    """The call that adds the gradient of a part to the sum that it belongs to, where a formula gives one."""
    if not _places_gradient(formula) or gradient.is_joint:
        return ""
    return f"{_ADDS_PART[1]}(self, {gradient.edges[0]}, {printer.arguments(formula.arguments)})"


def _places_gradient(formula: Expr) -> TypeGuard[Call]:
    """Does it put the gradient that comes in, and nothing else, among zeros?"""
    return isinstance(formula, Call) and formula.c_entry == _ZEROS_AROUND and isinstance(formula.arguments[0], Gradient)


def summing_functions(variant: Variant) -> Iterable[tuple[str, str]]:
    """(module, name) of what a node calls to add to a sum in place."""
    formulas = [gradient.formula.expr for gradient in variant.backward.gradients] if variant.backward else []
    if any(map(_places_gradient, formulas)):
        yield _ADDS_PART


def _edge_run(variant: Variant, backward: Backward, name: str) -> EdgeRun | None:
    """The edges of an input that is a list of tensors."""
    lists = variant.gradient_lists
    if name not in lists:
        return None
    starts = [str(len(backward.differentiable_inputs) - len(lists)), *map(edge_name, lists[1:]), "self.n_edges"]
    place = lists.index(name)
    return EdgeRun(starts[place], starts[place + 1])


def _list_starts(variant: Variant, backward: Backward) -> tuple[ListStart, ...]:
    lists = variant.gradient_lists
    slots = {value.owner: value.slot for value in backward.values if value.attribute == "count"}
    runs = [_edge_run(variant, backward, name) for name in lists]
    return tuple(
        ListStart(edge_name(name), run.first, slots[before])
        for before, name, run in zip(lists, lists[1:], runs, strict=False)
        if run
    )


def _needs(backward: Backward, gradient: GradientRule) -> tuple[int, ...]:
    """Gradients are linear: where none of those it reads has arrived, a formula has nothing to give."""
    reads_all = gradient.formula.uses_all_gradients or gradient.formula.gradients >= set(backward.outputs)
    return () if reads_all else tuple(sorted(gradient.formula.gradients))


def _comment(gradient: GradientRule) -> str:
    """``other: grad * conj(self)``, and whether anybody wrote it."""
    inputs = ", ".join(gradient.inputs)
    return f"{inputs}{' (derived)' if gradient.formula.is_derived else ''}: {_one_line(gradient.formula.text)}"


def _short_comment(backward: Backward, comment: str) -> str:
    """The input alone; nothing where there is one."""
    return comment.partition(":")[0] if len(backward.gradients) > 1 else ""


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _properties(backward: Backward) -> tuple[PropertyView, ...]:
    tensors = [PropertyView(_both_names(s.name), "saved_tensor", s.slot) for s in backward.saved]
    lists = [PropertyView(_both_names(s.name), "saved_list", s.slot) for s in backward.saved_lists]
    values = [PropertyView((f"_saved_{v.name}",), _DESCRIPTORS[v.kind], v.slot) for v in backward.values]
    return (*tensors, *lists, *values)


def _both_names(name: str) -> tuple[str, str]:
    return f"_saved_{name}", f"_raw_saved_{name}"


def everything_saved(backward: Backward) -> tuple[SavedTensor | SavedValue, ...]:
    return (*backward.saved, *backward.saved_lists, *backward.values)
