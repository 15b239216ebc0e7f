"""The parameters that Python sees of an op."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ..formula.printing import literal_text
from ..model import Op
from ..spec.names import FIRST_TENSOR, SECOND_NAMES
from ..spec.schema import Argument, Signature
from ..spec.schema_types import Type

# Name in a method of sizes or dimensions given one by one; the parameter's own name is for all at once.
SPREAD = "args"


@dataclass(frozen=True)
class Parameter:
    """A parameter in Python. `default` is text, "" when it is required."""

    name: str
    type: Type
    default: str = ""
    keyword_only: bool = False
    variadic: bool = False  # *shape
    second_name_of: str = ""  # the parameter that this one stands for
    is_required: bool = False  # its default only makes room for a second name, its own or of one before it

    @property
    def text(self) -> str:
        star = "*" if self.variadic else ""
        return f"{star}{self.name}={self.default}" if self.default else f"{star}{self.name}"


def function_name(name: str) -> str:
    return FIRST_TENSOR if name == "self" else name


def python_parameters(op: Op, *, method: bool) -> tuple[Parameter, ...]:
    """Parameters of the function or method of one entry, second names last."""
    arguments = [a for a in op.signature.arguments if not (method and a.name == "self")]
    own = [parameter for a in arguments for parameter in _parameters(op, a, method=method)]
    second = [second for a in arguments for second in _second_names(op.signature, a)]
    return tuple(sorted((*own, *second), key=lambda p: p.keyword_only))


def _second_names(signature: Signature, argument: Argument) -> Iterator[Parameter]:
    if _has_second_name(signature, argument):
        own, taken = function_name(argument.name), {function_name(a.name) for a in signature.arguments}
        for name in SECOND_NAMES[own]:
            if name not in taken:
                yield Parameter(name, argument.type, "None", keyword_only=True, second_name_of=own)


def first_names(parameters: Iterable[Parameter]) -> Iterator[Parameter]:
    """Parameters of a function, whose second names runtime/calls/second_names.pyx takes care of."""
    for p in parameters:
        if not p.second_name_of:
            yield replace(p, default="") if p.is_required else p


def out_parameter(op: Op) -> Parameter:
    """`out`: a tensor, or a tuple of as many as the op has results."""
    several = len(op.signature.returns) > 1
    type_ = Type("Tensor", optional=True, is_list=several, length=len(op.signature.returns) if several else 0)
    return Parameter("out", type_, "None", keyword_only=True)


def _parameters(op: Op, argument: Argument, *, method: bool) -> Iterator[Parameter]:
    if not _is_spread(op, argument, method=method):
        yield _parameter(op, argument, method=method)
    elif argument.type.is_tensor_list:
        yield Parameter(argument.name, argument.type, variadic=True)
    else:  # x.flip(0, 1) and x.flip(dims=(0, 1))
        yield Parameter(SPREAD, argument.type, variadic=True)
        yield Parameter(argument.name, argument.type, "None", keyword_only=True)


def _is_spread(op: Op, argument: Argument, *, method: bool) -> bool:
    """A tensor list is spread out in functions (einsum), a shape in methods (view)."""
    return argument.name == op.variadic and method != argument.type.is_tensor_list


def is_spread_list(op: Op, argument: Argument, *, method: bool) -> bool:
    """May a call of an overload give the items of the list one by one? Tensors in both, sizes in methods."""
    return argument.name == op.variadic and (method or argument.type.is_tensor_list)


def _parameter(op: Op, argument: Argument, *, method: bool) -> Parameter:
    name = function_name(argument.name)
    default = default_text(argument.default or "")
    if default or argument.keyword_only or not _may_be_missing(op.signature, argument, method=method):
        return Parameter(name, argument.type, default, argument.keyword_only)
    return Parameter(name, argument.type, "None", is_required=True)  # the conversion refuses None


def _may_be_missing(signature: Signature, argument: Argument, *, method: bool) -> bool:
    """Does a required argument need a default, since it, or one before it, may come under its second name?"""
    arguments = [a for a in signature.arguments if not (method and a.name == "self")]
    return any(_has_second_name(signature, a) for a in arguments[: arguments.index(argument) + 1])


def default_text(default: str) -> str:
    """A default of the table as generated code has it; "" stays."""
    if not default:
        return ""
    tree = ast.parse(default, mode="eval").body
    return literal_text(tree.value) if isinstance(tree, ast.Constant) else ast.unparse(tree)


def _has_second_name(signature: Signature, argument: Argument) -> bool:
    """Not when a required parameter follows it that takes None: a missing one would pass for that.

    In a further entry of a base, that it is missing picks another entry.
    """
    if function_name(argument.name) not in SECOND_NAMES:
        return False
    if argument.default is not None or argument.keyword_only:
        return True
    following = signature.arguments[signature.arguments.index(argument) + 1 :]
    may_be_missing = bool(signature.overload)
    return all(a.default is not None or a.keyword_only or may_be_missing or _refuses_none(a.type) for a in following)


def _refuses_none(type_: Type) -> bool:
    return not type_.optional and type_.name != "object"


def with_star(parameters: Iterable[Parameter]) -> Iterator[str]:
    starred = False
    for parameter in parameters:
        if parameter.keyword_only and not starred:
            yield "*"
        starred = starred or parameter.keyword_only or parameter.variadic
        yield parameter.text


def argument_text(op: Op, argument: Argument, *, method: bool) -> str:
    name = argument.name if method else function_name(argument.name)
    if not _is_spread(op, argument, method=method):
        return name
    return f"spread({name})" if argument.type.is_tensor_list else f'one_of({SPREAD}, {name}, "{op.spoken}", "{name}")'
