"""Common subexpressions of a node's gradients are computed once.

The formulas of one node often repeat themselves: ``self == other`` in both gradients of a maximum, ``sigmoid(self)``
twice in one of silu. Such parts become locals of `apply`, computed where a gradient that needs them is wanted.
(Compiled loops do the same for themselves: see `kernels`.) A formula that chooses by ``if`` is left alone, since the
branch not taken may not be computed at all.

Parts that the entry names (`let`) become such locals in any case. Those that a formula reads in one branch alone are
computed where that branch is taken: see `guarded`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ..formula.formula import Call, Comprehension, Conditional, Expr, Gradient, Gradients, Name, Operator
from ..formula.substitute import rebuilt
from .guards import guard_of, names_of

Key = TypeVar("Key")

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
    guards: tuple[Expr, ...]  # of each reader: the condition under which it reads the part


@dataclass(frozen=True)
class SharedFormulas:
    parts: tuple[SharedPart, ...]
    formulas: tuple[Expr, ...]  # with names for the parts


def share(
    formulas: Sequence[Expr], taken: frozenset[str], lets: Mapping[str, Expr] | None = None, *, automatic: bool = True
) -> SharedFormulas:
    """Name the parts that occur more than once, and those that the entry names.

    `taken` are names that mean something else in `apply`; without `automatic` nothing but `lets` becomes a part.
    """
    every = dict(enumerate(formulas))
    named: dict[str, Expr] = {}
    for name, part in list((lets or {}).items())[::-1]:
        if _is_worth_a_local(part):
            every, named = _replaced(every, part, name), {**_replaced(named, part, name), name: part}
    whole = {i: formula for i, formula in every.items() if automatic and not _chooses(formula)}
    while (repeated := _largest_repeated([*whole.values(), *_without_choices(named)])) is not None:
        name = _free_name(repeated, taken | named.keys())
        whole = _replaced(whole, repeated, name)
        named = {name: repeated, **_replaced(named, repeated, name)}
    every |= whole
    parts = [_shared_part(name, named, every) for name in _in_order(named)]
    return SharedFormulas(tuple(part for part in parts if part.readers), tuple(every.values()))


def each_for_itself(part: SharedPart) -> Iterator[SharedPart]:
    """The same part, for each of its readers alone."""
    return (replace(part, readers=(i,), guards=(guard,)) for i, guard in zip(part.readers, part.guards, strict=True))


def _replaced(formulas: Mapping[Key, Expr], part: Expr, name: str) -> dict[Key, Expr]:
    return {key: _with_name(formula, part, name) for key, formula in formulas.items()}


def _shared_part(name: str, named: Mapping[str, Expr], formulas: Mapping[int, Expr]) -> SharedPart:
    guards = {i: guard for i, formula in formulas.items() if (guard := guard_of(name, formula, named)) is not None}
    return SharedPart(name, named[name], tuple(guards), tuple(guards.values()))


def _in_order(named: Mapping[str, Expr]) -> list[str]:
    """Each part after those that it reads."""
    found: dict[str, None] = {}

    def follow(name: str) -> None:
        for read in sorted(names_of(named[name]) & named.keys()):
            follow(read)
        found[name] = None

    for name in named:
        follow(name)
    return list(found)


def _is_worth_a_local(part: Expr) -> bool:
    """A tensor or a list of tensors that is computed."""
    return part.type.name == "Tensor" and not isinstance(part, (Name, Gradient, Gradients))


def _without_choices(named: Mapping[str, Expr]) -> Iterator[Expr]:
    return (expr for expr in named.values() if not _chooses(expr))


def _chooses(formula: Expr) -> bool:
    return any(
        isinstance(part, Comprehension) or (isinstance(part, Conditional) and not part.resolved)
        for part in formula.walk()
    )


def _largest_repeated(formulas: Sequence[Expr]) -> Expr | None:
    counts = Counter(part for formula in formulas for part in formula.walk() if _is_step(part))
    repeated = [part for part, count in counts.items() if count > 1]
    return max(repeated, key=lambda part: sum(1 for _ in part.walk()), default=None)


def _is_step(part: Expr) -> bool:
    """Something that is computed, with a tensor as its result."""
    return part.type.is_tensor and (isinstance(part, Call) or (isinstance(part, Operator) and bool(part.resolved)))


def _with_name(formula: Expr, part: Expr, name: str) -> Expr:
    return rebuilt(formula, lambda found: Name(part.type, name) if found == part else found)


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
