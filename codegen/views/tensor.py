"""The Tensor class and the package: what is gathered over all families."""

from __future__ import annotations

from dataclasses import dataclass

from ..api.functions import Face, FunctionView, OperatorView, RefusedInplace, make_face
from ..model import Table
from .model import Import


@dataclass(frozen=True)
class TensorView:
    imports: tuple[Import, ...]
    methods: tuple[FunctionView, ...]
    refused: tuple[RefusedInplace, ...]
    method_aliases: tuple[tuple[str, str], ...]  # (multiply, mul)
    properties: tuple[FunctionView, ...]
    operators: tuple[OperatorView, ...]


@dataclass(frozen=True)
class PackageView:
    imports: tuple[Import, ...]
    names: tuple[str, ...]
    upcalls: tuple[tuple[str, str], ...]  # (copy_, Tensor.copy_)


# Ops that the runtime calls through runtime/switches/upcalls.pyx.
UPCALLS = (
    "add", "clone", "clone_by_rows", "copy_", "expand", "fill_", "real", "sum_to", "to", "geometry_slice",
    "geometry_scatter", "where", "unbind", "basic_index", "basic_index_backward", "index", "index_put_", "cat",
    "permute", "reshape", "select", "squeeze", "stack", "unsqueeze",
)  # fmt: skip


def all_faces(table: Table) -> list[Face]:
    """One face per base, in the order of the table."""
    return [make_face(ops) for ops in table.by_base.values()]


def tensor_view(table: Table) -> TensorView:
    faces = all_faces(table)
    return TensorView(
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
    public = tuple(name for base, of_base in functions.items() if not is_internal(base, table) for name in of_base)
    methods = {method.name for face in faces for method in face.methods}
    upcalls = tuple(
        (name, name if name in names else f"Tensor.{name}") for name in UPCALLS if name in names or name in methods
    )
    return PackageView(_imports(table, functions), public, upcalls)


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
