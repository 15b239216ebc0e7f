"""The Python API of an op: function, method, in-place method, operators, and their documentation.

Every face goes through the calls of its entries (`calls`). Entries of one base share their faces in one of three ways:

plain       one entry: its parameters are the face's
extended    a second entry adds parameters (``sum`` and ``sum.dim``): giving one of them picks the second
overloaded  anything else: the arguments are matched against the signatures at run time (runtime/calls/overloads.pyx)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from ..model import Op
from ..spec.names import COPY, INPLACE, PLAIN, Form, namespace_of
from ..spec.schema_types import Type
from ..spec.usual_operators import other_side
from .calls import (
    CallView,
    ResultType,
    Target,
    call_view,
    called_name,
    is_direct,
    is_named,
    lazy_module,
    result_type,
    target,
    writes_self,
)
from .docs import Doc, make_doc
from .overloads import Added, Binder, added_parameters, binder_name, binders, is_overloaded, spread_sizes, takes_out
from .parameters import SPREAD, Parameter, default_text, first_names, out_parameter, python_parameters, with_star


@dataclass(frozen=True)
class FunctionView:
    """A ``def``: module function, method or property."""

    name: str
    signature: tuple[str, ...]  # texts between the parentheses
    parameters: tuple[Parameter, ...]
    lines: tuple[str, ...]
    target: Target
    extension: Target | None  # of a second entry, for what adds parameters
    assignable: bool  # of properties
    binder: str  # name of the binder when overloaded, else ""
    doc: Doc


@dataclass(frozen=True)
class OperatorView:
    method: str  # __mul__
    kind: str
    target: Target
    modulo: bool  # Cython's __pow__ takes a third operand

    @property
    def parameters(self) -> str:
        """Of operators of two operands."""
        return "self, other, modulo" if self.modulo else "self, other"

    @property
    def remark(self) -> str:
        """A docstring, to which Cython adds the signature; without one, `__pow__` has that of Python's own."""
        op = self.target.function.removeprefix("call_")
        return f"# The op `{op}` as an operator." if self.modulo else f'"""The op `{op}` as an operator."""'

    @property
    def partner(self) -> str:
        """What Python asks the other operand for when this method declines: ``__rmul__`` of ``__mul__``."""
        return other_side(self.method, self.kind)


@dataclass(frozen=True)
class RefusedInplace:
    """An in-place method that callers may look for, and that says why it is not there."""

    name: str  # unsqueeze_
    op: str
    why: str


@dataclass(frozen=True)
class Face:
    """All faces of one base."""

    base: str
    family: str
    is_lazy: bool
    calls: tuple[CallView, ...]
    direct: tuple[str, ...]  # C entries that faces call without one
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
        """Other names of each method: ``subtract_`` beside ``subtract``. Functions alone are in namespaces."""
        pairs = _aliases(self, [m.name for m in self.methods] + [r.name for r in self.refused])
        return tuple((alias, name) for alias, name in pairs if not namespace_of(alias))

    @property
    def cimports(self) -> tuple[str, ...]:
        """Names that the Tensor class imports from the family, unless they are looked up by name."""
        if self.is_lazy:
            return ()
        made = [function.target.call for function in (*self.methods, *self.properties)]
        made += [f.extension.call for f in self.methods if f.extension]
        made += [function.binder for function in self.methods]
        made += [operator.target.call for operator in self.operators]
        return tuple(dict.fromkeys(name for name in made if name))


