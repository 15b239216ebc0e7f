"""The C entry of a variant: how it computes, when it is recorded and what is saved then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..formula.called import attempt_of, writer_of
from ..formula.formula import BINDING, Call, Expr, Formula, Name
from ..formula.printing import CythonPrinter, array_text, attribute_text
from ..model import Backward, Op, SavedTensor, SavedValue, Table, Variant
from ..spec.names import (
    array_name,
    batch_rule_name,
    by_ops_name,
    forward_kernel_name,
    inplace_name,
    packed_name,
    parts_name,
    scipy_name,
)
from ..spec.schema import Argument, Return
from ..spec.syntax import called, is_bare_tuple, parse_python
from .model import (
    BatchingView,
    ByCopy,
    ComputeView,
    EdgeView,
    EntryView,
    InplaceView,
    Output,
    Parameter,
    PartView,
    RecordView,
    Refused,
    Save,
    Saves,
    c_type,
)
from .node import everything_saved, node_view
from .required import required_view
from .sharing import share
from .tangent import read_after_write, tangent_condition, tangent_view

# ---- entries


def entry_view(op: Op, variant: Variant, table: Table) -> EntryView:
    if len(variant.written) < 2:
        return _entry_view(op, variant, table)
    # New values are computed and recorded as by an op that changes nothing, and then copied into the arguments.
    plain = replace(variant, signature=variant.signature.without_writes)
    view = replace(_entry_view(op, plain, table), is_replaceable=False)
    return replace(view, several=tuple(argument.name for argument in variant.written))


def _entry_view(op: Op, variant: Variant, table: Table) -> EntryView:
    signature = variant.signature
    names = signature.output_names
    is_list = signature.returns_list
    shape = "list" if is_list else "several" if len(names) > 1 else "single"
    return EntryView(
        name=variant.c_entry,
        op=op.spoken,
        schema=str(signature),
        node=node_view(op, variant, table),
        tangents=tangent_view(variant),
        parameters=tuple(Parameter(a.name, c_type(a.type)) for a in signature.arguments),
        returns={"list": "list", "several": "tuple", "single": "TensorBase"}[shape],
        shape=shape,
        outputs=tuple(_outputs(op, variant, table)),
        history=tuple(_history(op, variant)),
        view_of=_view_of(variant),
        view_function=_view_function(variant),
        compute=compute_view(variant, table),
        record=record_view(variant),
        required=tuple(required_view(op, variant)),
        refused=tuple(_refused(op, variant.signature.argument(name)) for name in variant.refused),
        written=bool(variant.written),
        is_replaceable=_is_replaceable(variant),
        inplace=_inplace_view(op, variant),
        batching=_batching_view(variant),
    )


def _batching_view(variant: Variant) -> BatchingView | None:
    batching = variant.batching
    if batching is None:
        return None
    parts = batching.parts
    inplace = inplace_name(variant.stem)
    return BatchingView(
        rule=batch_rule_name(variant.stem),
        packed=packed_name(variant.stem),
        method=batching.method,
        kinds=batching.kinds,
        parts=parts_name(variant.stem) if parts else "NULL",
        text=_parts_text(variant, parts.expr) if parts else "",
        of_inplace=(batch_rule_name(inplace), packed_name(inplace)),
    )


def _parts_text(variant: Variant, expr: Expr) -> str:
    printer = _printer(variant, {})
    return printer.parts(expr) if len(variant.signature.returns) > 1 else printer.text(expr)


def _refused(op: Op, argument: Argument) -> Refused:
    return Refused(f"check_no_gradient{'_list' if argument.type.is_list else ''}", argument.name, op.spoken)


def _is_replaceable(variant: Variant) -> bool:
    """Does it only compute, results that an observer can hold?"""
    if variant.forward.kind == "composite" or variant.is_view or variant.written:
        return False
    return variant.signature.returns_list or variant.signature.has_plain_returns


def _outputs(op: Op, variant: Variant, table: Table) -> Iterator[Output]:
    named = zip(variant.signature.output_names, variant.signature.returns, op.output_differentiability, strict=True)
    for name, returned, is_differentiable in named:
        value = _made(variant, returned, array_name(name), table)
        recorded = name if is_differentiable else "None"
        yield Output(name, array_name(name), value, recorded, "tuple" if returned.type.is_list else "TensorBase")


def _made(variant: Variant, returned: Return, array: str, table: Table) -> str:
    """One of several results, of its array: a view, a list, or a tensor that may be absent."""
    declared = returned.type
    if declared.alias:
        owner = next(a.name for a in variant.signature.arguments if a.type.alias == declared.alias)
        shown = f"owned({array})" if _calls_python(variant, table) else array
        return f"{_view_function(variant)}({owner}, {shown})"
    if declared.is_list:
        return f"tuple([wrap(array) for array in {array}])"
    own = f"own_memory({array})" if variant.has_view_among else array
    return f"wrap({own})" if not declared.optional else f"None if {array} is None else wrap({own})"


def _history(op: Op, variant: Variant) -> Iterator[str]:
    """``values, None``; the tensors of a list come last."""
    wanted = dict(zip(variant.signature.output_names, op.output_differentiability, strict=True))
    for name, returned in variant.signature.in_gradient_order:
        if not returned.type.is_list:
            yield name if wanted[name] else "None"
        elif wanted[name]:
            yield f"*{name}"


def _view_function(variant: Variant) -> str:
    return "as_view" if variant.backward else "share_version"


def _view_of(variant: Variant) -> str:
    if not variant.is_view:
        return ""
    alias = variant.signature.returns[0].type.alias
    return next(a.name for a in variant.signature.arguments if a.type.alias == alias)


def has_inplace(op: Op, variant: Variant) -> bool:
    """In place means into `self`, which must be a tensor then."""
    target = variant.signature.expect_argument("self")
    return "inplace" in op.forms and target is not None and target.type.is_tensor


def _inplace_view(op: Op, variant: Variant) -> InplaceView | None:
    if variant.written:
        return None if variant.forward.kind == "composite" else _written_view(op, variant)  # made of ops that write
    if not has_inplace(op, variant):
        return None
    return InplaceView(
        name=inplace_name(variant.stem),
        op=f"{op.base}_",
        record=None if variant.is_view else _inplace_record(variant),
        is_view=variant.is_view,
        compute=_inplace_composite(variant) if variant.forward.kind == "composite" else None,
        by_copy=_by_copy(variant),
        ends_tangents=variant.tangents is None,
    )


def _inplace_composite(variant: Variant) -> ComputeView:
    assert variant.forward.formula is not None
    expr = variant.forward.formula.expr
    writer = writer_of(expr)
    if writer is None:
        composite = _composite_view(variant, {"self": "original"})
        attempt = attempt_of(variant.stem)
        arguments = ", ".join(argument.name for argument in variant.signature.arguments)
        return replace(composite, attempt=f"{attempt[1]}({arguments})") if attempt else composite
    assert isinstance(expr, Call)
    text = _printer(variant, {}).text(expr)
    return ComputeView("composite", written=text.replace(f"{expr.c_entry}(", f"{writer[1]}(", 1))


def _written_view(op: Op, variant: Variant) -> InplaceView:
    """An op that is in place by its signature."""
    return InplaceView(
        name=variant.c_entry,
        op=op.spoken,
        record=_inplace_record(variant),
        is_view=False,
        compute=None,
        by_copy=None,
        ends_tangents=False,
        resets_accumulator=op.policy.resets_accumulator,
        kept=read_after_write(variant),
    )


def _by_copy(variant: Variant) -> ByCopy | None:
    """The condition under which an in-place form computes the result separately: see `copy_into` in the runtime."""
    tests = ["self.flags & IS_VIEW", "save_mode()"] if saves_result(variant) else []
    if variant.tangents is not None:
        tests.append(tangent_condition(variant, variant.tangents.inputs))
    return ByCopy(" or ".join(tests), _arguments_of_copy(variant)) if tests else None


def saves_result(variant: Variant) -> bool:
    """Does the node keep the result? In place on a view it would keep the view, and the view keeps the node."""
    return variant.backward is not None and any(kept.is_output for kept in variant.backward.saved)


def _arguments_of_copy(variant: Variant) -> tuple[str, ...]:
    """Arguments of the op whose result is then copied into `self`, which it must not have saved."""
    backward = variant.backward
    saved = backward is not None and any(kept.name == "self" for kept in backward.saved)
    names = [argument.name for argument in variant.signature.arguments]
    return tuple("original_of(self)" if saved and name == "self" else name for name in names)


def _inplace_record(variant: Variant) -> RecordView | None:
    return record_view(variant, inplace=True)


# ---- recording


def record_view(variant: Variant, *, inplace: bool = False) -> RecordView | None:
    backward = variant.backward
    if backward is None:
        return None
    edges = _edges(variant, backward)
    before, after = _saves(variant, backward, inplace)
    return RecordView(
        condition=_record_condition(variant, edges),
        class_name=backward.class_name,
        n_edges=_edge_count(edges),
        n_saved=len(backward.saved),
        n_values=backward.n_values,
        edges=edges,
        connect=_connector(edges),
        before=before,
        after=after,
    )


def _edges(variant: Variant, backward: Backward) -> tuple[EdgeView, ...]:
    """A list of tensors has an edge for each; lists come last, so that the others keep their numbers."""
    edges: list[EdgeView] = []
    for name in backward.differentiable_inputs:
        type_ = variant.signature.argument(name).type
        or_empty = " or ()" if type_.is_list and type_.optional else ""
        edges.append(EdgeView(_edge_count(edges), name, type_.is_list, or_empty))
    return tuple(edges)


def _connector(edges: tuple[EdgeView, ...]) -> str:
    """The function of the runtime for so many edges."""
    return "" if len(edges) > 3 or any(edge.is_list for edge in edges) else f"connect_{len(edges)}"


def _record_condition(variant: Variant, edges: tuple[EdgeView, ...]) -> str:
    """Ask about three tensors at a time, each list by itself; and what else the entry makes it depend on."""
    names = [edge.name for edge in edges if not edge.is_list]
    groups = [names[i : i + 3] for i in range(0, len(names), 3)]
    tests = [f"requires_grad_{len(group)}({', '.join(group)})" for group in groups]
    tests += [f"requires_grad_list({edge.name})" for edge in edges if edge.is_list]
    recorded = " or ".join(tests)
    if variant.condition is None:
        return recorded
    text = _printer(variant, {}).within(variant.condition.expr, BINDING["and"])
    return f"{text} and ({recorded})" if len(tests) > 1 else f"{text} and {recorded}"


def _edge_count(edges: Sequence[EdgeView]) -> str:
    single = sum(not edge.is_list for edge in edges)
    counts = [edge.count for edge in edges if edge.is_list]
    return " + ".join([str(single), *counts] if single or not counts else counts)


def _saves(variant: Variant, backward: Backward, inplace: bool) -> tuple[tuple[Saves, ...], tuple[Saves, ...]]:
    """Values saved before the result gets its history, and after."""
    outputs = variant.signature.output_names
    before: list[tuple[tuple[int, ...], Save]] = []
    after: list[tuple[tuple[int, ...], Save]] = []
    for kept in everything_saved(backward):
        edges = _guards(variant, backward, kept.edges)
        of_output = kept.name in outputs or (isinstance(kept, SavedValue) and kept.owner in outputs)
        (after if of_output else before).append((edges, _save(variant, kept, inplace)))
    return _grouped(before), _grouped(after)


def _guards(variant: Variant, backward: Backward, edges: tuple[int, ...]) -> tuple[int, ...]:
    """Edges to ask before saving; none when a recorded call has at least one of them anyway.

    A list has as many edges as it has tensors, perhaps none: nobody asks for those.
    """
    every = len(edges) == len(backward.differentiable_inputs)
    of_list = any(variant.signature.argument(backward.differentiable_inputs[edge]).type.is_list for edge in edges)
    return () if every or of_list or backward.saved_lists else edges


def _save(variant: Variant, kept: SavedTensor | SavedValue, inplace: bool) -> Save:
    if isinstance(kept, SavedValue):
        function = "save_object" if kept.kind == "object" else "set_value"
        return Save(function, kept.slot, saved_value_text(variant, kept, inplace))
    if kept.is_list:
        return Save("save_list", kept.slot, kept.name)
    if kept.is_output:
        return Save("save_output", kept.slot, "self" if inplace else kept.name, kept.optional)
    # The value is about to be overwritten: a copy with the same history stands in for it.
    value = "original_of(self)" if inplace and kept.name == "self" else kept.name
    return Save("save_input", kept.slot, value)


def saved_value_text(variant: Variant, value: SavedValue, inplace: bool) -> str:
    if value.owner is None or value.attribute is None:
        return value.name
    outputs = variant.signature.output_names
    owner = "self" if inplace and value.owner in outputs else value.owner
    argument = variant.signature.expect_argument(value.owner)
    type_ = argument.type if argument else variant.signature.returns[outputs.index(value.owner)].type
    if value.attribute == "count" and type_.optional:
        return f"len({owner} or ())"
    text = attribute_text(owner, value.attribute, of_list=type_.is_tensor_list)
    return f"None if {owner} is None else {text}" if type_.optional and value.attribute != "is_none" else text


def _grouped(saves: Iterable[tuple[tuple[int, ...], Save]]) -> tuple[Saves, ...]:
    """One test for all values that are saved for the same edges."""
    groups: dict[tuple[int, ...], list[Save]] = {}
    for edges, save in saves:
        groups.setdefault(edges, []).append(save)
    return tuple(Saves(edges, tuple(items)) for edges, items in groups.items())


# ---- values


def compute_view(variant: Variant, table: Table) -> ComputeView:
    forward = variant.forward
    if forward.kind == "ufunc":
        return _ufunc_view(variant)
    if forward.kind == "array":
        text = array_text(forward.text, array_names(variant, table))
        guard = _guard(variant, table)
        if guard:
            return ComputeView("array", text=_guarded(text, guard))
        written = text.replace(f"{called(forward.text)}(", f"{forward.writer}(", 1) if forward.writer else ""
        return ComputeView("array", text=text, written=written)
    assert forward.formula is not None
    if forward.kind == "composite":
        return _composite_view(variant, {})
    return ComputeView(
        "pointwise",
        text=_printer(variant, {}).text(forward.formula.expr),
        kernel=forward_kernel_name(variant.stem) if table.loops[variant.c_entry].forward else "",
        fallback=by_ops_name(variant.stem),
        tensors=tuple(a.name for a in variant.tensors),
        scalars=tuple(a.name for a in variant.numbers),
        floating=_floating(variant, forward.formula),
        promoted=_promoted(variant),
    )


def _composite_view(variant: Variant, names: Mapping[str, str]) -> ComputeView:
    """The expression of ops that a forward is, with arguments under other names; what it repeats is computed once."""
    assert variant.forward.formula is not None
    signature, printer = variant.signature, _printer(variant, names)
    taken = {argument.name for argument in signature.arguments} | set(signature.output_names) | {"depth", "original"}
    found = share([variant.forward.formula.expr], frozenset(taken))
    [expr] = found.formulas
    text = printer.parts(expr) if len(signature.returns) > 1 else printer.text(expr)
    return ComputeView("composite", text=text, parts=tuple(PartView(p.name, printer.text(p.expr)) for p in found.parts))


def _printer(variant: Variant, names: Mapping[str, str]) -> CythonPrinter:
    lists = frozenset(a.name for a in variant.signature.arguments if a.type.is_tensor_list)
    return CythonPrinter(names=names, lists=lists)


def _ufunc_view(variant: Variant) -> ComputeView:
    ufunc = variant.forward.ufunc.upper()
    tensors = [f"{a.name}.array" for a in variant.signature.arguments if a.type.is_tensor]
    numbers = [a.name for a in variant.signature.arguments if not a.type.is_tensor]
    if not numbers:
        function = "unary" if len(tensors) == 1 else "binary"
        return ComputeView("ufunc", function=function, arguments=(ufunc, *tensors))
    first = variant.signature.arguments[0].name == numbers[0]
    return ComputeView("ufunc", function="binary_scalar", arguments=(ufunc, *tensors, *numbers, str(first)))


def array_names(variant: Variant, table: Table) -> dict[str, str]:
    """Meaning of the names of an array expression in the generated function."""
    names = {name: f"{module.rpartition('.')[2]}.{name}" for name, module in variant.forward.functions}
    names |= {name: f"builtins.{name}" for name in variant.forward.builtins & table.face_names}
    if variant.forward.needs_scipy:
        names["scipy"] = scipy_name(variant.signature.base)
    lender = _lender(variant, table)
    for argument in variant.signature.arguments:
        if argument.type.name in ("Tensor", "object"):
            text = _array_argument(argument)
            names[argument.name] = f"{lender}({text})" if lender else text
        elif argument.type.name == "Generator":
            names[argument.name] = f"numpy_generator({argument.name})"
    return names


def _guarded(text: str, guard: str) -> str:
    return f"{guard}(({text}))" if is_bare_tuple(parse_python(text)) else f"{guard}({text})"


def _guard(variant: Variant, table: Table) -> str:
    """The function that sees to whose arrays and memory the values of an expression are, where that is not known."""
    if variant.has_view_among:
        return ""  # each result by itself
    if variant.is_view or variant.written:
        return "owned" if _calls_python(variant, table) else ""
    is_ours = table.library is None and called(variant.forward.text) in dict(variant.forward.functions)
    return "" if is_ours else "own_memory"


def _calls_python(variant: Variant, table: Table) -> bool:
    """Does the forward call functions of the author of a table? They may keep arrays, and change their attributes."""
    return table.library is not None and bool(variant.forward.functions)


def _lender(variant: Variant, table: Table) -> str:
    """The function that keeps an expression of an external table from writing to its arguments.

    A view has to show memory that may be written; the user's functions get arrays that have nothing of the tensor's.
    """
    if table.library is None:
        return ""
    if _calls_python(variant, table):
        return "lent"
    return "" if variant.is_view or variant.has_view_among else "readonly"


def _array_argument(argument: Argument) -> str:
    if argument.type.name == "object":
        return f"arrays_in({argument.name})"
    if argument.type.is_tensor_list:
        return f"arrays_of({argument.name})"
    return f"{'array_or_none' if argument.type.optional else 'array_of'}({argument.name})"


def _promoted(variant: Variant) -> tuple[str, ...]:
    """The operands, when there are several: each step computes in the dtype of the result, not of one operand."""
    operands = [a.name for a in variant.signature.arguments if a.default is None and not a.keyword_only]
    return tuple(operands) if len(operands) > 1 else ()


# Functions whose result is a float even of integers.
_FLOAT_FUNCTIONS = frozenset({
    "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "erf", "sigmoid",
    "reciprocal",
})  # fmt: skip


def _floating(variant: Variant, formula: Formula) -> tuple[str, ...]:
    """The tensors, when the expression is a function of floats: integer steps in it would overflow or truncate."""
    steps = {e.function for e in formula.expr.walk() if isinstance(e, Call)}
    divides = any(getattr(e, "symbol", "") == "/" for e in formula.expr.walk())
    if not divides and steps.isdisjoint(_FLOAT_FUNCTIONS):
        return ()
    used = {e.name for e in formula.expr.walk() if isinstance(e, Name)}
    return tuple(a.name for a in variant.tensors if a.name in used)
