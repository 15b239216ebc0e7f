"""Forwards that reduce: found in the text of an ``array(...)`` expression."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..spec.errors import Problem
from ..spec.syntax import parse

# Functions of NumPy, and of runtime/arrays/functions with `_of`, that reduce along the axis that comes second.
_REDUCTIONS = frozenset({
    "sum", "mean", "prod", "max", "min", "amax", "amin", "std", "var", "nansum", "nanmean", "logsumexp", "median",
    "all", "any",
})  # fmt: skip


@dataclass(frozen=True)
class Reduction:
    """A forward that reduces its input: along an argument, or altogether (`dim` is "")."""

    dim: str


def expect_reduction(forward: str) -> Reduction | None:
    """The reduction that an ``array(...)`` expression makes, when it is a single call of a known one."""
    try:
        call = parse(forward.strip())
    except Problem:
        return None
    if not isinstance(call, ast.Call) or not _is_reduction(call.func) or not call.args:
        return None
    keywords = {k.arg: k.value for k in call.keywords}
    axis = call.args[1] if len(call.args) > 1 else keywords.get("axis", keywords.get("dim", ast.Constant(None)))
    keepdims = keywords.get("keepdims", call.args[2] if len(call.args) > 2 else ast.Constant(False))
    if isinstance(axis, ast.Name):
        return Reduction(axis.id)
    is_all = (isinstance(axis, ast.Constant) and axis.value is None) or (isinstance(axis, ast.Tuple) and not axis.elts)
    keeps = not (isinstance(keepdims, ast.Constant) and keepdims.value is False)
    return None if keeps or not is_all else Reduction("")


def _is_reduction(function: ast.expr) -> bool:
    name = getattr(function, "id", getattr(function, "attr", ""))
    return name.removesuffix("_of") in _REDUCTIONS
