"""Signatures of the helpers that formulas may call, read from their declarations in ``runtime/formulas``.

codegen imports nothing compiled, and an installation has of a compiled module the declarations alone; so they are read
as text. A call of a helper is then checked exactly as that of an op.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from .errors import hint_from
from .schema import Argument, Return, Signature
from .schema_types import Type
from .vocabulary import HELPER_MODULES

FOLDER = Path(__file__).resolve().parents[2] / "runtime" / "formulas"

# Overloads, which are the ends of names: conj_number is `conj.number`, called as conj(x) where x is a number.
MIXED = "mixed"  # of operands of two dtypes, see ResolverBase.promoting
OVERLOADS = ("info", MIXED, "number")

# Ends of the names of those that write into their first argument: the in-place forms of ops call them.
WRITES = "_into"

BUILTINS = (Signature.parse("int(bool x) -> int"),)

_TYPE = re.compile(r"^ctypedef object (\w+)  # (\S+)$", re.MULTILINE)
_HELPER = re.compile(r"^cpdef\b(?: (\w+) (\w+)\(([^)]*)\)$)?", re.MULTILINE)


@cache
def helper_signatures() -> Mapping[str, tuple[Signature, ...]]:
    """Module -> signatures of its helpers, which formulas may call."""
    return {
        module: tuple(helper for helper in helpers if not helper.base.endswith(WRITES))
        for module, helpers in _declared().items()
    }


@cache
def helper_writers() -> frozenset[tuple[str, str]]:
    """Module and name of the helpers that write into their first argument what another helper makes of it."""
    return frozenset(
        (module, helper.base)
        for module, helpers in _declared().items()
        for helper in helpers
        if helper.base.endswith(WRITES)
    )


@cache
def _declared() -> Mapping[str, tuple[Signature, ...]]:
    types = scan_types((FOLDER / "schema_types.pxd").read_text(encoding="utf-8"))
    return {
        module: BUILTINS if module == "builtins" else tuple(scan_helpers(declarations(path), types))
        for module, path in HELPER_MODULES.items()
    }


def declarations(module: str) -> Path:
    return FOLDER / f"{module.replace('.', '/')}.pxd"


def scan_types(text: str) -> dict[str, Type]:
    """Name in a declaration -> the type behind it."""
    return {"object": Type("object"), **{name: Type.parse(schema) for name, schema in _TYPE.findall(text)}}


def scan_helpers(path: Path, types: Mapping[str, Type]) -> Iterator[Signature]:
    """The ``cpdef`` functions of a .pxd, all of whose arguments must have a type of schema_types.pxd."""
    for returned, name, arguments in _HELPER.findall(path.read_text(encoding="utf-8")):
        declared = [tuple(argument.split()) for argument in arguments.split(",")]
        for type_name in (returned, *(words[0] for words in declared if words)):
            if type_name not in types:
                where = f"{path.name}: {name or 'a cpdef'}"
                raise ValueError(f"{where}: no type '{type_name}'. {hint_from('Types', type_name, types)}")
        yield Signature(
            *_base_and_overload(name),
            tuple(Argument(argument, types[type_name]) for type_name, argument in declared),
            (Return("", types[returned]),),
        )


def _base_and_overload(name: str) -> tuple[str, str]:
    base, _, end = name.rpartition("_")
    return (base, end) if end in OVERLOADS else (name, "")
