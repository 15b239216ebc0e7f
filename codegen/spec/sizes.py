"""Numbers and repetitions in the Python texts of a table that no computer has the memory for.

Python computes ``10**10**10`` to its last digit, and ``'a' * 10**12`` before NumPy is asked anything. A size that
depends on the arguments of a call is not known here.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType

from .errors import Problem
from .vocabulary import MATRIX_GENERATORS, SAMPLE_GENERATORS

BITS = 128  # of whole numbers; NumPy's have 64
LONGEST = 1_000_000  # items of a repeated list or text
LARGEST = 10_000_000  # elements of one array of a sample
_MAKERS = SAMPLE_GENERATORS | MATRIX_GENERATORS | {"integers", "sorted"}

_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.LShift: operator.lshift,
        ast.Pow: operator.pow,
    }
)


def verify_sizes(tree: ast.AST, subject: str) -> None:
    """Raise a `Problem` for a number of thousands of digits, a text repeated a million times, an array of gigabytes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp):
            _whole_number(node, subject)
            _verify_repetition(node, subject)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MAKERS:
            _verify_array(node, subject)


def _whole_number(node: ast.expr, subject: str) -> int | None:
    """Value of an expression of whole numbers; None of any other."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _whole_number(node.operand, subject)
        return None if value is None else -value
    if not isinstance(node, ast.BinOp) or type(node.op) not in _OPERATORS:
        return None
    left, right = _whole_number(node.left, subject), _whole_number(node.right, subject)
    return None if left is None or right is None else _computed(node, left, right, subject)


def _computed(node: ast.BinOp, left: int, right: int, subject: str) -> int | None:
    grows = isinstance(node.op, (ast.Pow, ast.LShift))
    if grows and right < 0:
        return None  # a fraction, or an error of Python
    bits = left.bit_length() * right if isinstance(node.op, ast.Pow) else left.bit_length() + right if grows else 0
    value = None if bits > 2 * BITS else _OPERATORS[type(node.op)](left, right)
    if value is None or value.bit_length() > BITS:
        raise Problem(f"{subject} computes a number of more than {BITS} bits", node.col_offset)
    return value


def _verify_repetition(node: ast.BinOp, subject: str) -> None:
    if not isinstance(node.op, ast.Mult):
        return
    for repeated, factor in ((node.left, node.right), (node.right, node.left)):
        count = _whole_number(factor, subject)
        if _is_sequence(repeated) and count is not None and count > LONGEST:
            raise Problem(f"{subject} repeats a list or text {count} times", node.col_offset)


def _verify_array(call: ast.Call, subject: str) -> None:
    sizes = [_whole_number(size, subject) for size in call.args]
    count = math.prod(size for size in sizes if size is not None)
    if count > LARGEST:
        raise Problem(f"{subject} makes an array of {count} elements", call.col_offset, f"At most {LARGEST}.")


def _is_sequence(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _is_sequence(node.left) or _is_sequence(node.right)
    return isinstance(node, (ast.List, ast.Tuple)) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    )
