"""Pointwise formulas as C loops.

A formula that works element by element is *lowered* to a `Term`, a tree of C operations on numbers in which every op
that is itself an expression has been replaced by that expression. The term is then printed twice, once per element
type. Why C and not Cython: see Note [Why the loops are C] below.

Note [Why the loops are C]
A loop in C, compiled once per instruction set, is vectorised by the compiler; Cython's wrappers are compiled for size.
Three habits keep the loops fast: literals have the type of the elements (a `1.0` in a float loop makes everything
double, six times slower), a function of libm is called unconditionally and selected afterwards (a call in an arm of
`?:` stays scalar), and repeated subexpressions become locals.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ..formula.callees import is_outside
from ..formula.formula import Call, Conditional, Expr, Gradient, Literal, Name, Operator
from ..model import Table
from .c_names import c_name

MAX_INPUTS = MAX_SCALARS = 8  # GS_FUSED_MAX_INPUTS, GS_FUSED_MAX_SCALARS


@dataclass(frozen=True)
class Term:
    """One C operation: an operator symbol, "call" of a libm function, "select", or a leaf.

    `label` names the local that holds the value when it is needed twice.
    """

    kind: str  # "input", "scalar", "number", "call", "select", "neg", "!", or a binary operator of C
    operands: tuple[Term, ...] = ()
    name: str = ""  # of an input, a scalar or a function
    value: float = 0.0
    label: str = field(default="", compare=False)

    @property
    def is_leaf(self) -> bool:
        return self.kind in ("input", "scalar", "number")

    @property
    def is_truth(self) -> bool:
        """A C truth value, not a number."""
        return self.kind in _TRUTHS

    def walk(self) -> Iterator[Term]:
        for operand in self.operands:
            yield from operand.walk()
        yield self


_TRUTHS = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||", "!"})
_BINDING = {
    "||": 1, "&&": 2, "==": 3, "!=": 3, "<": 4, "<=": 4, ">": 4, ">=": 4, "+": 5, "-": 5, "*": 6, "/": 6,
    "neg": 7, "!": 7,
}  # fmt: skip
_ATOM = 8

# Work per element in additions, for the decision to use threads.
_COSTS = {"call": 8, "/": 3}
_CHEAP_CALLS = frozenset({"fabs", "sqrt", "floor", "ceil", "trunc", "rint", "copysign", "fmax", "fmin"})


class NotFusable(Exception):
    """The expression is no loop over numbers. Not an error: the ops of the formula are used instead."""


# ---- terms


def number(value: float) -> Term:
    return Term("number", value=float(value))


def call(function: str, *operands: Term) -> Term:
    return Term("call", tuple(map(as_number, operands)), function, label=function)


def binary(symbol: str, left: Term, right: Term) -> Term:
    return Term(symbol, (as_number(left), as_number(right)))


def select(test: Term, body: Term, orelse: Term) -> Term:
    return Term("select", (as_truth(test), as_number(body), as_number(orelse)), label="selected")


def as_number(term: Term) -> Term:
    """A truth value in arithmetic counts as one or zero."""
    return Term("select", (term, number(1), number(0)), label="mask") if term.is_truth else term


def as_truth(term: Term) -> Term:
    return term if term.is_truth else binary("!=", term, number(0))


def power(base: Term, exponent: Term) -> Term:
    """Small constant powers are products and roots: `pow` is twenty times slower."""
    simple = _SIMPLE_POWERS.get(exponent.value) if exponent.kind == "number" else None
    return simple(as_number(base)) if simple else call("pow", base, exponent)


def product(base: Term, count: int) -> Term:
    result = base
    for _ in range(count - 1):
        result = binary("*", result, base)
    return result


def reciprocal(x: Term) -> Term:
    return binary("/", number(1), x)


_SIMPLE_POWERS: dict[float, Callable[[Term], Term]] = {
    1.0: lambda x: x,
    2.0: lambda x: product(x, 2),
    3.0: lambda x: product(x, 3),
    4.0: lambda x: product(product(x, 2), 2),
    0.5: lambda x: call("sqrt", x),
    -0.5: lambda x: reciprocal(call("sqrt", x)),
    -1.0: reciprocal,
    -2.0: lambda x: reciprocal(product(x, 2)),
}


def _extremum(symbol: str) -> Callable[[Term, Term], Term]:
    """NaN wins, as in NumPy: left over when it is the left operand, chosen when it is the right.

    The other way round says the same, but then the compiler does not vectorise one inside another, as in clamp.
    """
    opposite = {"<": ">", ">": "<"}[symbol]

    def build(a: Term, b: Term) -> Term:
        return select(Term("||", (binary(opposite, a, b), binary("!=", b, b))), b, a)

    return build


def _sign(x: Term) -> Term:
    """Zero where it is zero, and at NaN as in PyTorch."""
    negative = select(binary("<", x, number(0)), number(-1), number(0))
    return select(binary(">", x, number(0)), number(1), negative)


def _operator(symbol: str) -> Callable[..., Term]:
    return lambda a, b: binary(symbol, a, b)


def _logical(symbol: str) -> Callable[..., Term]:
    return lambda a, b: Term(symbol, (as_truth(a), as_truth(b)))


def _function(name: str) -> Callable[..., Term]:
    return lambda *operands: call(name, *operands)


# C code of NumPy's ufuncs. A ufunc that is missing here cannot be part of a loop.
UFUNC_TERMS: dict[str, Callable[..., Term]] = {
    "add": _operator("+"), "subtract": _operator("-"), "multiply": _operator("*"),
    "true_divide": _operator("/"), "divide": _operator("/"), "power": power,
    "negative": lambda x: Term("neg", (as_number(x),)), "positive": lambda x: x, "conjugate": lambda x: x,
    "square": lambda x: product(as_number(x), 2), "reciprocal": reciprocal, "sign": _sign,
    "absolute": _function("fabs"), "sqrt": _function("sqrt"),
    "maximum": _extremum(">"), "minimum": _extremum("<"),
    "equal": _operator("=="), "not_equal": _operator("!="), "less": _operator("<"),
    "less_equal": _operator("<="), "greater": _operator(">"), "greater_equal": _operator(">="),
    "logical_and": _logical("&&"), "logical_or": _logical("||"), "logical_not": lambda x: Term("!", (as_truth(x),)),
    "isnan": lambda x: binary("!=", x, x),
    **{name: _function(name) for name in (
        "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh", "tanh",
        "cbrt", "hypot", "floor", "ceil", "trunc", "rint", "copysign",
    )},
    **{"arc" + name: _function("a" + name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")},
}  # fmt: skip

# Ops and functions of the table that are no ufunc, yet plain on real numbers.
NAMED_TERMS: dict[str, Callable[..., Term]] = {
    "where": select,
    "conj": lambda x: x,
    "real": lambda x: x,
    "abs": _function("fabs"),
    **{name: _function(name) for name in ("erf", "erfc", "lgamma", "tgamma")},
}

_SYMBOLS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "true_divide", "**": "power", "neg": "negative",
    "==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
    "and": "logical_and", "or": "logical_or", "not": "logical_not",
    "&": "logical_and", "|": "logical_or", "~": "logical_not",
}  # fmt: skip


# ---- lowering


@dataclass(frozen=True)
class Lowering:
    """Turns an expression into a term; `scope` says what the names stand for."""

    table: Table
    scope: Mapping[str, Term]
    gradients: tuple[Term, ...] = ()

    def lower(self, expr: Expr) -> Term:
        match expr:
            case Name(name=name) if name in self.scope:
                return self.scope[name]
            case Gradient(index=index):
                return self.gradients[index]
            case Literal(value=bool() | int() | float() as value):
                return number(value)
            case Operator(symbol=symbol, operands=operands):
                return self._build(UFUNC_TERMS.get(_SYMBOLS.get(symbol, "")), operands)
            case Conditional():
                return self._build(select, (expr.test, expr.body, expr.orelse))
            case Call():
                return self._call(expr)
        raise NotFusable

    def _build(self, build: Callable[..., Term] | None, operands: tuple[Expr, ...]) -> Term:
        if build is None:
            raise NotFusable
        return build(*map(self.lower, operands))

    def _call(self, expr: Call) -> Term:
        if expr.function in NAMED_TERMS and not is_outside(expr.c_entry):
            return self._build(NAMED_TERMS[expr.function], expr.arguments)
        variant = self.table.variants.get(expr.c_entry)
        if variant is None:  # a helper of numbers: exp(beta)
            return self._build(UFUNC_TERMS.get(expr.function), expr.arguments)
        if variant.forward.kind == "ufunc":
            return self._build(UFUNC_TERMS.get(variant.forward.ufunc), expr.arguments)
        if variant.forward.formula is None:
            raise NotFusable
        names = [argument.name for argument in variant.signature.arguments]
        scope = dict(zip(names, map(self.lower, expr.arguments), strict=True))
        term = replace(self, scope=scope, gradients=()).lower(variant.forward.formula.expr)
        return replace(term, label=variant.signature.base)


# ---- printing


@dataclass(frozen=True)
class Local:
    name: str
    text: str


@dataclass(frozen=True)
class LoopBody:
    """One element's work in one element type."""

    locals: tuple[Local, ...]
    result: str


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


