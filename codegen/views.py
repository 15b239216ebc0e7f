"""What the templates see of an op: flat, frozen, every decision made.

One view per piece of generated text: `NodeView` is the node class, `EntryView` the C entry that computes and records,
`InplaceView` the same written into its first operand, `FamilyView` the module around them. Names and expressions in a
view are final; a template only puts statements around them. Python faces are in `faces`, loops in `kernels`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .faces import Face, make_face
from .formula import Call, Expr, Formula, Name
from .kernels import Kernel, Places, expect_kernel
from .model import Backward, Gradient_, Op, SavedTensor, SavedValue, Table, Variant
from .printing import CythonPrinter, array_text
from .schema import Argument, Type

# ---- the node class


@dataclass(frozen=True)
class Load:
    """A local of `apply` and where it comes from: ``other = unpack(self, 1)``."""

    name: str
    getter: str
    slot: int


@dataclass(frozen=True)
class GradientView:
    """One formula of `apply`."""

    comment: str  # other: grad * conj(self)
    kind: str  # "single", "list" (the input is Tensor[]) or "joint"
    edges: tuple[int, ...]
    tested: bool  # several edges: ask which are wanted. A node with one edge runs only when that one is.
    loads: tuple[Load, ...]
    text: str


@dataclass(frozen=True)
class PropertyView:
    """``_saved_other``, what a user may look at."""

    name: str
    getter: str
    slot: int


@dataclass(frozen=True)
class Incoming:
    """A gradient that comes in."""

    name: str
    index: int


@dataclass(frozen=True)
class NodeView:
    class_name: str
    node_name: str
    signature: str
    fused: str  # name of the table of kernels, or ""
    n_edges: int
    single_output: bool  # never run with an undefined gradient
    incoming: tuple[Incoming, ...]
    gradient_list: str  # local with the gradients of a Tensor[] output, or ""
    tensor_locals: tuple[str, ...]
    list_locals: tuple[str, ...]
    object_locals: tuple[str, ...]
    gradients: tuple[GradientView, ...]
    properties: tuple[PropertyView, ...]


# ---- the C entry


@dataclass(frozen=True)
class Parameter:
    name: str
    c_type: str


@dataclass(frozen=True)
class Save:
    """``save_input(node, 0, self)``."""

    function: str
    slot: int
    value: str


@dataclass(frozen=True)
class Saves:
    """What is saved on account of some edges; `edges` is empty when it is needed whatever is wanted."""

    edges: tuple[int, ...]
    items: tuple[Save, ...]


@dataclass(frozen=True)
class EdgeView:
    index: int
    name: str
    is_list: bool


@dataclass(frozen=True)
class RecordView:
    """How the call is recorded: when, in which node, and what the node keeps."""

    condition: str
    class_name: str
    n_edges: str
    n_saved: int
    n_values: int
    edges: tuple[EdgeView, ...]
    before: tuple[Saves, ...]  # inputs and arguments
    after: tuple[Saves, ...]  # outputs, once they have their history


@dataclass(frozen=True)
class ComputeView:
    """How the value is computed.

    kind "ufunc": `function` of `arguments`; "pointwise": the fused loop `kernel` over `tensors` and `scalars`, else
    `text` by ops; "array" and "composite": `text`.
    """

    kind: str
    text: str = ""
    function: str = ""
    arguments: tuple[str, ...] = ()
    kernel: str = ""
    fallback: str = ""  # name of the function that evaluates `text`
    tensors: tuple[str, ...] = ()
    scalars: tuple[str, ...] = ()
    floating: tuple[str, ...] = ()  # tensors that integers must leave before a function of floats sees them


@dataclass(frozen=True)
class Output:
    name: str
    array: str  # local with its array, when there are several
    recorded: str  # its place in the history: itself, or None


@dataclass(frozen=True)
class InplaceView:
    name: str  # inplace_mul_tensor
    op: str  # mul_
    record: RecordView | None
    copy: str  # a composite is copied into `self`, with its history, by this op; else ""


@dataclass(frozen=True)
class EntryView:
    name: str  # op_mul_tensor
    schema: str
    node: NodeView | None
    parameters: tuple[Parameter, ...]
    returns: str  # C type
    shape: str  # "single", "several" or "list"
    outputs: tuple[Output, ...]
    view_of: str  # the argument that the result shares memory with, or ""
    view_function: str  # how: a differentiable view, or one that shares the version counter alone
    compute: ComputeView
    record: RecordView | None
    written: bool  # the op itself changes `self`: there is only the in-place form
    inplace: InplaceView | None


@dataclass(frozen=True)
class OpView:
    """One entry of the table: the variants, and the faces of the base when this is its last entry."""

    schema: str
    line: int
    entries: tuple[EntryView, ...]
    face: Face | None


@dataclass(frozen=True)
class Import:
    module: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class BackwardTable:
    """The kernels of a node, one per edge."""

    name: str
    kernels: tuple[str, ...]  # names, `gs_pass` among them
    loops: tuple[Kernel, ...]


@dataclass(frozen=True)
class ForwardKernel:
    constant: str
    kernel: Kernel


@dataclass(frozen=True)
class FamilyView:
    name: str
    ops: tuple[OpView, ...]
    ufuncs: tuple[str, ...]
    function_modules: tuple[str, ...]  # of runtime/functions
    compiled_functions: tuple[str, ...]  # those among them that have a .pxd
    imports: tuple[Import, ...]  # other families and helpers
    backward_tables: tuple[BackwardTable, ...]
    forward_kernels: tuple[ForwardKernel, ...]
    entries: tuple[EntryView, ...]
    faces: tuple[Face, ...]

    @property
    def has_kernels(self) -> bool:
        return bool(self.backward_tables or self.forward_kernels)


# ---- naming


def c_type(type_: Type) -> str:
    """How an argument of this type is declared. Numbers stay objects: they are handed on, hardly computed with."""
    if type_.is_tensor_list:
        return "list"
    if type_.is_tensor:
        return "TensorBase"
    return "bint" if type_.name == "bool" and not type_.optional else "object"


def kernel_prefix(variant: Variant) -> str:
    return variant.c_entry.removeprefix("op_")


def backward_table_name(variant: Variant) -> str:
    return f"{kernel_prefix(variant).upper()}_BACKWARD"


def forward_kernel_name(variant: Variant) -> str:
    return f"{kernel_prefix(variant).upper()}_FORWARD"


def everything_saved(backward: Backward) -> tuple[SavedTensor | SavedValue, ...]:
    return (*backward.saved, *backward.saved_lists, *backward.values)


# ---- fused loops


def backward_kernels(variant: Variant, table: Table) -> tuple[Kernel | None, ...] | None:
    """One kernel per edge, None for a gradient that passes; None for all when a formula needs more than a loop."""
    backward = variant.backward
    if backward is None or len(variant.signature.returns) != 1 or backward.saved_lists:
        return None
    kernels = [expect_backward_kernel(variant, backward, gradient, table) for gradient in backward.gradients]
    passing = [gradient.formula.is_identity for gradient in backward.gradients]
    if all(passing) or any(k is None and not p for k, p in zip(kernels, passing, strict=True)):
        return None
    return tuple(kernels)


def expect_backward_kernel(variant: Variant, backward: Backward, gradient: Gradient_, table: Table) -> Kernel | None:
    if gradient.formula.is_identity or gradient.is_joint or not gradient.formula.is_pointwise:
        return None
    places = Places(
        inputs={saved.name: f"GS_SAVED | {saved.slot}" for saved in backward.saved},
        scalars={value.name: value.slot for value in backward.values if value.owner is None},
        gradients=("grad",),
    )
    name = f"{kernel_prefix(variant)}_backward_{gradient.inputs[0]}"
    text = f"{gradient.inputs[0]}: {gradient.formula.text}"
    return expect_kernel(name, text, gradient.formula.expr, places, table)


def forward_kernel(variant: Variant, table: Table) -> Kernel | None:
    formula = variant.forward.formula
    if variant.forward.kind != "pointwise" or formula is None:
        return None
    places = Places(
        inputs={a.name: str(i) for i, a in enumerate(_of_tensors(variant))},
        scalars={a.name: i for i, a in enumerate(_of_numbers(variant))},
    )
    return expect_kernel(f"{kernel_prefix(variant)}_forward", formula.text, formula.expr, places, table)


def _of_tensors(variant: Variant) -> list[Argument]:
    return [a for a in variant.signature.arguments if a.type.is_tensor]


def _of_numbers(variant: Variant) -> list[Argument]:
    return [a for a in variant.signature.arguments if a.type.is_number]


# ---- nodes


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
    return NodeView(
        class_name=backward.class_name,
        node_name=backward.node_name,
        signature=str(variant.signature),
        fused=backward_table_name(variant) if fused else "",
        n_edges=len(backward.differentiable_inputs),
        single_output=len(variant.signature.returns) == 1 and not is_list_output,
        incoming=() if is_list_output else incoming(variant),
        gradient_list=grads[0] if is_list_output else "",
        tensor_locals=tuple(load.name for name, load in loads.items() if name in tensors),
        list_locals=tuple(load.name for name, load in loads.items() if name in lists),
        object_locals=tuple(load.name for name, load in loads.items() if name not in tensors | lists),
        gradients=tuple(_gradient_view(variant, backward, g, loads, printer) for g in backward.gradients),
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
    kept = everything_saved(backward)
    is_list = variant.signature.argument(gradient.inputs[0]).type.is_tensor_list
    return GradientView(
        comment=f"{', '.join(gradient.inputs)}: {_one_line(gradient.formula.text)}",
        kind="joint" if gradient.is_joint else "list" if is_list else "single",
        edges=gradient.edges,
        tested=len(backward.differentiable_inputs) > 1 and not is_list,
        loads=tuple(loads[k.name] for k in kept if index in k.needed_by),
        text=printer.text(gradient.formula.expr),
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _properties(backward: Backward) -> tuple[PropertyView, ...]:
    tensors = [PropertyView(f"_saved_{s.name}", "saved_attribute", s.slot) for s in backward.saved]
    lists = [PropertyView(f"_saved_{s.name}", "unpack_list", s.slot) for s in backward.saved_lists]
    values = [PropertyView(f"_saved_{v.name}", "value_of", v.slot) for v in backward.values]
    return (*tensors, *lists, *values)


# ---- recording


def record_view(variant: Variant, *, inplace: bool = False) -> RecordView | None:
    backward = variant.backward
    if backward is None:
        return None
    edges = tuple(
        EdgeView(i, name, variant.signature.argument(name).type.is_tensor_list)
        for i, name in enumerate(backward.differentiable_inputs)
    )
    before, after = _saves(variant, backward, inplace)
    return RecordView(
        condition=_record_condition(edges),
        class_name=backward.class_name,
        n_edges=_edge_count(edges),
        n_saved=len(backward.saved),
        n_values=backward.n_values,
        edges=edges,
        before=before,
        after=after,
    )


def _record_condition(edges: tuple[EdgeView, ...]) -> str:
    """Ask about three tensors at a time, each list by itself."""
    names = [edge.name for edge in edges if not edge.is_list]
    groups = [names[i : i + 3] for i in range(0, len(names), 3)]
    tests = [f"requires_grad_{len(group)}({', '.join(group)})" for group in groups]
    tests += [f"requires_grad_list({edge.name})" for edge in edges if edge.is_list]
    return " or ".join(tests)


def _edge_count(edges: tuple[EdgeView, ...]) -> str:
    """A list of tensors has an edge for each; it comes last, so that the others keep their numbers."""
    single = sum(not edge.is_list for edge in edges)
    counts = [str(single)] if single else []
    return " + ".join([*counts, *(f"<int>len({edge.name})" for edge in edges if edge.is_list)])


def _saves(variant: Variant, backward: Backward, inplace: bool) -> tuple[tuple[Saves, ...], tuple[Saves, ...]]:
    """What is saved before the result has its history, and after."""
    outputs = variant.signature.output_names
    before: list[tuple[tuple[int, ...], Save]] = []
    after: list[tuple[tuple[int, ...], Save]] = []
    for kept in everything_saved(backward):
        edges = _guards(backward, kept.needed_by)
        of_output = kept.name in outputs or (isinstance(kept, SavedValue) and kept.owner in outputs)
        (after if of_output else before).append((edges, _save(variant, kept, inplace)))
    return _grouped(before), _grouped(after)


def _guards(backward: Backward, needed_by: tuple[int, ...]) -> tuple[int, ...]:
    """Edges to ask before saving; none when a recorded call has at least one of them anyway."""
    edges = backward.edges_of(needed_by)
    every = len(edges) == len(backward.differentiable_inputs)
    return () if every or backward.saved_lists else edges


def _save(variant: Variant, kept: SavedTensor | SavedValue, inplace: bool) -> Save:
    if isinstance(kept, SavedValue):
        return Save("set_value", kept.slot, saved_value_text(variant, kept, inplace))
    if kept.is_list:
        return Save("save_list", kept.slot, kept.name)
    if kept.is_output:
        return Save("save_output", kept.slot, "self" if inplace else kept.name)
    # The value is about to be overwritten: a copy with the same history stands in for it.
    value = "original_of(self)" if inplace and kept.name == "self" else kept.name
    return Save("save_input", kept.slot, value)


def saved_value_text(variant: Variant, value: SavedValue, inplace: bool) -> str:
    if value.owner is None or value.attribute is None:
        return value.name
    outputs = variant.signature.output_names
    owner = "self" if inplace and value.owner in outputs else value.owner
    argument = variant.signature.expect_argument(value.owner)
    text = CythonPrinter().attribute(owner, value.attribute)
    optional = argument is not None and argument.type.optional and value.attribute != "is_none"
    return f"None if {owner} is None else {text}" if optional else text


def _grouped(saves: Iterable[tuple[tuple[int, ...], Save]]) -> tuple[Saves, ...]:
    """One test for all that is saved on account of the same edges."""
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
        return ComputeView("array", text=array_text(forward.text, array_names(variant)))
    assert forward.formula is not None
    text = CythonPrinter().text(forward.formula.expr)
    if forward.kind == "composite":
        return ComputeView("composite", text=text)
    return ComputeView(
        "pointwise",
        text=text,
        kernel=forward_kernel_name(variant) if forward_kernel(variant, table) else "",
        fallback=f"{kernel_prefix(variant)}_by_ops",
        tensors=tuple(a.name for a in _of_tensors(variant)),
        scalars=tuple(a.name for a in _of_numbers(variant)),
        floating=_floating(variant, forward.formula),
    )


def _ufunc_view(variant: Variant) -> ComputeView:
    ufunc = variant.forward.ufunc.upper()
    tensors = [f"{a.name}.array" for a in variant.signature.arguments if a.type.is_tensor]
    numbers = [a.name for a in variant.signature.arguments if not a.type.is_tensor]
    if not numbers:
        function = "unary" if len(tensors) == 1 else "binary"
        return ComputeView("ufunc", function=function, arguments=(ufunc, *tensors))
    first = variant.signature.arguments[0].name == numbers[0]
    return ComputeView("ufunc", function="binary_scalar", arguments=(ufunc, *tensors, *numbers, str(first)))


def array_names(variant: Variant) -> dict[str, str]:
    """What the names of an array expression stand for in the generated function."""
    names = {name: f"{module}.{name}" for name, module in variant.forward.functions}
    for argument in variant.signature.arguments:
        if argument.type.is_tensor_list:
            names[argument.name] = f"arrays_of({argument.name})"
        elif argument.type.is_tensor:
            function = "array_or_none" if argument.type.optional else "array_of"
            names[argument.name] = f"{function}({argument.name})"
    return names


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
    return tuple(a.name for a in _of_tensors(variant) if a.name in used)


# ---- entries


def entry_view(op: Op, variant: Variant, table: Table) -> EntryView:
    signature = variant.signature
    names = signature.output_names
    is_list = signature.returns[0].type.is_tensor_list
    shape = "list" if is_list else "several" if len(names) > 1 else "single"
    return EntryView(
        name=variant.c_entry,
        schema=str(signature),
        node=node_view(variant, table),
        parameters=tuple(Parameter(a.name, c_type(a.type)) for a in signature.arguments),
        returns={"list": "list", "several": "tuple", "single": "TensorBase"}[shape],
        shape=shape,
        outputs=tuple(map(_output, names, op.output_differentiability)),
        view_of=_view_of(variant),
        view_function="share_version" if op.nondifferentiable else "as_view",
        compute=compute_view(variant, table),
        record=record_view(variant),
        written=bool(variant.written),
        inplace=_inplace_view(op, variant, table),
    )


def _output(name: str, differentiable: bool) -> Output:
    return Output(name, f"{name}_array", name if differentiable else "None")


def _view_of(variant: Variant) -> str:
    if not variant.is_view:
        return ""
    alias = variant.signature.returns[0].type.alias
    return next(a.name for a in variant.signature.arguments if a.type.alias == alias)


def has_inplace(op: Op, variant: Variant) -> bool:
    """In place means into `self`, which must be a tensor then."""
    target = variant.signature.expect_argument("self")
    return "inplace" in op.forms and target is not None and target.type.is_tensor


def inplace_name(variant: Variant) -> str:
    return f"inplace_{kernel_prefix(variant)}"


def _inplace_view(op: Op, variant: Variant, table: Table) -> InplaceView | None:
    if variant.written:
        composite = variant.forward.kind == "composite"  # made of ops that write
        return None if composite else InplaceView(variant.c_entry, op.base, _inplace_record(variant), "")
    if not has_inplace(op, variant):
        return None
    copy = copy_entry(table) if variant.forward.kind == "composite" else ""
    return InplaceView(inplace_name(variant), f"{op.base}_", _inplace_record(variant), copy)


def _inplace_record(variant: Variant) -> RecordView | None:
    return record_view(variant, inplace=True)


def copy_entry(table: Table) -> str:
    """The C entry that copies one tensor into another."""
    variants = (variant for op in table.by_base.get("copy_", ()) for variant in op.variants)
    return next(v.c_entry for v in variants if all(a.type.is_tensor for a in v.signature.arguments))


# ---- families


def family_view(family: str, table: Table, compiled_functions: frozenset[str]) -> FamilyView:
    """Everything of one generated module."""
    ops = table.of_family(family)
    op_views = tuple(_op_view(op, table) for op in ops)
    variants = [variant for op in ops for variant in op.variants]
    modules = {module for v in variants for _, module in v.forward.functions}
    return FamilyView(
        name=family,
        ops=op_views,
        ufuncs=tuple(sorted({v.forward.ufunc.upper() for v in variants if v.forward.ufunc})),
        function_modules=tuple(sorted(modules - compiled_functions)),
        compiled_functions=tuple(sorted(modules & compiled_functions)),
        imports=tuple(_imports(family, ops, table)),
        backward_tables=tuple(_backward_tables(variants, table)),
        forward_kernels=tuple(
            ForwardKernel(forward_kernel_name(v), k) for v in variants if (k := forward_kernel(v, table))
        ),
        entries=tuple(entry for view in op_views for entry in view.entries),
        faces=tuple(view.face for view in op_views if view.face),
    )


def _op_view(op: Op, table: Table) -> OpView:
    of_base = table.by_base[op.base]
    return OpView(
        schema=op.name,
        line=op.line,
        entries=tuple(entry_view(op, variant, table) for variant in op.variants),
        face=make_face(of_base) if op is of_base[-1] else None,
    )


def _backward_tables(variants: list[Variant], table: Table) -> Iterator[BackwardTable]:
    for variant in variants:
        kernels = backward_kernels(variant, table)
        if kernels is not None:
            names = tuple(kernel.name if kernel else "gs_pass" for kernel in kernels)
            loops = tuple(kernel for kernel in kernels if kernel)
            yield BackwardTable(backward_table_name(variant), names, loops)


def _imports(family: str, ops: tuple[Op, ...], table: Table) -> Iterator[Import]:
    """C entries of other families and helpers that formulas call, by module."""
    found: dict[str, set[str]] = {}
    for formula in _formulas(ops):
        for module, name in _called(formula.expr):
            found.setdefault(module, set()).add(name)
    if any(op.is_composite and "inplace" in op.forms for op in ops):
        found.setdefault(table.by_base["copy_"][0].family, set()).add(copy_entry(table))
    found.pop(family, None)
    for module in sorted(found):
        yield Import(_MODULES.get(module, f"generated.{module}"), tuple(sorted(found[module])))


_MODULES = {"formulas": "runtime.formulas"}
_NO_MODULES = frozenset({"", "builtins", "intrinsic"})


def _formulas(ops: tuple[Op, ...]) -> Iterator[Formula]:
    for variant in (variant for op in ops for variant in op.variants):
        if variant.forward.formula is not None:
            yield variant.forward.formula
        if variant.backward is not None:
            yield from (gradient.formula for gradient in variant.backward.gradients)


def _called(expr: Expr) -> Iterator[tuple[str, str]]:
    """(module, name) of each call that the printed text makes."""
    module = getattr(expr, "family", "")
    name = getattr(expr, "resolved", "") or getattr(expr, "c_entry", "")
    if name and module not in _NO_MODULES:
        yield module, name
    resolved = getattr(expr, "resolved_arguments", ())
    for child in resolved or expr.children():
        yield from _called(child)
