"""What Python sees of an op: function, method, in-place method, operators, and their documentation.

A *call* (`CallView`) is the C function that takes Python objects for one entry: it checks and converts them and picks
the C entry. All faces of the entry go through it. Entries of one base share their faces in one of three ways:

plain       one entry: its parameters are the face's
extended    a second entry adds parameters (``sum`` and ``sum.dim``): giving one of them picks the second
overloaded  anything else: the arguments are matched against the signatures at run time (runtime/overloads.py)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from .callees import stem_of
from .docs import Doc, make_doc
from .model import Op, Variant
from .schema import Argument, Signature, Type

# Parameters that are also known by the name that NumPy gives them.
SECOND_NAMES = {"dim": "axis", "keepdim": "keepdims"}

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

# Items of the other lists, as runtime/arguments.pxd calls their kinds.
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
    cases: tuple[Case, ...]
    copied: bool  # the results are views, and the caller wants copies
    needs_tensor: str  # the argument to complain about when none of the unions is a tensor, or ""
    wrap: str  # "", "tuple", or the named tuple to make


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


@dataclass(frozen=True)
class Target:
    """A call with its arguments written out, as a face makes it."""

    call: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Candidate:
    """One signature of an overloaded face."""

    text: str  # as errors show it
    parameters: tuple[Parameter, ...]
    call: str
    arguments: int  # how many of the parameters the call takes; the rest is `out`


@dataclass(frozen=True)
class Binder:
    """The C function behind an overloaded face: matches, then calls."""

    name: str  # bind_max
    table: str  # MAX_OVERLOADS
    op: str
    candidates: tuple[Candidate, ...]
    direct: tuple[tuple[int, str], ...]  # (number of positional arguments, the only call that takes so many)


@dataclass(frozen=True)
class Added:
    """A parameter that only the second of two entries has, and its value when it is not given."""

    name: str
    absent: str


@dataclass(frozen=True)
class FunctionView:
    """A ``def``: module function, method or property."""

    name: str
    op: str
    parameters: tuple[Parameter, ...]
    second_names: tuple[tuple[str, str], ...]  # (dim, axis)
    target: Target
    added: tuple[Added, ...]  # parameters any of which picks `extension`
    extension: Target | None
    binder: str  # name of the binder when overloaded, else ""
    self_position: int  # overloaded methods: where `self` goes among the arguments
    out: bool
    doc: Doc

    @property
    def signature(self) -> tuple[str, ...]:
        """Texts between the parentheses, with the star before the first keyword-only parameter."""
        return tuple(_with_star(self.parameters))


@dataclass(frozen=True)
class OperatorView:
    method: str  # __mul__
    kind: str
    target: Target
    modulo: bool  # Cython's __pow__ takes a third operand


@dataclass(frozen=True)
class RefusedInplace:
    """An in-place method that callers may look for, and that says why it is not there."""

    name: str  # unsqueeze_
    op: str
    why: str


@dataclass(frozen=True)
class ResultType:
    """A named tuple for several results."""

    name: str  # MaxDimResult
    op: str
    fields: tuple[str, ...]


@dataclass(frozen=True)
class Face:
    """All faces of one base."""

    base: str
    family: str
    calls: tuple[CallView, ...]
    binders: tuple[Binder, ...]
    result_types: tuple[ResultType, ...]
    functions: tuple[FunctionView, ...]
    methods: tuple[FunctionView, ...]
    refused: tuple[RefusedInplace, ...]
    properties: tuple[FunctionView, ...]
    operators: tuple[OperatorView, ...]
    aliases: tuple[str, ...]

    @property
    def function_aliases(self) -> tuple[tuple[str, str], ...]:
        """Other names of each function: ``swapaxes_copy`` beside ``swapaxes``."""
        return tuple(_aliases(self, [function.name for function in self.functions]))

    @property
    def method_aliases(self) -> tuple[tuple[str, str], ...]:
        """Other names of each method: ``subtract_`` beside ``subtract``."""
        return tuple(_aliases(self, [m.name for m in self.methods] + [r.name for r in self.refused]))

    @property
    def cimports(self) -> tuple[str, ...]:
        """What the Tensor class takes from the family."""
        made = [function.target.call for function in (*self.methods, *self.properties)]
        made += [f.extension.call for f in self.methods if f.extension]
        made += [function.binder for function in self.methods]
        made += [operator.target.call for operator in self.operators]
        return tuple(dict.fromkeys(name for name in made if name))


def make_face(ops: tuple[Op, ...]) -> Face:
    """The faces of all entries of one base."""
    inplace = tuple(op for op in ops if "inplace" in op.forms)
    copied = tuple(op for op in ops if "copy" in op.forms)
    forms = [(form, of) for form, of in ((PLAIN, ops), (INPLACE, inplace), (COPY, copied)) if of]
    functions = [f for form, of in forms if form != INPLACE for f in _functions(form, of)]
    methods = [f for form, of in forms if form != COPY for f in _methods(form, of)]
    first = ops[0]
    return Face(
        base=first.base,
        family=first.family,
        calls=tuple(call_view(op, form) for form, of in forms for op in of if has_face(op)),
        binders=tuple(b for form, of in forms for b in _binders(form, of)),
        result_types=tuple(result_type(op) for op in ops if _is_named(op)),
        functions=tuple(functions),
        methods=tuple(methods),
        refused=() if inplace else tuple(_refused(ops)),
        properties=tuple(_properties(ops)),
        operators=tuple(operator_view(op, method, kind) for op in ops for method, kind in op.operators),
        aliases=tuple(dict.fromkeys(alias for op in ops for alias in op.aliases)),
    )


def _aliases(face: Face, names: list[str]) -> Iterator[tuple[str, str]]:
    for alias in face.aliases:
        yield from ((alias + name.removeprefix(face.base), name) for name in names)


def _refused(ops: tuple[Op, ...]) -> Iterator[RefusedInplace]:
    """One method for all entries of a base; the first that gives a reason speaks for it."""
    for op in [op for op in ops if op.policy.out_of_place and _writes_self(op.variants[0])][:1]:
        yield RefusedInplace(f"{op.base}_", op.base, op.policy.out_of_place.rstrip("."))


@dataclass(frozen=True)
class _Form:
    """What a face does with the result, besides giving it back."""

    suffix: str  # of its name
    remark: str = ""  # what its documentation adds

    @property
    def inplace(self) -> bool:
        return self == INPLACE


PLAIN = _Form("")
INPLACE = _Form("_", "Written into the tensor itself.")
COPY = _Form("_copy", "Copied into memory of its own.")


def has_face(op: Op) -> bool:
    """Some ops are there for formulas only."""
    return bool(op.forms) or bool(op.operators)


# ---- calls


def call_name(op: Op, form: _Form = PLAIN) -> str:
    overload = f"_{op.overload}" if op.overload else ""
    return f"call_{op.base}{overload}{form.suffix}"


def call_view(op: Op, form: _Form) -> CallView:
    variants = [v for v in op.variants if not form.inplace or _writes_self(v)]
    unions = [a.name for a in op.signature.arguments if _is_union(a, form)]
    cases = tuple(_case(variant, unions, form) for variant in variants)
    return CallView(
        name=call_name(op, form),
        op=op.base + form.suffix,
        schema=op.name,
        parameters=tuple(a.name for a in op.signature.arguments),
        conversions=tuple(_conversions(op, form)),
        real=() if op.supports_complex else tuple(_single_tensors(op, form)),
        cases=cases,
        copied=form == COPY,
        needs_tensor=function_name(unions[0]) if unions and cases[-1].tensors else "",
        wrap=_wrap(op),
    )


def _writes_self(variant: Variant) -> bool:
    target = variant.signature.expect_argument("self")
    return target is not None and target.type.is_tensor


def _is_union(argument: Argument, form: _Form) -> bool:
    return argument.type.union_scalar and not (form.inplace and argument.name == "self")


def _case(variant: Variant, unions: list[str], form: _Form) -> Case:
    entry = f"inplace_{stem_of(variant.c_entry)}" if form.inplace else variant.c_entry
    return Case(
        tensors=tuple(name for name in unions if name not in variant.scalar_positions),
        entry=entry,
        arguments=tuple(f"<TensorBase>{a.name}" if a.type.is_tensor else a.name for a in variant.signature.arguments),
    )


def _conversions(op: Op, form: _Form) -> Iterator[Conversion]:
    operands = any(kind == "binary" for _, kind in op.operators)
    for position, argument in enumerate(op.signature.arguments, 1):
        function, more = _converter(argument.type, _is_union(argument, form))
        if function == "check_tensor" and operands and not (form.inplace and argument.name == "self"):
            function = "as_tensor_operand"  # an ndarray may stand beside a tensor
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


def _single_tensors(op: Op, form: _Form) -> Iterator[str]:
    for argument in op.signature.arguments:
        if argument.type.is_tensor and not argument.type.optional:
            yield argument.name


def _is_named(op: Op) -> bool:
    return len(op.signature.returns) > 1


def _wrap(op: Op) -> str:
    if _is_named(op):
        return result_type(op).name
    return "tuple" if op.signature.returns[0].type.is_tensor_list else ""


def result_type(op: Op) -> ResultType:
    words = [word for word in f"{op.base}_{op.overload}".split("_") if word]
    name = "".join(word.capitalize() for word in words)
    return ResultType(f"{name}Result", op.base, op.signature.output_names)


# ---- parameters


def function_name(name: str) -> str:
    """Functions call their first tensor `input`, as PyTorch's do."""
    return "input" if name == "self" else name


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