@cache  # several files of a build show each
def make_face(ops: tuple[Op, ...]) -> Face:
    """The faces of all entries of one base."""
    inplace = tuple(op for op in ops if "inplace" in op.forms)
    copied = tuple(op for op in ops if "copy" in op.forms)
    forms = [(form, of) for form, of in ((PLAIN, ops), (INPLACE, inplace), (COPY, copied)) if of]
    functions = [f for form, of in forms if form != INPLACE for f in _functions(form, of)]
    methods = [f for form, of in forms if form != COPY for f in _methods(form, of)]
    shown = [(form, op) for form, of in forms for op in of if has_face(op)]
    first = ops[0]
    return Face(
        base=first.base,
        family=first.family,
        is_lazy=first.is_lazy,
        calls=tuple(call_view(op, form) for form, op in shown if not is_direct(op, form)),
        direct=tuple(called_name(op, form) for form, op in shown if is_direct(op, form)),
        binders=tuple(b for form, of in forms for b in binders(form, of)),
        result_types=tuple(result_type(op) for op in ops if is_named(op)),
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
    for op in [op for op in ops if op.policy.out_of_place and writes_self(op.variants[0])][:1]:
        yield RefusedInplace(f"{op.base}_", op.spoken, op.policy.out_of_place.rstrip("."))


def has_face(op: Op) -> bool:
    """Some ops are there for formulas only."""
    return bool(op.forms) or bool(op.operators)


# ---- functions and methods


def _functions(form: Form, ops: tuple[Op, ...]) -> Iterator[FunctionView]:
    # A copy is a function by nature, whatever the view is.
    with_function = tuple(op for op in ops if form == COPY or "function" in op.forms)
    if with_function:
        yield _function(form, with_function, binder_name(ops, form, method=False), method=False)


def _methods(form: Form, ops: tuple[Op, ...]) -> Iterator[FunctionView]:
    # An in-place form is a method by nature.
    with_method = tuple(op for op in ops if form.inplace or "method" in op.forms)
    if with_method:
        yield _function(form, with_method, binder_name(ops, form, method=True), method=True)


def _properties(ops: tuple[Op, ...]) -> Iterator[FunctionView]:
    for op in ops:
        if "property" in op.forms:
            yield _function(PLAIN, (op,), "", method=True)


def _function(form: Form, ops: tuple[Op, ...], binder: str, *, method: bool) -> FunctionView:
    first, last = ops[0], ops[-1]
    added = added_parameters(ops)
    out = takes_out(last, form, method=method)
    parameters = python_parameters(last if added else first, method=method)
    absent = {a.name: a.absent for a in added}
    parameters = tuple(
        replace(p, default=absent[p.name], is_required=False) if p.name in absent else p for p in parameters
    )
    takes_inplace = first.policy.takes_inplace and form == PLAIN and not method
    if takes_inplace:
        flag = Parameter("inplace", Type("bool"), "False")
        parameters = tuple(sorted((*parameters, flag), key=lambda p: p.keyword_only))
    if out:
        parameters = (*parameters, out_parameter(last))
    is_bound = is_overloaded(ops)
    if method and first.is_lazy:
        binder = f"{lazy_module(first)}.{binder}"
    body = _Body(
        op=first.spoken + form.suffix,
        parameters=parameters,
        target=target(first, form, method=method),
        extension=target(last, form, method=method) if added else None,
        added=added,
        inplace=target(first, INPLACE, method=method) if takes_inplace else None,
        out=out,
        is_method=method,
    )
    names = [p.name for p in parameters if p.name != SPREAD and p.second_name_of in ("", "dim", "keepdim")]
    own = parameters if method else tuple(first_names(parameters))
    return FunctionView(
        name=first.base + form.suffix,
        signature=("*args", "**kwargs") if is_bound else tuple(with_star(own)),
        parameters=parameters,
        lines=tuple(_bound(ops, binder, body.target, method=method)) if is_bound else tuple(_lines(body)),
        target=body.target,
        extension=body.extension,
        assignable=first.policy.assignable,
        binder=binder.rpartition(".")[2] if is_bound else "",
        doc=make_doc(ops, [] if is_bound else names, remark=_remark(form, first), shares=form == PLAIN),
    )


def _remark(form: Form, op: Op) -> str:
    if not form.inplace:
        return form.remark
    becomes = ": the tensor itself becomes the view" if op.is_view else ""
    return f"In-place version of `{op.base}`{becomes}."


# ---- the body of a function or method


@dataclass(frozen=True)
class _Body:
    op: str  # as errors say
    parameters: tuple[Parameter, ...]
    target: Target
    extension: Target | None
    added: tuple[Added, ...]  # parameters any of which picks `extension`
    inplace: Target | None  # what ``inplace=True`` picks
    out: bool
    is_method: bool  # second names are its own business; functions find theirs when they are called


def _bound(ops: tuple[Op, ...], binder: str, first: Target, *, method: bool) -> Iterator[str]:
    """``return bind_max(args, kwargs)``; `self` goes among the arguments where the signature has it.

    Sizes of the first entry, given one by one, need no matching: ``x.view(2, 3)``.
    """
    place = _self_position(ops[0])
    if not method:
        yield f"return {binder}(args, kwargs)"
        return
    if spread_sizes(ops[0]) and len(ops[0].signature.arguments) == 2:
        yield "if not kwargs and gives_items(args):"
        yield f"    return {first.function}(self, spread(args))"
    arguments = f"(*args[:{place}], self, *args[{place}:])" if place else "(self, *args)"
    yield f"return {binder}({arguments}, kwargs)"


def _lines(body: _Body) -> Iterator[str]:
    found = dict(_second_names(body)) if body.is_method else {}
    if body.extension:  # which looks at the values
        yield from (f"{name} = {text}" for name, text in found.items())
        found = {}
    if body.out and any(p.name == "dtype" for p in body.parameters):
        yield "if out is not None:"
        yield f'    dtype = dtype_of_out("{body.op}", out, {body.parameters[0].name}, dtype)'
    if body.inplace:
        yield "if inplace:"
        yield f"    {_result(body, body.inplace, found)}"
    if body.extension:
        yield f"if {' or '.join(f'{a.name} is not {a.absent}' for a in body.added)}:"
        yield f"    {_result(body, body.extension, found)}"
    yield _result(body, body.target, found)


def _result(body: _Body, target: Target, values: Mapping[str, str]) -> str:
    call = f"{target.function}({', '.join(values.get(argument, argument) for argument in target.arguments)})"
    return f'return give_out("{body.op}", out, {call})' if body.out else f"return {call}"


def _second_names(body: _Body) -> Iterator[tuple[str, str]]:
    """(other, what it is when its second name may have been given)"""
    for own in body.parameters:
        for second in (p.name for p in body.parameters if p.second_name_of == own.name):
            either = f'either({own.name}, {second}, "{body.op}", "{own.name}")'
            # Another default than None says nothing: the second name wins.
            yield own.name, either if own.default == "None" else f"{own.name} if {second} is None else {second}"


def _self_position(op: Op) -> int:
    names = [argument.name for argument in op.signature.arguments]
    return names.index("self") if "self" in names else 0


# ---- operators


def operator_view(op: Op, method: str, kind: str) -> OperatorView:
    names = [argument.name for argument in op.signature.arguments]
    rest = tuple(default_text(a.default or "None") for a in op.signature.arguments[2:])
    form = INPLACE if kind == "inplace" and not op.signature.returns[0].type.written else PLAIN
    if kind == "item":
        return OperatorView(
            method, kind, Target(called_name(op, PLAIN), ("self", *names[1:]), lazy_module(op)), modulo=False
        )
    if kind == "unary":
        rest = tuple(default_text(a.default or "None") for a in op.signature.arguments[1:])
        return OperatorView(
            method, kind, Target(called_name(op, PLAIN), ("self", *rest), lazy_module(op)), modulo=False
        )
    swapped = kind == "reflected" and not _commutes(op)
    operands = ("other", "self") if swapped else ("self", "other")
    modulo = method in ("__pow__", "__rpow__")
    return OperatorView(method, kind, Target(called_name(op, form), (*operands, *rest), lazy_module(op)), modulo)


def _commutes(op: Op) -> bool:
    """Only `other` may be a number: the table says that ``2 * x`` is ``x * 2``."""
    first, second = op.signature.arguments[:2]
    return not first.type.union_scalar and second.type.union_scalar
