"""Common subexpressions of a node's gradients are computed once.

The formulas of one node often repeat themselves: ``self == other`` in both gradients of a maximum, ``sigmoid(self)``
twice in one of silu. Such parts become locals of `apply`, computed where a gradient that needs them is wanted.
(Compiled loops do the same for themselves: see `kernels`.) A formula that chooses by ``if`` is left alone, since the
branch not taken may not be computed at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..formula.formula import Call, Conditional, Expr, Name, Operator
from ..formula.substitute import rebuilt

_WORDS = {
    "+": "sum", "-": "difference", "*": "product", "/": "quotient", "neg": "negative", "**": "power", "@": "matrix",
    "==": "equal", "!=": "unequal", "<": "less", "<=": "at_most", ">": "greater", ">=": "at_least",
    "&": "both", "|": "either", "~": "inverse",
}  # fmt: skip


@dataclass(frozen=True)
class SharedPart:
    """A part that is read twice or more; `expr` may name parts that come before it."""

    name: str  # tanh_of_self
    expr: Expr
    readers: tuple[int, ...]  # the formulas that need it, themselves or through another part


@dataclass(frozen=True)
class SharedFormulas:
    parts: tuple[SharedPart, ...]
    formulas: tuple[Expr, ...]  # with names for the parts


def share(formulas: Sequence[Expr], taken: frozenset[str]) -> SharedFormulas:
    """Name the parts that occur more than once; `taken` are names that mean something else in `apply`."""
    whole = {i: formula for i, formula in enumerate(formulas) if not _chooses(formula)}
    named: dict[str, Expr] = {}
    while (part := _largest_repeated([*whole.values(), *named.values()])) is not None:
        name = _free_name(part, taken | named.keys())
        whole = {i: _with_name(formula, part, name) for i, formula in whole.items()}
        # Parts found later are smaller, and may be inside those found before.
        named = {name: part, **{other: _with_name(expr, part, name) for other, expr in named.items()}}
    reads = {i: _names_read(formula, named) for i, formula in whole.items()}
    parts = [SharedPart(n, e, tuple(i for i in whole if n in reads[i])) for n, e in named.items()]
    return SharedFormulas(tuple(parts), tuple(whole.get(i, formula) for i, formula in enumerate(formulas)))


def _chooses(formula: Expr) -> bool:
    return any(isinstance(part, Conditional) and not part.resolved for part in formula.walk())


def _largest_repeated(formulas: Sequence[Expr]) -> Expr | None:
    counts = Counter(part for formula in formulas for part in formula.walk() if _is_step(part))
    repeated = [part for part, count in counts.items() if count > 1]
    return max(repeated, key=lambda part: sum(1 for _ in part.walk()), default=None)


def _is_step(part: Expr) -> bool:
    """Something that is computed, with a tensor as its result."""
    return part.type.is_tensor and (isinstance(part, Call) or (isinstance(part, Operator) and bool(part.resolved)))


def _with_name(formula: Expr, part: Expr, name: str) -> Expr:
    return rebuilt(formula, lambda found: Name(part.type, name) if found == part else found)


def _names_read(formula: Expr, named: dict[str, Expr]) -> set[str]:
    """Parts that a formula needs, and those that these need."""
    found = {part.name for part in formula.walk() if isinstance(part, Name) and part.name in named}
    return found.union(*(_names_read(named[name], named) for name in found))


# ---- readable names


def _free_name(part: Expr, taken: frozenset[str]) -> str:
    label = _label(part)
    numbered = (f"{label}_{i}" for i in range(2, len(taken) + 3))
    return label if label not in taken else next(name for name in numbered if name not in taken)


def _label(part: Expr) -> str:
    """``tanh_of_self``; of more than one name only the step: ``product_part``."""
    step = part.function if isinstance(part, Call) else _WORDS[part.symbol] if isinstance(part, Operator) else ""
    operands = list(_operands(part))
    plain = all(isinstance(operand, Name) for operand in operands)
    return f"{step}_of_{'_'.join(o.name for o in operands if isinstance(o, Name))}" if plain else f"{step}_part"


def _operands(part: Expr) -> Iterator[Expr]:
    return (child for child in part.children() if child.type.is_tensor)
