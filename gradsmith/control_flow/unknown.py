"""A number that nobody may look at."""

from __future__ import annotations

from typing import Any

from gradsmith.control_flow.repeating.loop import Untraceable

_TWO_SIDED = (
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and", "xor",
    "or",
)  # fmt: skip
_OTHERS = (
    "neg", "pos", "abs", "invert", "complex", "int", "float", "index", "round", "trunc", "floor", "ceil", "bool",
    "eq", "ne", "lt", "le", "gt", "ge", "hash", "str", "repr", "format", "len", "iter", "contains", "getitem",
    "call", "array", "array_ufunc", "array_function", "getstate", "reduce", "reduce_ex",
)  # fmt: skip


class Unknown:
    """In the place of the number of a step: whoever uses it does something else in each step."""


def _refuse(*args: Any, **kwargs: Any) -> Any:
    raise Untraceable("a step that uses its number")


for _name in [*_TWO_SIDED, *[f"r{name}" for name in _TWO_SIDED], *_OTHERS]:
    setattr(Unknown, f"__{_name}__", _refuse)
