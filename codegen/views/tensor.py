"""The Tensor class and the package: what is gathered over all families."""

from __future__ import annotations

from dataclasses import dataclass

from ..api.functions import Face, FunctionView, OperatorView, RefusedInplace, make_face
from ..model import Table
from ..spec.names import name_within, namespace_of
from .model import Import


@dataclass(frozen=True)
class TensorView:
    imports: tuple[Import, ...]
    lazy: tuple[tuple[str, str], ...]  # (lazy_fft, gradsmith.generated.fft): families imported on first use
    methods: tuple[FunctionView, ...]
    refused: tuple[RefusedInplace, ...]
    method_aliases: tuple[tuple[str, str], ...]  # (multiply, mul)
    properties: tuple[FunctionView, ...]
    operators: tuple[OperatorView, ...]


@dataclass(frozen=True)
class PackageView:
    imports: tuple[Import, ...]
    lazy_imports: tuple[Import, ...]  # of families that are imported on first use
    names: tuple[str, ...]
    lazy_names: tuple[str, ...]
    upcalls: tuple[tuple[str, str], ...]  # (copy_, Tensor.copy_)

    @property
    def has_lazy_upcalls(self) -> bool:
        return any(_ON_FIRST_USE.format(name) == function for name, function in self.upcalls)


@dataclass(frozen=True)
class NamespaceView:
    """The functions of ``gradsmith.linalg``: (family, ((linalg_det, det), ...))"""

    name: str
    imports: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(short for _, pairs in self.imports for _, short in pairs))


# Ops that the runtime calls through runtime/switches/upcalls.pyx.
UPCALLS = (
    "add", "clone", "clone_by_rows", "copy_", "expand", "fill_", "real", "sum_to", "to", "geometry_slice",
    "geometry_scatter", "where", "unbind", "basic_index", "basic_index_backward", "index", "index_put_", "cat",
    "permute", "reshape", "rows_of_groups", "scaled_distance", "select", "squeeze", "stack", "unsqueeze", "bucketize",
    "embedded_diagonals",
)  # fmt: skip

_ON_FIRST_USE = '_on_first_use("{}")'


def all_faces(table: Table) -> list[Face]:
    """One face per base, in the order of the table."""
    return [make_face(ops) for ops in table.by_base.values()]


def tensor_view(table: Table) -> TensorView:
    faces = all_faces(table)
    modules = {
        m.target.module: face.family for face in faces for m in (*face.methods, *face.properties) if face.is_lazy
    }
    return TensorView(
        lazy=tuple((name, f"{table.package}.{family}") for name, family in modules.items()),
        imports=_imports(table, {face.base: face.cimports for face in faces}),
        methods=tuple(method for face in faces for method in face.methods),
        refused=tuple(r for face in faces for r in face.refused),
        method_aliases=tuple(pair for face in faces for pair in face.method_aliases),
        properties=tuple(p for face in faces for p in face.properties),
        operators=tuple(operator for face in faces for operator in face.operators),
    )


def package_view(table: Table) -> PackageView:
    faces = all_faces(table)
    functions = {face.base: function_names(face) for face in faces}
    names = {name for of_base in functions.values() for name in of_base}
    public = [name for base, of_base in functions.items() for name in of_base if is_public(base, name, table)]
    lazy = {face.base: functions[face.base] for face in faces if face.is_lazy}
    eager = {base: of_base for base, of_base in functions.items() if base not in lazy}
    lazy_names = {name for of_base in lazy.values() for name in of_base}
    methods = {method.name for face in faces for method in face.methods}
    sources = dict.fromkeys(names, "{}") | dict.fromkeys(lazy_names, _ON_FIRST_USE)
    upcalls = tuple(
        (name, sources.get(name, "Tensor.{}").format(name)) for name in UPCALLS if name in names or name in methods
    )
    return PackageView(
        imports=_imports(table, eager),
        lazy_imports=_imports(table, lazy),
        names=tuple(name for name in public if name not in lazy_names),
        lazy_names=tuple(name for name in public if name in lazy_names),
        upcalls=upcalls,
    )


def namespace_view(namespace: str, table: Table) -> NamespaceView:
    """Functions of a namespace, by family."""
    found: dict[str, list[tuple[str, str]]] = {}
    for face in all_faces(table):
        if not is_internal(face.base, table):
            pairs = [(name, name_within(name)) for name in function_names(face) if namespace_of(name) == namespace]
            found.setdefault(face.family, []).extend(pairs)
    return NamespaceView(namespace, tuple((family, tuple(pairs)) for family, pairs in found.items() if pairs))


def is_public(base: str, name: str, table: Table) -> bool:
    """Does the package export it at its top level?"""
    return not is_internal(base, table) and bool(table.library or not namespace_of(name))


def is_internal(base: str, table: Table) -> bool:
    return any("internal" in op.forms for op in table.by_base[base])


def function_names(face: Face) -> tuple[str, ...]:
    """Names of a base at module level."""
    return (*(function.name for function in face.functions), *(alias for alias, _ in face.function_aliases))


def _imports(table: Table, names: dict[str, tuple[str, ...]]) -> tuple[Import, ...]:
    """Contributions of each family, bases in the order of the table."""
    found: dict[str, list[str]] = {family: [] for family in table.families}
    for base, of_base in names.items():
        found[table.by_base[base][0].family] += of_base
    return tuple(Import(f"{table.package}.{family}", tuple(given)) for family, given in found.items() if given)
