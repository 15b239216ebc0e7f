"""Pointwise formulas as C loops.

A loop (`loops.loop`) is printed twice, once per element type. Why C and not Cython: Note [Why the loops are C].

Note [Why the loops are C]
A loop in C, compiled once per instruction set, is vectorised by the compiler; Cython's wrappers are compiled for size.
Three habits keep the loops fast: literals have the type of the elements (a `1.0` in a float loop makes everything
double, six times slower), a function of libm is called unconditionally and selected afterwards (a call in an arm of
`?:` stays scalar), and repeated subexpressions become locals.

The commonest functions are those of runtime/arrays/kernels/elementary, which become part of the loop. Sines and cosines
there are for arguments near zero only: a loop with one goes block by block, looks whether all arguments are near, and
has a second body for a block where they are not.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from .c_names import c_name
from .loop import Loop
from .terms import Term

_BINDING = {
    "||": 1, "&&": 2, "==": 3, "!=": 3, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6,
    "neg": 7, "!": 7,
}  # fmt: skip
_ATOM = 8

# Work per element in additions, for the decision to use threads.
_COSTS = {"call": 8, "/": 3}
_ELEMENTARY = frozenset({
    "exp", "expm1", "log", "log1p", "tanh", "erf", "erfc", "erfinv", "erfcinv", "erfcx", "ndtr", "log_ndtr", "ndtri",
    "lgamma", "digamma", "trigamma", "tetragamma", "i0", "i0e", "i1", "i1e",
    "k0", "k0e", "k1", "k1e",
})  # fmt: skip
_PERIODIC = frozenset({"sin", "cos"})
_CHEAP_CALLS = frozenset({"fabs", "sqrt", "floor", "ceil", "trunc", "rint", "copysign", "fmax", "fmin"})


@dataclass(frozen=True)
class Local:
    name: str
    text: str


@dataclass(frozen=True)
class LoopBody:
    """One element's work in one element type."""

    locals: tuple[Local, ...]
    result: str
    periodic: tuple[str, ...] = ()  # arguments of sines and cosines
    far: LoopBody | None = None  # where one of these is far from zero


@dataclass(frozen=True)
class Kernel:
    """A fused loop in both element types, and where its executor finds the operands."""

    name: str  # tanh_backward_self
    formula: str  # the text of the table, for the comment
    inputs: tuple[str, ...]  # C names, in the order of args
    scalars: tuple[str, ...]
    input_places: tuple[str, ...]  # GS_GRAD | 0, GS_SAVED | 1; or the number of an argument
    scalar_places: tuple[int, ...]
    cost: int
    float_body: LoopBody
    double_body: LoopBody
    lender: Kernel | None = None  # whose loops it runs: its own would be the same

    @property
    def loops(self) -> str:
        """The name that those it runs begin with."""
        return self.lender.name if self.lender else self.name

    @property
    def own_loops(self) -> tuple[tuple[str, str, LoopBody], ...]:
        """Suffix of the name, element type and body."""
        return () if self.lender else (("f", "float", self.float_body), ("d", "double", self.double_body))


def kernel_of(loop: Loop) -> Kernel:
    return Kernel(
        name=loop.name,
        formula=loop.formula,
        inputs=tuple(map(c_name, loop.inputs)),
        scalars=tuple(map(c_name, loop.scalars)),
        input_places=loop.input_places,
        scalar_places=loop.scalar_places,
        cost=_cost(loop.term),
        float_body=_body(loop.term, "f"),
        double_body=_body(loop.term, ""),
    )


def with_shared_loops(kernels: tuple[Kernel, ...]) -> tuple[Kernel, ...]:
    """One loop for kernels that differ only in what their inputs are: the gradients of the factors of a product.

    The runtime knows by the shared loop that both edges of ``x * x`` get the same gradient.
    """
    lenders: dict[tuple[object, ...], Kernel] = {}
    found = []
    for kernel in kernels:
        lender = lenders.setdefault(_work(kernel), kernel)
        found.append(kernel if lender is kernel else replace(kernel, lender=lender))
    return tuple(found)


def _work(kernel: Kernel) -> tuple[object, ...]:
    """What its loops compute, whatever its inputs are called."""
    places = {name: f"args[{place}]" for place, name in enumerate(kernel.inputs)}
    element = re.compile(rf"\b({'|'.join(places)})\[i\]")
    text = element.sub(lambda found: f"{places[found[1]]}[i]", repr(kernel.float_body))
    return text, len(places), kernel.scalars, kernel.scalar_places


