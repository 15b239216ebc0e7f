"""Entries of the table, by the names that files have for them: those of schemas, or ``add_`` for the in-place form."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from gradsmith.generated.op_table import OPS, Argument, OpRow
from gradsmith.runtime.programs.program import Slot, Step

NUMBERS = (bool, int, float, complex)
OBJECTS = ("group", "structure")  # arguments of type object which no file holds
IN_NAMESPACES = ("fft.", "linalg.", "special.")


def base_of(step: Step) -> str:
    """The name of the op of a step, as functions have it."""
    return step.name.replace(".", "_") if step.name.startswith(IN_NAMESPACES) else step.name


def name_of(step: Step) -> str | None:
    """The name of the entry whose op a step is; overloads of one op are told apart by the types of the arguments."""
    for name, row in _by_base().get((base_of(step), step.writes), ()):
        if _fits(row.arguments, step.operands):
            return name
    return None


@cache
def entries() -> dict[str, tuple[OpRow, bool]]:
    """By the names that files have for them, and whether the in-place form is meant."""
    found: dict[str, tuple[OpRow, bool]] = {}
    for row in OPS:
        if needs_object(row):
            continue
        schema = row.name.partition("(")[0]
        found[schema] = row, False
        if "inplace" in row.forms:
            base, dot, overload = schema.partition(".")
            found.setdefault(f"{base}_{dot}{overload}", (row, True))
    return found


def needs_object(row: OpRow) -> bool:
    """Does an entry have an argument that no file can hold, such as a process group?"""
    return any(argument.type == "object" and argument.name in OBJECTS for argument in row.arguments)


@cache
def _by_base() -> dict[tuple[str, bool], list[tuple[str, OpRow]]]:
    """By the name that steps have, and whether they write."""
    found: dict[tuple[str, bool], list[tuple[str, OpRow]]] = {}
    for name, (row, is_inplace) in entries().items():
        base = f"{row.base}_" if is_inplace else row.base
        found.setdefault((base, is_inplace or row.base.endswith("_")), []).append((name, row))
    return found


def _fits(arguments: tuple[Argument, ...], operands: tuple[Any, ...]) -> bool:
    return len(arguments) == len(operands) and all(map(_is_of, arguments, operands))


def _is_of(argument: Argument, operand: Any) -> bool:
    """Does an operand look like an argument of that type? The overloads of one op are told apart by that."""
    kind = argument.type
    if operand is None:
        return "?" in kind or kind == "object"
    if isinstance(operand, Slot):
        return (kind.startswith("Tensor") and "[]" not in kind) or kind == "object"
    if kind.startswith("Tensor"):
        return "[]" in kind or ("Scalar" in kind and type(operand) in NUMBERS)
    if kind.startswith("dtype"):
        return isinstance(operand, np.dtype)
    if kind.startswith(("Scalar", "float", "int", "bool")) and "[" not in kind:
        return type(operand) in NUMBERS
    return type(operand) not in NUMBERS or "[]" not in kind


@cache
def family(name: str) -> ModuleType:
    return importlib.import_module(f"gradsmith.generated.{name}")


def family_named(name: Any) -> ModuleType | None:
    """The module of a family of the table."""
    return family(name) if isinstance(name, str) and any(row.family == name for row in OPS) else None


def families() -> Iterator[ModuleType]:
    for name in sorted({row.family for row in OPS}):
        yield family(name)


@cache
def hidden_functions() -> dict[str, Callable[..., Any]]:
    """Functions of entries that the list of ops leaves out: parts of others."""
    known = {row.base for row in OPS}
    found: dict[str, Callable[..., Any]] = {}
    for module in families():
        for name, one in vars(module).items():
            if callable(one) and hasattr(module, f"call_{name}") and name not in known:
                found[name] = one
    return found
