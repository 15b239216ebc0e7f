"""The parameters that Python sees of an op."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .model import Op
from .printing import literal_text
from .schema import Argument, Signature
from .schema_types import Type

# What functions call `self`, as PyTorch's do.
FIRST_TENSOR = "input"

# Parameters that are also known by the name that NumPy gives them.
SECOND_NAMES = {"dim": "axis", "keepdim": "keepdims"}


@dataclass(frozen=True)
class Parameter:
    """A parameter in Python. `default` is text, "" when it is required."""

    name: str
    type: Type
    default: str = ""
    keyword_only: bool = False
    variadic: bool = False  # *shape

    @property
    def text(self) -> str:
        star = "*" if self.variadic else ""
        return f"{star}{self.name}={self.default}" if self.default else f"{star}{self.name}"


def function_name(name: str) -> str:
    return FIRST_TENSOR if name == "self" else name


def python_parameters(op: Op, *, method: bool) -> tuple[Parameter, ...]:
    """Parameters of the function or method of one entry, second names last."""
    arguments = [a for a in op.signature.arguments if not (method and a.name == "self")]
    own = [_parameter(op, a, method=method) for a in arguments]
    second = [
        Parameter(SECOND_NAMES[a.name], a.type, "None", keyword_only=True)
        for a in arguments
        if _has_second_name(op.signature, a)
    ]
    return tuple(sorted((*own, *second), key=lambda p: p.keyword_only))


def out_parameter(op: Op) -> Parameter:
    """`out`: a tensor, or a tuple of as many as the op has results."""
    several = len(op.signature.returns) > 1
    type_ = Type("Tensor", optional=True, is_list=several, length=len(op.signature.returns) if several else 0)
    return Parameter("out", type_, "None", keyword_only=True)


def _parameter(op: Op, argument: Argument, *, method: bool) -> Parameter:
    name = function_name(argument.name)
    default = default_text(argument.default or "")
    # A tensor list is spread out in functions (einsum), a shape in methods (view).
    if argument.name == op.variadic and method != argument.type.is_tensor_list:
        return Parameter(name, argument.type, variadic=True)
    if not default and _has_second_name(op.signature, argument):
        default = "None"  # it may come under its second name; the conversion refuses None
    return Parameter(name, argument.type, default, argument.keyword_only)


def default_text(default: str) -> str:
    """A default of the table as generated code has it; "" stays."""
    if not default:
        return ""
    tree = ast.parse(default, mode="eval").body
    return literal_text(tree.value) if isinstance(tree, ast.Constant) else ast.unparse(tree)


def _has_second_name(signature: Signature, argument: Argument) -> bool:
    """Not when required parameters follow it: they could not be given by position any more."""
    if argument.name not in SECOND_NAMES:
        return False
    if argument.default is not None or argument.keyword_only:
        return True
    following = signature.arguments[signature.arguments.index(argument) + 1 :]
    return all(a.default is not None or a.keyword_only for a in following)


def with_star(parameters: Iterable[Parameter]) -> Iterator[str]:
    starred = False
    for parameter in parameters:
        if parameter.keyword_only and not starred:
            yield "*"
        starred = starred or parameter.keyword_only or parameter.variadic
        yield parameter.text


def argument_text(op: Op, argument: Argument, *, method: bool) -> str:
    name = argument.name if method else function_name(argument.name)
    spread = argument.name == op.variadic and method != argument.type.is_tensor_list
    return f"spread({name})" if spread else name
