"""Common subexpressions of a node's gradients, and of a composite forward, are computed once.

The formulas of one node often repeat themselves: ``self == other`` in both gradients of a maximum, ``sigmoid(self)``
twice in one of silu. Such parts become locals of `apply`, computed where a gradient that needs them is wanted.
(Compiled loops do the same for themselves: see `kernels`.) Where a formula chooses by ``if``, what it reads in a branch
alone stays there, since the branch not taken may not be computed at all.

Parts that the entry names (`let`) become such locals in any case. Those that a formula reads in one branch alone are
computed where that branch is taken: see `guarded`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import TypeVar

from ..formula.formula import Call, Comprehension, Conditional, Expr, Gradient, Gradients, Name, Operator
from ..formula.substitute import rebuilt, replaced_below
from .guards import guard_of

Key = TypeVar("Key")

_WORDS = {
    "+": "sum", "-": "difference", "*": "product", "/": "quotient", "neg": "negative", "**": "power", "@": "matrix",
    "==": "equal", "!=": "unequal", "<": "less", "<=": "at_most", ">": "greater", ">=": "at_least",
    "&": "both", "|": "either", "~": "inverse", "^": "either_alone", "%": "remainder", "//": "floored_quotient",
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
    whole = every if automatic else {}
    names = _named(_repeated([*whole.values(), *_without_choices(named)]), taken | named.keys())
    whole = {i: names.get(formula) or replaced_below(formula, names) for i, formula in whole.items()}
    parts_by_name = {name.name: part for part, name in reversed(names.items())}
    named = {name: replaced_below(part, names) for name, part in {**parts_by_name, **named}.items()}
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
        for read in sorted(named[name].names & named.keys() - found.keys()):
            follow(read)
        found[name] = None

    for name in named:
        if name not in found:
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


def _repeated(formulas: Sequence[Expr]) -> list[Expr]:
    """Steps that are read more than once though each is computed once; larger ones, which may read others, first."""
    reads: Counter[Expr] = Counter()
    waiting = list(reversed(formulas))
    while waiting:
        part = waiting.pop()
        reads[part] += 1
        if reads[part] == 1 or not _is_step(part):
            waiting.extend(reversed(list(_always_computed(part))))
    repeated = [part for part, count in reads.items() if count > 1 and _is_step(part)]
    return sorted(repeated, key=lambda part: part.size, reverse=True)


def _always_computed(part: Expr) -> Iterator[Expr]:
    """The children that are computed whenever the part is."""
    match part:
        case Comprehension():
            return
        case Conditional(resolved="", test=first) | Operator(symbol="and" | "or", operands=(first, *_)):
            yield first
        case _:
            yield from part.children()


def _named(parts: Sequence[Expr], taken: Set[str]) -> dict[Expr, Name]:
    names: dict[Expr, Name] = {}
    for part in parts:
        names[part] = Name(part.type, _free_name(part, taken | {name.name for name in names.values()}))
    return names


def _is_step(part: Expr) -> bool:
    """Something that is computed, with a tensor or several as its result, and the same each time."""
    if isinstance(part, Call):
        draws = any(argument.type.name == "Generator" for argument in part.arguments)
        return part.type.name == "Tensor" and not draws
    return isinstance(part, Operator) and part.type.name == "Tensor" and bool(part.resolved)


def _with_name(formula: Expr, part: Expr, name: str) -> Expr:
    return rebuilt(formula, lambda found: Name(part.type, name) if found == part else found)


# ---- readable names


def _free_name(part: Expr, taken: Set[str]) -> str:
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