@dataclass(frozen=True)
class Places:
    """Location of each name of a formula when the loop runs."""

    inputs: Mapping[str, str]
    scalars: Mapping[str, int]
    gradients: tuple[str, ...] = ()


def expect_kernel(name: str, text: str, expr: Expr, places: Places, table: Table) -> Kernel | None:
    """The loop of an expression, or None when it is none."""
    try:
        return _kernel(name, text, expr, places, table)
    except NotFusable:
        return None


def _kernel(name: str, text: str, expr: Expr, places: Places, table: Table) -> Kernel:
    found = {**dict(places.inputs), **{g: f"GS_GRAD | {i}" for i, g in enumerate(places.gradients)}}
    scope = {n: Term("input", name=c_name(n)) for n in places.inputs}
    scope |= {n: Term("scalar", name=c_name(n)) for n in places.scalars}
    gradients = tuple(Term("input", name=c_name(g)) for g in places.gradients)
    term = as_number(Lowering(table, scope, gradients).lower(expr))
    used = {t.name for t in term.walk() if t.kind in ("input", "scalar")}
    inputs = [n for n in (*places.gradients, *places.inputs) if c_name(n) in used]
    scalars = [n for n in places.scalars if c_name(n) in used]
    if not inputs or len(inputs) > MAX_INPUTS or len(scalars) > MAX_SCALARS:
        raise NotFusable
    return Kernel(
        name=name,
        formula=text,
        inputs=tuple(map(c_name, inputs)),
        scalars=tuple(map(c_name, scalars)),
        input_places=tuple(found[n] for n in inputs),
        scalar_places=tuple(places.scalars[n] for n in scalars),
        cost=_cost(term),
        float_body=_body(term, "f"),
        double_body=_body(term, ""),
    )


