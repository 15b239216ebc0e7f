"""A generated module: the ops of one family and what they need of others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..api.functions import make_face
from ..formula.called import attempt_of, called_entries, writer_of
from ..formula.callees import BUILTIN
from ..formula.formula import Call, Expr
from ..loops.kernels import kernel_of, with_shared_loops
from ..model import Op, Table, Variant
from ..spec.names import backward_table_name, forward_kernel_name, name_within, scipy_name
from ..spec.vocabulary import FUNCTIONS_PACKAGE, HELPER_MODULES, HELPERS_PACKAGE
from .batching_lines import rules
from .entry import entry_view, has_inplace
from .model import BackwardTable, EntryText, EntryView, FamilyView, ForwardKernel, Import, OpView
from .node import summing_functions
from .node_lines import node_class
from .wrapper_lines import c_functions


def family_view(family: str, table: Table, compiled_functions: frozenset[str]) -> FamilyView:
    """Everything of one generated module."""
    ops = table.of_family(family)
    op_views = tuple(_op_view(op, table) for op in ops)
    variants = [variant for op in ops for variant in op.variants]
    faces = tuple(face for view in op_views for face in view.faces)
    direct = {name for face in faces for name in face.direct}
    entries = tuple(entry for view in op_views for entry in view.entries)
    modules = {module for v in variants for _, module in v.forward.functions}
    return FamilyView(
        name=family,
        ops=op_views,
        ufuncs=tuple(sorted({v.forward.ufunc.upper() for v in variants if v.forward.ufunc})),
        function_modules=_by_package(modules - compiled_functions, table),
        compiled_functions=_by_package(modules & compiled_functions, table),
        uses_builtins=any(v.forward.builtins & table.face_names for v in variants) or any(map(_is_python, _trees(ops))),
        scipy_users=tuple(dict.fromkeys((scipy_name(op.base), op.spoken) for op in ops if op.needs_scipy)),
        imports=tuple(_imports(family, ops, table)),
        backward_tables=tuple(_backward_tables(ops, table)),
        forward_kernels=tuple(_forward_kernels(ops, table)),
        entries=entries,
        direct=tuple(entry for entry in entries if entry.inplace and entry.inplace.name in direct),
        faces=faces,
        of_namespaces=tuple(_of_namespaces(ops)),
        has_docstrings=not table.library,
    )


def _by_package(modules: Iterable[str], table: Table) -> tuple[Import, ...]:
    """Modules of array functions, grouped by the room that they are imported from."""
    folder = table.package if table.library else FUNCTIONS_PACKAGE
    rooms: dict[str, list[str]] = {}
    for module in sorted(modules):
        room, _, name = module.rpartition(".")
        rooms.setdefault(f"{folder}.{room}" if room else folder, []).append(name)
    return tuple(Import(package, tuple(names)) for package, names in rooms.items())


def _of_namespaces(ops: tuple[Op, ...]) -> Iterator[tuple[str, str, str]]:
    named = {op.base: op.namespace for op in ops if op.namespace and "internal" not in op.forms and op.forms}
    return ((base, namespace, name_within(base)) for base, namespace in named.items())


def _op_view(op: Op, table: Table) -> OpView:
    of_base = table.by_base[op.base]
    entries = tuple(entry_view(op, variant, table) for variant in op.variants)
    return OpView(
        schema=op.name,
        key=op.signature.full_name,
        entries=entries,
        texts=tuple(map(_entry_text, entries)),
        faces=(make_face(of_base),) if op is of_base[-1] else (),
    )


def _entry_text(entry: EntryView) -> EntryText:
    return EntryText((node_class(entry.node),) if entry.node else (), tuple(c_functions(entry)), tuple(rules(entry)))


def _backward_tables(ops: tuple[Op, ...], table: Table) -> Iterator[BackwardTable]:
    for op, variant in _variants(ops):
        loops = table.loops[variant.c_entry].backward
        if loops:
            names = tuple(loop.name if loop else "gs_pass" for loop in loops)
            kernels = with_shared_loops(tuple(kernel_of(loop) for loop in loops if loop))
            yield BackwardTable(backward_table_name(variant.stem), op.signature.full_name, names, kernels)


def _forward_kernels(ops: tuple[Op, ...], table: Table) -> Iterator[ForwardKernel]:
    for op, variant in _variants(ops):
        loop = table.loops[variant.c_entry].forward
        if loop:
            yield ForwardKernel(forward_kernel_name(variant.stem), op.signature.full_name, kernel_of(loop))


def _variants(ops: tuple[Op, ...]) -> Iterator[tuple[Op, Variant]]:
    return ((op, variant) for op in ops for variant in op.variants)


def _imports(family: str, ops: tuple[Op, ...], table: Table) -> Iterator[Import]:
    """C entries of other families and helpers that formulas call, by module."""
    found: dict[str, set[str]] = {}
    for tree in _trees(ops):
        for module, name in called_entries(tree):
            found.setdefault(module, set()).add(name)
    for op, variant in _variants(ops):
        for module, name in summing_functions(variant):
            found.setdefault(module, set()).add(name)
        if variant.forward.kind == "composite" and variant.forward.formula and has_inplace(op, variant):
            writer = writer_of(variant.forward.formula.expr) or attempt_of(variant.stem)
            if writer:
                found.setdefault(writer[0], set()).add(writer[1])
    found.pop(f"{table.package}.{family}" if table.library else family, None)
    for module in sorted(found):
        yield Import(_module_path(module), tuple(sorted(found[module])))


def _module_path(module: str) -> str:
    """Module of a family or of the helpers; an external family names its own."""
    if "." in module:
        return module
    if module in HELPER_MODULES:
        return f"{HELPERS_PACKAGE}.{HELPER_MODULES[module]}"
    return f"gradsmith.generated.{module}"


def _trees(ops: tuple[Op, ...]) -> Iterator[Expr]:
    return (tree for _, variant in _variants(ops) for tree in variant.trees)


def _is_python(expr: Expr) -> bool:
    """Does it call functions of Python whose names may be those of ops."""
    return any(isinstance(part, Call) and part.c_entry.startswith(f"{BUILTIN}.") for part in expr.walk())
