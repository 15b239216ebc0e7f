"""Expressions of ``array(...)`` that would write to an argument: a change that no version counter sees."""

from __future__ import annotations

import ast

from ..spec.errors import Problem
from ..spec.vocabulary import UFUNCS

HINT = "Leave it out: what is computed is a new array."
OUTPUTS = frozenset({"out", "output"})  # the second of scipy.ndimage
OVERWRITE = "overwrite_"  # the arrays that SciPy, and a few functions of NumPy, may use as their workspace


def verify_reads_only(tree: ast.AST) -> None:
    """Raise a `Problem` for a call that names an array to write to.

    What is hidden here, as in ``**more``, meets an array that is read-only when an external op is called.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            _verify_keywords(node)
            _verify_operands(node)


def _verify_keywords(call: ast.Call) -> None:
    for keyword in call.keywords:
        name = keyword.arg or ""
        if name in OUTPUTS and not _is_constant(keyword.value, None):
            raise Problem(f"forward writes into an array, by '{name}='", keyword.col_offset, HINT)
        if name.startswith(OVERWRITE) and not _is_constant(keyword.value, False):
            raise Problem(f"forward lets an argument be overwritten, by '{name}='", keyword.col_offset, "Leave it out.")
        if name == "copy" and _function(call) == "nan_to_num" and not _is_constant(keyword.value, True):
            raise Problem("forward lets an argument be overwritten, by 'copy='", keyword.col_offset, "Leave it out.")


def _verify_operands(call: ast.Call) -> None:
    """``np.multiply(a, b, c)`` writes into c."""
    count = UFUNCS.get(_function(call)) if _is_numpy(call) else None
    if count is not None and len(call.args) > count:
        operand = call.args[count]
        raise Problem(f"forward writes into an array, the last operand of {_function(call)}", operand.col_offset, HINT)


def _function(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _is_numpy(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == "np"


def _is_constant(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value
