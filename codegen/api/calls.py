"""The C functions between Python and the C entries: one for each entry and form of it.

A *call* (`CallView`) takes Python objects, checks and converts them, and picks the C entry. All faces of the entry go
through it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..model import Op, Preparation, Variant
from ..spec.names import COPY, Form, call_name, inplace_name, result_name
from ..spec.schema import Argument
from ..spec.schema_types import Type
from .parameters import argument_text, function_name

# How Python objects become what the C entry takes, by type in the table. "?" and "[]" as there.
CONVERSIONS = {
    "Tensor": "check_tensor", "Tensor?": "check_tensor_or_none", "Tensor[]": "as_tensor_list",
    "Scalar": "as_number", "Scalar?": "as_number_or_none",
    "int": "as_int", "int?": "as_int_or_none", "int[]": "as_int_tuple", "int[]?": "as_int_tuple_or_none",
    "float": "as_float", "float?": "as_float_or_none", "bool": "as_bool", "bool?": "as_bool_or_none",
    "str": "as_str", "str?": "as_str_or_none", "dtype": "as_dtype", "dtype?": "as_dtype_or_none",
    "device": "as_device", "device?": "as_device_or_none",
    "Tensor|Scalar": "as_operand", "Tensor[]?": "as_tensor_list_or_none",
    "Tensor?[]": "as_optional_tensor_list", "Tensor?[]?": "as_optional_tensor_list_or_none",
}  # fmt: skip

# Items of the other lists, as runtime/calls/arguments.pxd calls their kinds.
ITEM_KINDS = {
    "int": "INT_ITEMS", "float": "FLOAT_ITEMS", "Scalar": "NUMBER_ITEMS", "bool": "BOOL_ITEMS", "str": "STR_ITEMS",
}  # fmt: skip


@dataclass(frozen=True)
class Conversion:
    """``dim = as_int(dim, "sum", "dim", 2)``, and what else the function wants to know."""

    name: str
    function: str
    argument: str  # what the caller calls it
    position: int
    more: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A C entry and the unions that must be tensors for it."""

    tensors: tuple[str, ...]
    entry: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class CallView:
    name: str  # call_mul, call_max_dim, call_mul_
    op: str  # as errors say: mul, mul_
    schema: str
    parameters: tuple[str, ...]
    conversions: tuple[Conversion, ...]
    real: tuple[str, ...]  # tensors that must not be complex
    converts: str  # the argument with a dtype that they are converted to first, if one was given; or ""
    prepared: tuple[Preparation, ...]
    cases: tuple[Case, ...]
    copied: bool  # the results are views, and the caller wants copies
    needs_tensor: str  # the argument to complain about when none of the unions is a tensor, or ""
    of_numbers: Case | None  # when none is, and the op takes numbers: the case of the first made a tensor
    wrap: str  # "", "tuple", or the named tuple to make


@dataclass(frozen=True)
class Target:
    """A call with its arguments written out, as a face makes it."""

    call: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class ResultType:
    """A named tuple for several results."""

    name: str  # MaxDimResult
    op: str
    fields: tuple[str, ...]


def call_view(op: Op, form: Form) -> CallView:
    variants = [v for v in op.variants if not form.inplace or writes_self(v)]
    unions = [a.name for a in op.signature.arguments if _is_union(a, form)]
    cases = tuple(_case(variant, unions, form) for variant in variants)
    return CallView(
        name=call_name(op.signature, form),
        op=op.base + form.suffix,
        schema=op.name,
        parameters=tuple(a.name for a in op.signature.arguments),
        conversions=tuple(_conversions(op, form)),
        real=() if op.supports_complex else tuple(_single_tensors(op, form)),
        converts=next((a.name for a in op.signature.arguments if a.type == Type("dtype", optional=True)), ""),
        prepared=op.policy.prepare,
        cases=cases,
        copied=form == COPY,
        needs_tensor=function_name(unions[0]) if unions and cases[-1].tensors else "",
        of_numbers=_case_of_numbers(op, unions, cases, form),
        wrap=_wrap(op),
    )


def writes_self(variant: Variant) -> bool:
    target = variant.signature.expect_argument("self")
    return target is not None and target.type.is_tensor


def _is_union(argument: Argument, form: Form) -> bool:
    return argument.type.union_scalar and not (form.inplace and argument.name == "self")


def _case(variant: Variant, unions: list[str], form: Form) -> Case:
    entry = inplace_name(variant.stem) if form.inplace else variant.c_entry
    return Case(
        tensors=tuple(name for name in unions if name not in variant.scalar_positions),
        entry=entry,
        arguments=tuple(f"<TensorBase>{a.name}" if a.type.is_tensor else a.name for a in variant.signature.arguments),
    )


def _case_of_numbers(op: Op, unions: list[str], cases: tuple[Case, ...], form: Form) -> Case | None:
    if form.inplace or not op.policy.takes_numbers or len(unions) < 2:
        return None
    return next(case for case in cases if case.tensors == (unions[0],))


def _conversions(op: Op, form: Form) -> Iterator[Conversion]:
    operands = any(kind == "binary" for _, kind in op.operators)
    for position, argument in enumerate(op.signature.arguments, 1):
        function, more = _converter(argument.type, _is_union(argument, form))
        if function == "check_tensor" and operands and not (form.inplace and argument.name == "self"):
            function = "as_tensor_operand"  # an ndarray may stand beside a tensor
        if position == 1 and op.policy.takes_numbers and not form.inplace and not argument.type.union_scalar:
            function, more = "as_first_operand", (op.signature.arguments[1].name,)
        if function:
            name = function_name(argument.name)
            yield Conversion(argument.name, function, name, position, more)


def _converter(type_: Type, is_union: bool) -> tuple[str, tuple[str, ...]]:
    """The function that converts to a type, and its last arguments; "" when anything will do."""
    if type_.name == "object":
        return "", ()
    key = "Tensor|Scalar" if is_union else str(replace(type_.plain, union_scalar=False))
    if key in CONVERSIONS:
        return CONVERSIONS[key], ()
    more = (ITEM_KINDS[type_.name], str(type_.length))
    return ("as_tuple_or_none" if type_.optional else "as_tuple"), more


def _single_tensors(op: Op, form: Form) -> Iterator[str]:
    for argument in op.signature.arguments:
        if argument.type.is_tensor and not argument.type.optional:
            yield argument.name


def is_named(op: Op) -> bool:
    return len(op.signature.returns) > 1


def _wrap(op: Op) -> str:
    if is_named(op):
        return result_name(op.signature)
    return "tuple" if op.signature.returns[0].type.is_tensor_list else ""


def result_type(op: Op) -> ResultType:
    return ResultType(result_name(op.signature), op.base, op.signature.output_names)


def target(op: Op, form: Form, *, method: bool) -> Target:
    arguments = tuple(argument_text(op, a, method=method) for a in op.signature.arguments)
    return Target(call_name(op.signature, form), arguments)