def _parameter(op: Op, argument: Argument, *, method: bool) -> Parameter:
    name = function_name(argument.name)
    default = _double_quoted(argument.default or "")
    # A tensor list is spread out in functions (einsum), a shape in methods (view).
    if argument.name == op.variadic and method != argument.type.is_tensor_list:
        return Parameter(name, argument.type, variadic=True)
    if not default and _has_second_name(op.signature, argument):
        default = "None"  # it may come under its second name; the conversion refuses None
    return Parameter(name, argument.type, default, argument.keyword_only)


def _double_quoted(default: str) -> str:
    return f'"{default[1:-1]}"' if default.startswith("'") else default


def _has_second_name(signature: Signature, argument: Argument) -> bool:
    """Not when required parameters follow it: they could not be given by position any more."""
    if argument.name not in SECOND_NAMES:
        return False
    if argument.default is not None or argument.keyword_only:
        return True
    following = signature.arguments[signature.arguments.index(argument) + 1 :]
    return all(a.default is not None or a.keyword_only for a in following)


def _with_star(parameters: Iterable[Parameter]) -> Iterator[str]:
    starred = False
    for parameter in parameters:
        if parameter.keyword_only and not starred:
            yield "*"
        starred = starred or parameter.keyword_only or parameter.variadic
        yield parameter.text


