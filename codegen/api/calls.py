"""The C functions between Python and the C entries: one for each entry and form of it.

A *call* (`CallView`) takes Python objects, checks and converts them, and picks the C entry. All faces of the entry go
through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ..model import Op, Preparation, Variant
from ..spec.names import COPY, FIRST_TENSOR, INPLACE, Form, call_name, inplace_name, result_name
from ..spec.schema import Argument
from ..spec.schema_types import Type
from .parameters import argument_text, function_name

# How Python objects become what the C entry takes, by type in the table. "?" and "[]" as there.
CONVERSIONS = {
    "Tensor": "as_tensor_operand", "Tensor?": "as_tensor_operand_or_none", "Tensor[]": "as_tensor_list",
    "Scalar": "as_number", "Scalar?": "as_number_or_none",
    "int": "as_int", "int?": "as_int_or_none", "int[]": "as_int_tuple", "int[]?": "as_int_tuple_or_none",
    "float": "as_float", "float?": "as_float_or_none", "bool": "as_bool", "bool?": "as_bool_or_none",
    "str": "as_str", "str?": "as_str_or_none", "dtype": "as_dtype", "dtype?": "as_dtype_or_none",
    "device": "as_device", "device?": "as_device_or_none",
    "Generator": "as_generator", "Generator?": "as_generator_or_none",
    "Tensor|Scalar": "as_operand", "Tensor[]?": "as_tensor_list_or_none",
    "Tensor?[]": "as_optional_tensor_list", "Tensor?[]?": "as_optional_tensor_list_or_none",
}  # fmt: skip

# Those that are also told another operand: numbers and lists take over its dtype.
TOLD_ANOTHER = ("as_tensor_operand", "as_tensor_operand_or_none", "as_operand")

# Arguments that the op changes are not converted: the change would be lost.
OF_TARGETS = {"as_tensor_operand": "check_tensor", "as_tensor_operand_or_none": "check_tensor_or_none"}

# For the first tensor of most ops.
SHORT_FOR_INPUT = {("check_tensor", ()): "check_input", ("as_tensor_operand", ("None",)): "as_input"}

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
    typed: tuple[str, ...]  # the same, once they are converted: <TensorBase>other


@dataclass(frozen=True)
class CallView:
    name: str  # call_mul, call_max_dim, call_mul_
    parameters: tuple[str, ...]  # self, or TensorBase self where it is a method's own
    lines: tuple[str, ...]
    returns: str  # Tensor, tuple[Tensor, ...] or the named tuple
    is_lazy: bool  # called from Python, which may pass None for a tensor

    @property
    def declared(self) -> str:
        return f"cdef object {self.name}({', '.join(self.parameters)})"

    @property
    def header(self) -> str:
        if not self.is_lazy:
            return f"{self.declared}:"
        if any(" " in p for p in self.parameters):
            return f"def {self.name}({', '.join(f'{p} not None' if ' ' in p else p for p in self.parameters)}):"
        return f"cpdef object {self.name}({', '.join(self.parameters)}):"  # the family's own functions call it as C


@dataclass(frozen=True)
class Target:
    """A call with its arguments written out, as a face makes it."""

    call: str
    arguments: tuple[str, ...]
    module: str = ""  # that it is looked up in when it is made; "" for a C function

    @property
    def function(self) -> str:
        return f"{self.module}.{self.call}" if self.module else self.call


@dataclass(frozen=True)
class ResultType:
    """A named tuple for several results."""

    name: str  # MaxDimResult
    op: str
    fields: tuple[str, ...]
    types: tuple[str, ...]  # in Python

    @property
    def typed(self) -> tuple[tuple[str, str], ...]:
        return tuple(zip(self.fields, self.types, strict=True))


@dataclass(frozen=True)
class _Call:
    """The parts of a call."""

    op: str  # as errors say: mul, mul_
    conversions: tuple[Conversion, ...]
    real: tuple[str, ...]  # tensors that must not be complex
    converts: str  # the argument with a dtype that they are converted to first, if one was given; or ""
    prepared: tuple[Preparation, ...]
    cases: tuple[Case, ...]
    of_numbers: Case | None  # when no union is a tensor, and the op takes numbers: the case of the first made a tensor
    unions: tuple[str, ...]
    needs_tensor: str  # the argument to complain about when none of the unions is a tensor, or ""
    result: str  # what is made of the C entry's result: ``tuple({})``

    @property
    def is_one_statement(self) -> bool:
        """Is each argument converted where it is handed on? Nothing may look at several, or choose by them."""
        return not (self.real or self.prepared or self.of_numbers or any(case.tensors for case in self.cases))


def call_view(op: Op, form: Form) -> CallView:
    call = _call(op, form)
    self_ = "TensorBase self" if is_own(op, form) else "self"
    parameters = tuple(self_ if a.name == "self" else a.name for a in op.signature.arguments)
    lines = _one_statement(call) if call.is_one_statement else _statements(op, call)
    return CallView(call_name(op.signature, form), parameters, tuple(lines), _returns(op), op.is_lazy)


def _returns(op: Op) -> str:
    if is_named(op):
        return result_name(op.signature)
    return returned_text(op.signature.returns[0].type)


def returned_text(type_: Type) -> str:
    """A result's type in Python."""
    if type_.is_tensor_list:
        return "tuple[Tensor, ...]"
    return "Tensor | None" if type_.optional else "Tensor"