def _cost(term: Term) -> int:
    steps = {t for t in term.walk() if not t.is_leaf}
    return min(255, max(1, sum(1 if t.name in _CHEAP_CALLS else _COSTS.get(t.kind, 1) for t in steps)))


def _body(term: Term, suffix: str) -> LoopBody:
    return _BodyPrinter(suffix, _shared(term)).body(term)


def _shared(term: Term) -> tuple[Term, ...]:
    """Terms that become locals, operands first: what occurs twice, and libm calls that a select would skip."""
    counts = Counter(_occurrences(term, set()))
    wanted = {t for t, count in counts.items() if count > 1}.union(_selected_calls(term))
    ordered = dict.fromkeys(t for t in term.walk() if t in wanted)
    return tuple(t for t in ordered if t != term)


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
    for t in term.walk():
        if t.kind == "select":
            for arm in t.operands[1:]:
                yield from (c for c in arm.walk() if c.kind == "call" and c.name not in _CHEAP_CALLS)


@dataclass(frozen=True)
class _BodyPrinter:
    suffix: str  # "f" in the loop over float
    shared: tuple[Term, ...]

    def body(self, term: Term) -> LoopBody:
        names: dict[Term, str] = {}
        locals_ = []
        for shared in self.shared:
            text = self._print(shared, names)[0]
            names[shared] = self._local_name(shared, names)
            locals_.append(Local(names[shared], text))
        return LoopBody(tuple(locals_), self._print(term, names)[0])

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
                return f"{term.name}[i]", _ATOM
            case "scalar":
                return term.name, _ATOM
            case "number":
                return self._number(term.value)
            case "call":
                arguments = ", ".join(self._print(operand, names)[0] for operand in term.operands)
                return f"{term.name}{self.suffix}({arguments})", _ATOM
            case "select":
                test, body, orelse = (self._within(operand, 1, names) for operand in term.operands)
                return f"{test} ? {body} : {orelse}", 0
        binding = _BINDING[term.kind]
        if len(term.operands) == 1:
            symbol = {"neg": "-"}.get(term.kind, term.kind)
            return f"{symbol}{self._within(term.operands[0], binding + 1, names)}", binding
        left = self._within(term.operands[0], _left_binding(term), names)
        return f"{left} {term.kind} {self._within(term.operands[1], binding + 1, names)}", binding

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