def _argument_text(op: Op, argument: Argument, *, method: bool) -> str:
    name = argument.name if method else function_name(argument.name)
    spread = argument.name == op.variadic and method != argument.type.is_tensor_list
    return f"spread({name})" if spread else name


def target(op: Op, form: _Form, *, method: bool) -> Target:
    arguments = tuple(_argument_text(op, a, method=method) for a in op.signature.arguments)
    return Target(call_name(op, form), arguments)


# ---- functions and methods


def _functions(form: _Form, ops: tuple[Op, ...]) -> Iterator[FunctionView]:
    # A copy is a function by nature, whatever the view is.
    with_function = tuple(op for op in ops if form == COPY or "function" in op.forms)
    if with_function:
        yield _function(form, with_function, method=False)


def _methods(form: _Form, ops: tuple[Op, ...]) -> Iterator[FunctionView]:
    # An in-place form is a method by nature.
    with_method = tuple(op for op in ops if form.inplace or "method" in op.forms)
    if with_method:
        yield _function(form, with_method, method=True)


def _properties(ops: tuple[Op, ...]) -> Iterator[FunctionView]:
    for op in ops:
        if "property" in op.forms:
            yield _function(PLAIN, (op,), method=True)


def _function(form: _Form, ops: tuple[Op, ...], *, method: bool) -> FunctionView:
    first, last = ops[0], ops[-1]
    added = added_parameters(ops)
    out = "out" in last.forms and not method and not form.inplace
    parameters = python_parameters(last if added else first, method=method)
    absent = {a.name: a.absent for a in added}
    parameters = tuple(replace(p, default=absent.get(p.name, p.default)) for p in parameters)
    if out:
        parameters = (*parameters, Parameter("out", _OPTIONAL_TENSOR, "None", keyword_only=True))
    names = [p.name for p in parameters]
    return FunctionView(
        name=first.base + form.suffix,
        op=first.base + form.suffix,
        parameters=parameters,
        second_names=tuple((own, other) for own, other in SECOND_NAMES.items() if other in names),
        target=target(first, form, method=method),
        added=added,
        extension=target(last, form, method=method) if added else None,
        binder=binder_name(first, form) if is_overloaded(ops) else "",
        self_position=_self_position(first),
        out=out,
        doc=make_doc(ops, [] if is_overloaded(ops) else names, remark=form.remark, shares=form == PLAIN),
    )