def called_name(op: Op, form: Form) -> str:
    """The functions that public names call."""
    return _call(op, form).cases[0].entry if is_direct(op, form) else call_name(op.signature, form)


def is_direct(op: Op, form: Form) -> bool:
    """Do faces call the C entry itself? There has to be nothing to convert."""
    call = _call(op, form)
    return (
        not op.is_lazy and is_own(op, form) and call.is_one_statement and not call.conversions and call.result == "{}"
    )


def is_own(op: Op, form: Form) -> bool:
    """Is `self` that of a method, so that nothing has to be checked?"""
    return form == INPLACE and not op.policy.takes_inplace


def _call(op: Op, form: Form) -> _Call:
    variants = [v for v in op.variants if not form.inplace or writes_self(v)]
    unions = [a.name for a in op.signature.arguments if _is_union(a, form)]
    cases = tuple(_case(variant, unions, form, own=is_own(op, form)) for variant in variants)
    return _Call(
        op=op.spoken + form.suffix,
        conversions=tuple(_conversions(op, form)),
        real=() if op.supports_complex else tuple(_single_tensors(op, form)),
        converts=next((a.name for a in op.signature.arguments if a.type == Type("dtype", optional=True)), ""),
        prepared=op.policy.prepare,
        cases=cases,
        of_numbers=_case_of_numbers(op, unions, cases, form),
        unions=tuple(unions),
        needs_tensor=function_name(unions[0]) if unions and cases[-1].tensors else "",
        result=_result(op, copied=form == COPY),
    )


def _result(op: Op, *, copied: bool) -> str:
    """Views are copied where the caller wants copies; several results are a tuple, with names if they have any."""
    if is_named(op):
        return f"{result_name(op.signature)}._make({{}})"
    is_list = op.signature.returns[0].type.is_tensor_list
    text = ("copies_of({})" if is_list else "copy_of({})") if copied else "{}"
    return f"tuple({text})" if is_list else text


# ---- the lines of a call


def _one_statement(call: _Call) -> Iterator[str]:
    """``return op_exp(check_tensor(self, "exp", "input", 1))``"""
    (case,) = call.cases
    converted = {conversion.name: _conversion(call, conversion) for conversion in call.conversions}
    yield f"return {_value(call, case.entry, [converted.get(name, name) for name in case.arguments])}"


def _statements(op: Op, call: _Call) -> Iterator[str]:
    for conversion in call.conversions:
        yield f"{conversion.name} = {_conversion(call, conversion)}"
    yield from _checks_of_complex(call)
    for preparation in call.prepared:
        arguments = ", ".join((f'"{call.op}"', *preparation.arguments))
        yield f"{preparation.argument} = prepare_{preparation.function}({arguments})"
    yield from _choice(op, call)


def _conversion(call: _Call, conversion: Conversion) -> str:
    if (conversion.argument, conversion.position) == (FIRST_TENSOR, 1):
        short = SHORT_FOR_INPUT.get((conversion.function, conversion.more))
        if short:
            return f'{short}({conversion.name}, "{call.op}")'
    told = (conversion.name, f'"{call.op}"', f'"{conversion.argument}"', str(conversion.position), *conversion.more)
    return f"{conversion.function}({', '.join(told)})"


def _checks_of_complex(call: _Call) -> Iterator[str]:
    checks = [f'check_real({name}, "{call.op}")' for name in call.real]
    if call.converts and checks:
        yield f"if {call.converts} is None:"
        checks = [f"    {check}" for check in checks]
    yield from checks


def _choice(op: Op, call: _Call) -> Iterator[str]:
    """The C entry for the unions that are tensors."""
    for case in call.cases:
        value = _value(call, case.entry, case.typed)
        if case.tensors:
            yield f"if {' and '.join(f'is_tensor({name})' for name in case.tensors)}:"
            yield f"    return {value}"
        else:
            yield f"return {value}"
    if call.of_numbers:
        first, second = call.unions[:2]
        yield f"{first} = number_as_tensor({first}, {second})"
        yield f"return {call.of_numbers.entry}({', '.join(call.of_numbers.typed)})"
    elif call.needs_tensor:
        yield f'refuse_numbers("{call.op}", "{call.needs_tensor}")'


