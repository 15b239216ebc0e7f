"""The functions that the printed text of a formula calls."""

from __future__ import annotations

from collections.abc import Iterator

from .callees import BUILTIN
from .formula import Expr

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
