"""Python's operators of an op that names none: they follow from its name."""

from __future__ import annotations

from collections.abc import Collection

from .schema import Signature
from .vocabulary import OPERATORS

# Name of an op -> the name of its operator between the underscores.
_BINARY = {
    "add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "floor_divide": "floordiv", "remainder": "mod",
    "pow": "pow", "matmul": "matmul", "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge",
    "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor",
    "bitwise_left_shift": "lshift", "bitwise_right_shift": "rshift",
}  # fmt: skip
_UNARY = {"neg": "neg", "positive": "pos", "abs": "abs", "bitwise_not": "invert"}
_SWAPPED = {"eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
_PREFIXES = (("binary", ""), ("reflected", "r"), ("inplace", "i"))


def usual_operators(signature: Signature, forms: Collection[str]) -> tuple[tuple[str, str], ...]:
    """``mul`` -> (``__mul__``, binary), (``__rmul__``, reflected), and in place where the op has that form."""
    name, count = signature.base, len(signature.tensor_arguments)
    if signature.overload or "method" not in forms or count != len(signature.arguments):
        return ()
    if name in _UNARY and count == 1:
        return ((f"__{_UNARY[name]}__", "unary"),)
    if name not in _BINARY or count != 2:
        return ()
    found = ((f"__{prefix}{_BINARY[name]}__", kind) for kind, prefix in _PREFIXES if kind != "inplace" or kind in forms)
    return tuple((method, kind) for method, kind in found if method in OPERATORS[kind])


def other_side(method: str, kind: str) -> str:
    """The operator as the other operand has it: ``__rmul__`` of ``__mul__``, ``__gt__`` of ``__lt__``."""
    name = method.strip("_")
    if kind == "binary":
        return f"__{_SWAPPED.get(name, f'r{name}')}__"
    return f"__{name[1:]}__" if kind == "reflected" else f"__r{name[1:]}__"


def operator_names(base: str) -> tuple[str, ...]:
    """The operators that an op of this name may have."""
    names = {"binary": _BINARY.get(base), "unary": _UNARY.get(base)}
    return tuple(f"__{name}__" for name in names.values() if name)