def _cost(term: Term) -> int:
    steps = (t for t in term.steps() if not t.is_leaf)
    return min(255, max(1, sum(1 if t.name in _CHEAP_CALLS else _COSTS.get(t.kind, 1) for t in steps)))


def _body(term: Term, suffix: str) -> LoopBody:
    shared = _shared(term)
    printer = _BodyPrinter(suffix, shared)
    body, periodic = printer.body(term), printer.arguments_of_periodic(term)
    far = _BodyPrinter(suffix, shared, anywhere="_anywhere").body(term) if periodic else None
    return replace(body, periodic=periodic, far=far)


def _shared(term: Term) -> tuple[Term, ...]:
    """Terms that become locals, operands first: what occurs twice, and libm calls that a select would skip."""
    counts = Counter(_occurrences(term, set()))
    wanted = {t for t, count in counts.items() if count > 1}.union(_selected_calls(term))
    return tuple(t for t in term.steps() if t in wanted and t is not term)


def _occurrences(term: Term, seen: set[Term]) -> Iterator[Term]:
    """Inner terms as often as they are written, those of a repeated term only once."""
    if term.is_leaf:
        return
    yield term
    if term in seen:
        return
    seen.add(term)
    for operand in term.operands:
        yield from _occurrences(operand, seen)


def _selected_calls(term: Term) -> Iterator[Term]:
    for t in term.steps():
        if t.kind == "select":
            for arm in t.operands[1:]:
                yield from (c for c in arm.steps() if c.kind == "call" and c.name not in _CHEAP_CALLS)


@dataclass(frozen=True)
class _BodyPrinter:
    suffix: str  # "f" in the loop over float
    shared: tuple[Term, ...]
    anywhere: str = ""  # ends the names of sines and cosines that take any argument

    def body(self, term: Term) -> LoopBody:
        names: dict[Term, str] = {}
        locals_ = []
        for shared in self.shared:
            text = self._print(shared, names)[0]
            names[shared] = self._local_name(shared, names)
            locals_.append(Local(names[shared], text))
        return LoopBody(tuple(locals_), self._print(term, names)[0])

    def arguments_of_periodic(self, term: Term) -> tuple[str, ...]:
        calls = (t for t in term.steps() if t.kind == "call" and t.name in _PERIODIC)
        return tuple(dict.fromkeys(self._print(t.operands[0], {})[0] for t in calls))

    @staticmethod
    def _local_name(term: Term, names: dict[Term, str]) -> str:
        # Numbered, so that a local never hides the function it is called after.
        label = term.label or ("test" if term.is_truth else "part")
        return f"{label}_{1 + sum(name.startswith(f'{label}_') for name in names.values())}"

    def _print(self, term: Term, names: Mapping[Term, str]) -> tuple[str, int]:
        """Text, and how tightly its outermost operator binds."""
        if term in names:
            return names[term], _ATOM
        match term.kind:
            case "input":
                return f"{c_name(term.name)}[i]", _ATOM
            case "scalar":
                return c_name(term.name), _ATOM
            case "number":
                return self._number(term.value)
            case "call":
                arguments = ", ".join(self._print(operand, names)[0] for operand in term.operands)
                return f"{self._function(term.name)}{self.suffix}({arguments})", _ATOM
            case "select":
                test, body, orelse = (self._within(operand, 1, names) for operand in term.operands)
                return f"{test} ? {body} : {orelse}", 0
        binding = _BINDING[term.kind]
        if len(term.operands) == 1:
            symbol = {"neg": "-"}.get(term.kind, term.kind)
            return f"{symbol}{self._within(term.operands[0], binding + 1, names)}", binding
        left = self._within(term.operands[0], _left_binding(term), names)
        return f"{left} {term.kind} {self._within(term.operands[1], binding + 1, names)}", binding

    def _function(self, name: str) -> str:
        if name in _PERIODIC:
            return f"gs_{name}{self.anywhere}"
        return f"gs_{name}" if name in _ELEMENTARY else name

    def _within(self, term: Term, binding: int, names: Mapping[Term, str]) -> str:
        text, own = self._print(term, names)
        return f"({text})" if own < binding else text

    def _number(self, value: float) -> tuple[str, int]:
        if math.isnan(value):
            return "NAN", _ATOM
        if math.isinf(value):
            return ("INFINITY", _ATOM) if value > 0 else ("-INFINITY", _BINDING["neg"])
        return f"{value!r}{self.suffix}", _ATOM if value >= 0 else _BINDING["neg"]


def _left_binding(term: Term) -> int:
    """Compilers warn of comparisons side by side and of `&&` within `||`."""
    return _BINDING[term.kind] + (1 if term.is_truth else 0)