def _value(call: _Call, entry: str, arguments: Iterable[str]) -> str:
    return call.result.format(f"{entry}({', '.join(arguments)})")


def writes_self(variant: Variant) -> bool:
    target = variant.signature.expect_argument("self")
    return target is not None and target.type.is_tensor


def _is_union(argument: Argument, form: Form) -> bool:
    return argument.type.union_scalar and not (form.inplace and argument.name == "self")


def _case(variant: Variant, unions: list[str], form: Form, *, own: bool) -> Case:
    arguments = variant.signature.arguments
    cast = {a.name for a in arguments if a.type.is_tensor and not (own and a.name == "self")}
    return Case(
        tensors=tuple(name for name in unions if name not in variant.scalar_positions),
        entry=inplace_name(variant.stem) if form.inplace else variant.c_entry,
        arguments=tuple(a.name for a in arguments),
        typed=tuple(f"<TensorBase>{a.name}" if a.name in cast else a.name for a in arguments),
    )


def _case_of_numbers(op: Op, unions: list[str], cases: tuple[Case, ...], form: Form) -> Case | None:
    if form.inplace or len(unions) < 2 or not cases[-1].tensors:
        return None
    return next((case for case in cases if case.tensors == (unions[0],)), None)


def _conversions(op: Op, form: Form) -> Iterator[Conversion]:
    for position, argument in enumerate(op.signature.arguments, 1):
        if argument.name == "self" and is_own(op, form):
            continue
        function, more = _converter(argument.type, _is_union(argument, form))
        if argument.type.written or (form.inplace and argument.name == "self"):
            function = OF_TARGETS.get(function, function)
        elif function in TOLD_ANOTHER:
            more = (_operand_beside(op, argument),)
        if position == 1 and op.policy.takes_numbers and not form.inplace and not argument.type.union_scalar:
            function, more = "as_first_operand", (op.signature.arguments[1].name,)
        if argument.type.role in ("dim", "new_dim"):
            function, more = _dim_converter(op, argument.type, function)
        if function:
            name = function_name(argument.name)
            yield Conversion(argument.name, function, name, position, more)


def _operand_beside(op: Op, argument: Argument) -> str:
    """Another operand, whose dtype matters; or None. Indices and masks, which have no gradient, have dtypes apart."""
    backward = op.variants[0].backward
    others = [a for a in op.signature.arguments if a is not argument and a.type.is_tensor]
    if backward is not None:
        others = [a for a in others if a.name in backward.differentiable_inputs]
    return others[0].name if others else "None"


def _converter(type_: Type, is_union: bool) -> tuple[str, tuple[str, ...]]:
    """The function that converts to a type, and its last arguments; "" when anything will do."""
    if type_.name == "object":
        return "", ()
    key = "Tensor|Scalar" if is_union else str(replace(type_.plain, union_scalar=False))
    if key in CONVERSIONS:
        return CONVERSIONS[key], ()
    more = (ITEM_KINDS[type_.name], str(type_.length))
    return ("as_tuple_or_none" if type_.optional else "as_tuple"), more


def _dim_converter(op: Op, type_: Type, function: str) -> tuple[str, tuple[str, ...]]:
    """Dimensions are counted from the front, and checked, where the tensor is known that has them."""
    owner = next((a for a in op.signature.arguments if a.type.is_differentiable), None)
    if owner is None or not owner.type.is_tensor or owner.type.optional or owner.type.union_scalar:
        return function, ()
    if type_.role == "new_dim":
        return "as_new_dim", (owner.name,)
    return function.replace("as_int", "as_dim"), (owner.name,)


def _single_tensors(op: Op, form: Form) -> Iterator[str]:
    for argument in op.signature.arguments:
        if argument.type.is_tensor and not argument.type.optional:
            yield argument.name


def is_named(op: Op) -> bool:
    return len(op.signature.returns) > 1


def result_type(op: Op) -> ResultType:
    types = tuple(returned_text(returned.type) for returned in op.signature.returns)
    return ResultType(result_name(op.signature), op.base, op.signature.output_names, types)


def target(op: Op, form: Form, *, method: bool) -> Target:
    arguments = tuple(argument_text(op, a, method=method) for a in op.signature.arguments)
    return Target(called_name(op, form), arguments, lazy_module(op) if method else "")


def lazy_module(op: Op) -> str:
    """The name under which methods import the op's family on first use; "" for families imported at once."""
    return f"lazy_{op.family}" if op.is_lazy else ""
