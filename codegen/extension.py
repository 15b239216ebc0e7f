"""An external table, as a package over gradsmith's."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from .build.build import load_outside, load_table
from .model import Table
from .spec.errors import Position, SpecError, SpecErrors
from .spec.vocabulary import FUNCTIONS_FOLDER, FUNCTIONS_MODULE, scan_functions
from .table_files import ROOT, generated_table
from .views.tensor import tensor_view
from .write.render import render_package


@dataclass(frozen=True)
class Package:
    """The text of a package; nothing of it is compiled yet."""

    table: Table
    files: Mapping[str, str]
    methods: frozenset[str]  # names that the Tensor class gets from it


def make_package(
    text: str,
    file: str,
    name: str,
    *,
    functions: str = "",
    functions_file: str = "functions",
    methods_of: str = "",
) -> Package:
    """Read and check a table, and write its package as text.

    Parameters
    ----------
    text, file : str
        The table, and its path for messages.
    name : str
        The package.
    functions, functions_file : str
        Text of the Python file whose functions ``array(...)`` may call, and its path for messages.
    methods_of : str
        In whose name the package gives the Tensor class methods; "" when it does not.

    Returns
    -------
    Package

    Raises
    ------
    SpecErrors
        With every error of the table.
    RuntimeError
        If gradsmith's own table cannot be read.
    """
    known = dict.fromkeys(public_names(functions, functions_file), FUNCTIONS_MODULE)
    table = load_outside(text, file, name, library_table(), known)
    files = render_package(table, methods_of=methods_of)
    if functions:
        files[f"{FUNCTIONS_MODULE}.py"] = functions
    return Package(table, files, _method_names(table) if methods_of else frozenset())


@cache
def library_table() -> Table:
    """The table of gradsmith's ops as they were generated: reading it takes longer than reading most external ones."""
    file = generated_table()
    try:
        return load_table(file, functions=scan_functions(ROOT / FUNCTIONS_FOLDER))
    except SpecErrors as errors:  # not those of the table at hand, but of a generator that is newer than what it made
        problem = f"no other table can be built while gradsmith's own, {file}, has errors; build gradsmith:\n{errors}"
        raise RuntimeError(problem) from None


def _method_names(table: Table) -> frozenset[str]:
    view = tensor_view(table)
    members = {member.name for member in (*view.methods, *view.properties)}
    refused = {member.name for member in view.refused}
    return frozenset(members | refused | {alias for alias, _ in view.method_aliases})


def public_names(module: str, file: str = "functions") -> Iterator[str]:
    """Names that a Python module defines or imports at its top level, apart from other modules."""
    try:
        tree = ast.parse(module.removeprefix("\ufeff"))  # with which some editors begin
    except SyntaxError as error:
        position = Position(error.lineno or 1, error.offset or 1)
        raise SpecErrors([SpecError(file, position, "", f"does not parse: {error.msg}")]) from None
    except ValueError as error:  # a null byte, up to Python 3.11
        raise SpecErrors([SpecError(file, Position(1, 1), "", f"does not parse: {error}")]) from None
    except (MemoryError, RecursionError):
        raise SpecErrors([SpecError(file, Position(1, 1), "", "does not parse: nested too deeply")]) from None
    for statement in tree.body:
        for name in _bound(statement):
            if not name.startswith("_"):
                yield name


def _bound(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.ImportFrom(names=names):
            return [alias.asname or alias.name for alias in names]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
    return []
