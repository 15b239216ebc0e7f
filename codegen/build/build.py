"""Raw entries -> the frozen, verified table.

Two passes. The first understands every signature, so that formulas may call ops declared later. The
second resolves the formulas and decides what each node keeps. Errors are collected over all
entries and raised together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from ..check.circles import report_circles
from ..check.context import Context
from ..check.forward import expect_forward
from ..check.functions import report_uncalled, verify_functions
from ..check.laziness import report_eager_calls
from ..check.outputs import expect_condition
from ..check.requirements import requirements
from ..entries.declaration import Declaration
from ..entries.declare import declare
from ..entries.functions import DeclaredFunctions, declared_functions, is_expression
from ..entries.module_names import verify_module_names
from ..entries.reader import RawEntry, read, read_file
from ..formula.callees import Callee, Callees
from ..model import Backward, Op, Table, Variant
from ..spec.errors import Collector
from ..spec.helpers import WRITES
from ..spec.schema import Signature
from ..spec.usual_operators import operator_names
from ..spec.vocabulary import FUNCTIONS_FOLDER, LOOP_UFUNCS, scan_functions
from .agreement import verify_agreement
from .backward import BackwardBuilder
from .batching import expect_batching
from .complex_support import refusing_complex
from .derive import Deriver
from .library import library_callees, library_returns
from .linearity import holomorphic_ops
from .loops import loops_of
from .tangents import TangentBuilder


def load_table(source: Path | str, *, file: str = "", functions: Mapping[str, str] | None = None) -> Table:
    """Read, check and build a table of ops.

    Parameters
    ----------
    source : Path or str
        The file, or its text.
    file : str
        Name of the file in messages; by default that of `source`.
    functions : mapping, optional
        Array functions that ``array(...)`` may call: name -> module. By default those of
        ``runtime/arrays/functions`` beside the file.

    Returns
    -------
    Table

    Raises
    ------
    SpecErrors
        With every error of the table.
    """
    if isinstance(source, str):
        return _build(source, Origin(file or "derivatives.yaml"), functions or {})
    if functions is None:
        functions = scan_functions(source.parent / FUNCTIONS_FOLDER)
    return _build(read_file(source, file or source.name), Origin(file or source.name), functions)


def load_outside(text: str, file: str, package: str, library: Table, functions: Mapping[str, str]) -> Table:
    """Read, check and build an external table, whose formulas may call the ops of the `library` as well.

    Parameters
    ----------
    text, file : str
        The table, and its path for messages.
    package : str
        Name of the package that its modules will be in.
    library : Table
        Gradsmith's own table.
    functions : mapping
        Array functions of the author: name -> module of the package.

    Returns
    -------
    Table

    Raises
    ------
    SpecErrors
        With every error of the table.
    """
    return _build(text, Origin(file, package, library), functions)


@dataclass(frozen=True)
class Origin:
    """Origin of a table; `package` and `library` are for an external one."""

    file: str
    package: str = ""
    library: Table | None = None


def _build(text: str, origin: Origin, functions: Mapping[str, str]) -> Table:
    errors = Collector(origin.file)
    everything = read(text, errors) if origin.library is None else read(text, errors, families=None)
    expressions = declared_functions(everything, errors)
    entries = tuple(entry for entry in everything if not is_expression(entry))
    declarations = [d for entry in entries if (d := declare(entry, errors, functions, origin.package)) is not None]
    declarations = refusing_complex(declarations, origin.library)
    _verify_unique_entries(declarations, errors)
    _verify_unique_faces(declarations, errors)
    _verify_inplace_entries(declarations, errors)
    _verify_made_forms(declarations, errors)
    _verify_modules(declarations, functions, errors)
    context = _context(entries, declarations, functions, origin.library, errors, expressions)
    verify_functions(expressions, {declaration.base for declaration in declarations}, context)
    if report_circles(declarations, context):
        errors.raise_if_any()  # following a circle of calls would not end
    deriver = Deriver(declarations, context, origin.library)
    declarations = [deriver.completed(declaration) for declaration in declarations]
    numbers = _node_numbers(declarations)
    if not errors:  # duplicate entries are already reported
        verify_module_names(declarations, numbers, origin.library, errors)
    variants = [_variants(d, numbers.get(i, 0), context) for i, d in enumerate(declarations)]
    if not errors:
        report_uncalled(expressions, context)
    errors.raise_if_any()
    _verify_saves(declarations, variants, errors)
    ops = [d.op(v) for d, v in zip(declarations, variants, strict=True)]
    report_eager_calls(declarations, ops, errors)
    verify_agreement(ops, declarations, deriver, context)
    errors.raise_if_any()
    return _table(origin, ops, context.callees.holomorphic)


def _table(origin: Origin, ops: list[Op], holomorphic: frozenset[str]) -> Table:
    by_base: dict[str, tuple[Op, ...]] = {}
    for op in ops:
        by_base[op.base] = (*by_base.get(op.base, ()), op)
    families = tuple(dict.fromkeys(op.family for op in ops))
    table = Table(origin.file, tuple(ops), by_base, families, holomorphic=holomorphic)
    if origin.library:
        table = replace(table, package=origin.package, library=origin.library)
    return replace(table, loops={v.c_entry: loops_of(v, table) for op in table.ops for v in op.variants})


# ---- what only the whole table can tell


def _verify_unique_entries(declarations: list[Declaration], errors: Collector) -> None:
    """No schema and no C entry is declared twice."""
    schemas: dict[str, Declaration] = {}
    arguments: dict[tuple[str, str], Declaration] = {}
    owners: dict[str, Declaration] = {}
    for declaration in declarations:
        name = declaration.signature.full_name
        first = schemas.setdefault(name, declaration)
        if first is not declaration:
            problem = f"'{name}' was already declared at line {first.position.line}"
            hint = "Tell them apart by an overload name: base.overload(...)."
            errors.add(declaration.position, declaration.base, problem, hint)
            continue
        first = arguments.setdefault((declaration.base, declaration.signature.arguments_text), declaration)
        if first is not declaration:
            problem = f"takes the same arguments as '{first.signature.full_name}', which would always be called"
            errors.add(declaration.position, declaration.base, problem)
        for c_entry in declaration.c_entries:
            owner = owners.setdefault(c_entry, declaration)
            if owner is not declaration:
                problem = f"its C entry {c_entry} is also that of {owner.signature.full_name}"
                errors.add(declaration.position, declaration.base, problem)


def _verify_unique_faces(declarations: list[Declaration], errors: Collector) -> None:
    """A special method or an alias leads to the entries of one base only."""
    owners = {declaration.base: declaration.base for declaration in declarations}
    for declaration in declarations:
        for name in declaration.other_names:
            owner = owners.setdefault(name.text, declaration.base)
            if owner != declaration.base or name.text == owner:
                problem = f"'{name.text}' is already a name of {owner}"
                errors.add(name.position, declaration.base, problem)


def _verify_inplace_entries(declarations: list[Declaration], errors: Collector) -> None:
    """``mul_`` is either a form of `mul` or an entry of its own."""
    exact = {d.base: d for d in declarations if any(a.type.written for a in d.signature.arguments)}
    for declaration in declarations:
        other = exact.get(f"{declaration.base}_")
        if other is not None and "inplace" in declaration.forms:
            problem = f"'{other.base}' is its in-place form, and an entry of its own at line {other.position.line}"
            errors.add(declaration.position, declaration.base, problem, "Take 'inplace' away from its variants.")
        if other is not None and declaration.policy.out_of_place:
            problem = f"out_of_place, but '{other.base}' is its in-place form, at line {other.position.line}"
            errors.add(declaration.position, declaration.base, problem, "Take out_of_place away.")


def _verify_made_forms(declarations: list[Declaration], errors: Collector) -> None:
    """``t_copy`` is the copying form of `t` and nothing else, ``swap_`` the in-place form of an alias `swap`."""
    bases = {d.base: d.base for d in declarations}
    taken = bases | {a.text: d.base for d in declarations for a in d.aliases}
    for declaration in declarations:
        aliases = [alias.text for alias in declaration.aliases]
        made = [("copy", "copying", f"{name}_copy") for name in (declaration.base, *aliases)]
        own = [declaration.base] if f"{declaration.base}_" not in bases else []  # such an entry is already reported
        made += [("inplace", "in-place", f"{name}_") for name in (*own, *aliases)]
        for form, word, name in made:
            if form in declaration.forms and name in taken:
                problem = f"its {word} form '{name}' is already a name of {taken[name]}"
                errors.add(declaration.position, declaration.base, problem, f"Take '{form}' away from its variants.")


def _verify_modules(declarations: list[Declaration], functions: Mapping[str, str], errors: Collector) -> None:
    """An argument would hide a module whose functions the forward calls, an op would replace it."""
    for declaration in declarations:
        signature = declaration.signature
        named = [*(a.name for a in signature.arguments), *(r.name for r in signature.returns), declaration.base]
        named += [alias.text for alias in declaration.aliases]
        for module in sorted(set(functions.values()).intersection(named)):
            problem = f"'{module}' is taken: a module of array functions has that name"
            errors.add(declaration.position, declaration.base, problem, "Choose another name.")


def _node_numbers(declarations: list[Declaration]) -> dict[int, int]:
    """Position of an entry -> the number of its nodes: the first that leaves no two classes of one name."""
    seen: set[str] = set()
    numbers: dict[int, int] = {}
    for i, declaration in enumerate(declarations):
        if declaration.has_node:
            numbers[i] = next(n for n in count() if seen.isdisjoint(declaration.node_classes(n)))
            seen |= declaration.node_classes(numbers[i])
    return numbers


def _context(
    entries: tuple[RawEntry, ...],
    declarations: list[Declaration],
    functions: Mapping[str, str],
    library: Table | None,
    errors: Collector,
    expressions: DeclaredFunctions,
) -> Context:
    declared = {declaration.entry.position for declaration in declarations}
    broken = [entry for entry in entries if entry.position not in declared]
    callees = Callees(
        (callee for declaration in declarations for callee in _callees(declaration)),
        broken={e.base for e in broken}
        | {m.text for e in broken for _, m in e.operators}
        | {name for e in broken for name in operator_names(e.base)},
        holomorphic=holomorphic_ops(declarations, library),
        library=library_callees(library) if library else None,
        functions=expressions.functions,
        broken_functions=expressions.broken,
    )
    returns = _multi_returns(declarations)
    if library is None:
        writers = frozenset(name for name in functions if name.endswith(WRITES))
        return Context(callees, returns, _without(functions, writers), errors, writers)
    returns = library_returns(library) | returns
    return Context(callees, returns, functions, errors, function_kind="function that was given")


def _without(functions: Mapping[str, str], names: frozenset[str]) -> dict[str, str]:
    return {name: module for name, module in functions.items() if name not in names}


def _callees(declaration: Declaration) -> list[Callee]:
    module, loops, operators = declaration.module, _loops(declaration), declaration.operators
    return [
        Callee(signature, c_entry, module, loops, operators, declaration.is_elementwise, declaration.reduction)
        for (signature, _), c_entry in zip(declaration.expanded, declaration.c_entries, strict=True)
    ]


def _loops(declaration: Declaration) -> bool:
    """Can the op be part of a C loop? Its own entry says so, or the emitter knows it."""
    forward = declaration.forward
    if "require" in declaration.entry.pairs:
        return False  # a loop asks nothing
    if forward is None or declaration.is_intrinsic:
        return True
    if forward.kind == "ufunc":
        return forward.text.strip() in LOOP_UFUNCS
    return forward.kind == "pointwise"


def _multi_returns(declarations: list[Declaration]) -> dict[str, tuple[str, ...]]:
    return {
        c_entry: declaration.signature.output_names
        for declaration in declarations
        if len(declaration.signature.returns) > 1
        for c_entry in declaration.c_entries
    }


def _verify_saves(declarations: list[Declaration], variants: list[tuple[Variant, ...]], errors: Collector) -> None:
    """Of the tensors of an entry that says what its nodes keep, these keep no others, and each of those."""
    for declaration, own in zip(declarations, variants, strict=True):
        said = declaration.entry.lists.get("saves")
        if said is None:
            continue
        nodes = [variant.backward for variant in own if variant.backward]
        kept = {saved.name for node in nodes for saved in (*node.saved, *node.saved_lists)}
        shown = ", ".join(text.text for text in said)
        for name in sorted(kept - {text.text for text in said}):
            problem = f"saves [{shown}], but its formulas cannot do without '{name}'"
            errors.add(said[0].position if said else declaration.position, declaration.base, problem)
        for text in said:
            if text.text not in kept:
                problem = f"saves '{text.text}', which its formulas can do without"
                errors.add(text.position, declaration.base, problem, "Take it away.")


# ---- variants


def _variants(declaration: Declaration, number: int, context: Context) -> tuple[Variant, ...]:
    """The variants of an entry without errors."""
    indices = range(len(declaration.expanded))
    found = [_expect_variant(declaration, i, number, context) for i in indices]
    return tuple(variant for variant in found if variant is not None)


def _expect_variant(declaration: Declaration, index: int, number: int, context: Context) -> Variant | None:
    signature = declaration.expanded[index][0]
    forward = expect_forward(declaration, signature, context)
    backward = BackwardBuilder(declaration, index, number, context).expect_backward(forward)
    condition = expect_condition(declaration, signature, context)
    required = tuple(requirements(declaration, signature, context))
    if forward is None or context.errors:
        return None
    tangents = None
    if backward is not None:
        tangents = TangentBuilder(declaration, index, backward, context).expect_tangents()
        if tangents is None:
            return None
    batching = expect_batching(declaration, signature, forward, tangents, context)
    returned = signature.returns[0].type
    is_view = len(signature.returns) == 1 and bool(returned.alias) and not returned.written
    return Variant(
        c_entry=declaration.c_entries[index],
        signature=signature,
        forward=forward,
        backward=backward,
        tangents=tangents,
        is_view=is_view,
        multi_view=is_view and returned.is_list,
        scalar_positions=declaration.scalar_positions(index),
        refused=_refused(declaration, signature, backward),
        condition=condition,
        requirements=required,
        batching=batching,
    )


def _refused(declaration: Declaration, signature: Signature, backward: Backward | None) -> tuple[str, ...]:
    """Tensors without a gradient of which the entry does not say that they have none."""
    if not declaration.has_node:
        return ()
    settled = declaration.non_differentiable.union(backward.differentiable_inputs if backward else ())
    return tuple(a.name for a in signature.tensor_arguments if a.name not in settled)
