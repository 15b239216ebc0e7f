"""Operations of C on numbers: what a formula that works element by element is lowered to.

A term is printed twice, once per element type, by `views.kernels`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..formula.trees import HashedOnce


@dataclass(frozen=True, eq=False)
class Term(HashedOnce):
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

    def steps(self) -> Iterator[Term]:
        """This term and those below it, operands first; equal ones once."""
        yield from self._steps(set())

    def _steps(self, seen: set[Term]) -> Iterator[Term]:
        if self not in seen:
            seen.add(self)
            for operand in self.operands:
                yield from operand._steps(seen)
            yield self


_TRUTHS = frozenset({"==", "!=", "<", "<=", ">", ">=", "&&", "||", "!"})


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
    **{name: _function(name) for name in ("erf", "erfc", "erfinv", "lgamma", "tgamma")},
    **{name: _function(name) for name in ("digamma", "trigamma", "tetragamma", "i0")},
    **{f"special_{name}": _function(name) for name in ("erfcinv", "erfcx", "ndtr", "log_ndtr", "ndtri")},
    **{f"special_{name}": _function(name) for name in ("i0e", "i1", "i1e")},
    **{f"special_modified_bessel_{name}": _function(name) for name in ("k0", "k1")},
    **{f"special_scaled_modified_bessel_{name}": _function(f"{name}e") for name in ("k0", "k1")},
}

SYMBOLS = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "true_divide", "**": "power", "neg": "negative",
    "==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal",
    "and": "logical_and", "or": "logical_or", "not": "logical_not",
    "&": "logical_and", "|": "logical_or", "~": "logical_not",
}  # fmt: skip