_OPTIONAL_TENSOR = Type("Tensor", optional=True)


def _self_position(op: Op) -> int:
    names = [argument.name for argument in op.signature.arguments]
    return names.index("self") if "self" in names else 0


def added_parameters(ops: tuple[Op, ...]) -> tuple[Added, ...]:
    """What the second of two entries adds to the parameters of the first, when it is nothing but an extension.

    Exactly one added parameter is required there. Not given, that is None, and all others at their defaults, the first
    entry is meant.
    """
    if len(ops) != 2:
        return ()
    first, second = (op.signature.arguments for op in ops)
    added = [a for a in second if a not in first]
    if [a for a in second if a in first] != list(first) or sum(a.default is None for a in added) != 1:
        return ()
    return tuple(Added(a.name, _double_quoted(a.default or "None")) for a in added)


def is_overloaded(ops: tuple[Op, ...]) -> bool:
    return len(ops) > 1 and not added_parameters(ops)


# ---- overloads


def binder_name(op: Op, form: _Form) -> str:
    return f"bind_{op.base}{form.suffix}"


def _binders(form: _Form, ops: tuple[Op, ...]) -> Iterator[Binder]:
    shown = tuple(op for op in ops if op.forms)
    if not shown or not is_overloaded(shown):
        return
    candidates = tuple(_candidate(op, form) for op in shown)
    yield Binder(
        name=binder_name(ops[0], form),
        table=f"{ops[0].base.upper()}{form.suffix.upper()}_OVERLOADS",
        op=ops[0].base + form.suffix,
        candidates=candidates,
        direct=tuple(_direct(candidates)),
    )


def _candidate(op: Op, form: _Form) -> Candidate:
    parameters = [
        Parameter(function_name(a.name), a.type, _double_quoted(a.default or ""), a.keyword_only)
        for a in op.signature.arguments
    ]
    out = "out" in op.forms and not form.inplace
    if out:
        parameters.append(Parameter("out", _OPTIONAL_TENSOR, "None", keyword_only=True))
    shown = [Parameter(f"{p.type.plain} {p.name}", p.type, p.default, p.keyword_only) for p in parameters]
    text = ", ".join(_with_star(shown)).replace('"', "'")
    return Candidate(f"({text})", tuple(parameters), call_name(op, form), len(op.signature.arguments))


def _direct(candidates: tuple[Candidate, ...]) -> Iterator[tuple[int, str]]:
    """Numbers of positional arguments that only one candidate takes: no matching is needed then."""
    ranges = [_positional_range(candidate) for candidate in candidates]
    for count in range(max(high for _, high in ranges) + 1):
        fitting = [c.call for c, (low, high) in zip(candidates, ranges, strict=True) if low <= count <= high]
        exact = [c for c in candidates if c.call in fitting and c.arguments == count]
        if len(fitting) == 1 and exact:
            yield count, fitting[0]


def _positional_range(candidate: Candidate) -> tuple[int, int]:
    positional = [p for p in candidate.parameters if not p.keyword_only]
    needs_keyword = any(p.keyword_only and not p.default for p in candidate.parameters)
    return (len(positional) + 1 if needs_keyword else sum(not p.default for p in positional)), len(positional)


# ---- operators


def operator_view(op: Op, method: str, kind: str) -> OperatorView:
    names = [argument.name for argument in op.signature.arguments]
    rest = tuple(_double_quoted(a.default or "None") for a in op.signature.arguments[2:])
    form = INPLACE if kind == "inplace" and not op.signature.returns[0].type.written else PLAIN
    if kind == "item":
        return OperatorView(method, kind, Target(call_name(op), ("self", *names[1:])), modulo=False)
    if kind == "unary":
        rest = tuple(_double_quoted(a.default or "None") for a in op.signature.arguments[1:])
        return OperatorView(method, kind, Target(call_name(op), ("self", *rest)), modulo=False)
    swapped = kind == "reflected" and not _commutes(op)
    operands = ("other", "self") if swapped else ("self", "other")
    modulo = method in ("__pow__", "__rpow__")
    return OperatorView(method, kind, Target(call_name(op, form), (*operands, *rest)), modulo)


def _commutes(op: Op) -> bool:
    """Only `other` may be a number: the table says that ``2 * x`` is ``x * 2``."""
    first, second = op.signature.arguments[:2]
    return not first.type.union_scalar and second.type.union_scalar
