"""Entries of one base that share a name: which of them a call means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..model import Op
from ..spec.names import COPY, Form, binder_names
from ..spec.schema import Argument
from .calls import called_name
from .parameters import Parameter, default_text, function_name, is_spread_list, out_parameter, with_star


@dataclass(frozen=True)
class Candidate:
    """One signature of an overloaded face."""

    text: str  # as errors show it
    parameters: tuple[Parameter, ...]
    call: str
    arguments: int  # how many of the parameters the call takes; the rest is `out`

    @property
    def defaults(self) -> list[str]:
        """Of the parameters that have one."""
        return [p.default for p in self.parameters if p.default]


@dataclass(frozen=True)
class Binder:
    """The C function behind an overloaded face: matches, then calls."""

    name: str  # bind_max
    table: str  # MAX_OVERLOADS
    op: str
    candidates: tuple[Candidate, ...]
    direct: tuple[tuple[int, str], ...]  # (number of positional arguments, the only call that takes so many)
    is_lazy: bool  # called from Python, which may pass None

    @property
    def declared(self) -> str:
        return f"cdef object {self.name}(tuple args, dict kwargs)"

    @property
    def header(self) -> str:
        return f"def {self.name}(tuple args not None, dict kwargs not None):" if self.is_lazy else f"{self.declared}:"

    @property
    def lines(self) -> tuple[str, ...]:
        return (*self._directly(), *self._chosen())

    def _directly(self) -> Iterator[str]:
        for count, call in self.direct:
            yield f"if len(args) == {count} and not kwargs:"
            yield f"    return {call}({_items('args', count)})"

    def _chosen(self) -> Iterator[str]:
        yield "cdef int choice = 0"
        yield f"cdef tuple found = {self.table}.bind(args, kwargs, &choice)"
        for number, candidate in enumerate(self.candidates[:-1]):
            yield f"if choice == {number}:"
            yield f"    return {self._call(candidate)}"
        yield f"return {self._call(self.candidates[-1])}"

    def _call(self, candidate: Candidate) -> str:
        text = f"{candidate.call}({_items('found', candidate.arguments)})"
        takes_out = len(candidate.parameters) > candidate.arguments
        return f'give_out("{self.op}", found[{candidate.arguments}], {text})' if takes_out else text


def _items(name: str, count: int) -> str:
    return ", ".join(f"{name}[{i}]" for i in range(count))


@dataclass(frozen=True)
class Added:
    """A parameter that only the second of two entries has, and its value when it is not given."""

    name: str
    absent: str


def added_parameters(ops: tuple[Op, ...]) -> tuple[Added, ...]:
    """Parameters that the second of two entries adds to those of the first, when it only extends them.

    Exactly one added parameter is required there. Not given, that is None, and all others at their defaults, the first
    entry is meant. Both return as many things: stubs promise one type, and `out` takes one.
    """
    if len(ops) != 2 or len(ops[0].signature.returns) != len(ops[1].signature.returns):
        return ()
    first, second = (op.signature.arguments for op in ops)
    added = [a for a in second if a not in first]
    if [a for a in second if a in first] != list(first) or sum(a.default is None for a in added) != 1:
        return ()
    return tuple(Added(a.name, default_text(a.default or "None")) for a in added)


def is_overloaded(ops: tuple[Op, ...]) -> bool:
    return len(ops) > 1 and not added_parameters(ops)


def takes_out(op: Op, form: Form, *, method: bool) -> bool:
    """Does the face have a parameter `out`? Those of functions have; a method with a target is the one in place."""
    if form == COPY:
        return not op.signature.returns[0].type.is_list
    return "out" in op.forms and not method and not form.inplace


def binder_name(ops: tuple[Op, ...], form: Form, *, method: bool) -> str:
    """The binder of the function serves the method too, unless it takes `out`, or the method a list spread out."""
    own = method and any(takes_out(op, form, method=False) or spread_sizes(op) for op in ops)
    return binder_names(ops[0].base, form, own=own)[0]


def spread_sizes(op: Op) -> Argument | None:
    """The list of numbers that methods take spread out too: ``x.view(2, 3)``."""
    lists = (a for a in op.signature.arguments if a.name == op.variadic and not a.type.is_tensor_list)
    return next(lists, None)


def binders(form: Form, ops: tuple[Op, ...]) -> Iterator[Binder]:
    shown = tuple(op for op in ops if op.forms)
    if not shown or not is_overloaded(shown):
        return
    needs_two = binder_name(ops, form, method=True) != binder_name(ops, form, method=False)
    if not needs_two or form == COPY or any("function" in op.forms for op in shown):
        yield _binder(form, shown, method=False)
    if needs_two and form != COPY and any(form.inplace or "method" in op.forms for op in shown):
        yield _binder(form, shown, method=True)


def _binder(form: Form, ops: tuple[Op, ...], *, method: bool) -> Binder:
    candidates = tuple(_candidate(op, form, method=method) for op in ops)
    return Binder(
        name=binder_name(ops, form, method=method),
        table=binder_names(ops[0].base, form, own=method)[1],
        op=ops[0].spoken + form.suffix,
        candidates=candidates,
        direct=tuple(_direct(candidates)),
        is_lazy=ops[0].is_lazy,
    )


def _candidate(op: Op, form: Form, *, method: bool) -> Candidate:
    parameters = [
        Parameter(
            function_name(a.name),
            a.type,
            default_text(a.default or ""),
            a.keyword_only,
            is_spread_list(op, a, method=method),
        )
        for a in op.signature.arguments
    ]
    if takes_out(op, form, method=method):
        parameters.append(out_parameter(op))
    shown = [
        Parameter(f"{'*' * p.variadic}{p.type.plain} {p.name}", p.type, p.default, p.keyword_only) for p in parameters
    ]
    text = ", ".join(with_star(shown)).replace('"', "'")
    return Candidate(f"({text})", tuple(parameters), called_name(op, form), len(op.signature.arguments))


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
