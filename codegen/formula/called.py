"""The functions that the printed text of a formula calls."""

from __future__ import annotations

from collections.abc import Iterator

from ..spec.helpers import WRITES, helper_writers
from .callees import BUILTIN
from .formula import Call, Expr, Name

_NO_MODULES = frozenset({"", BUILTIN, "intrinsic"})


def called_entries(expr: Expr) -> Iterator[tuple[str, str]]:
    """(module, name) of each call that the printed text makes."""
    module = getattr(expr, "family", "")
    name = getattr(expr, "resolved", "") or getattr(expr, "c_entry", "")
    if name and module not in _NO_MODULES:
        yield module, name
    resolved = getattr(expr, "resolved_arguments", ())
    for child in resolved or expr.children():
        yield from called_entries(child)


def writer_of(expr: Expr) -> tuple[str, str] | None:
    """(module, name) of the helper that writes into `self` what a composite makes of it.

    The composite is a call of a helper, ``filled_along``, and beside it there is ``filled_along_into``.
    """
    if not isinstance(expr, Call) or not isinstance(expr.arguments[0], Name) or expr.arguments[0].name != "self":
        return None
    found = (expr.family, f"{expr.c_entry}{WRITES}")
    return found if found in helper_writers() else None


def attempt_of(stem: str) -> tuple[str, str] | None:
    """(module, name) of the helper that may write into `self` what the composite of this name makes of it.

    It has the name and the arguments of the op, ``addmm_into``, and says whether it has written.
    """
    name = f"{stem}{WRITES}"
    return next((found for found in helper_writers() if found[1] == name), None)
