"""All small ways to make a formula wrong: one step of the tree is dropped, doubled, exchanged or replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from gradsmith.codegen.formula.formula import (
    AttributeOf,
    Call,
    Comprehension,
    Conditional,
    Expr,
    Gradient,
    IsUndefined,
    IsWanted,
    Literal,
    Loop,
    Name,
    Operator,
    Slice,
    Subscript,
)
from gradsmith.codegen.formula.scope import INT, TENSOR
from gradsmith.codegen.formula.substitute import rebuilt
from gradsmith.codegen.spec.schema_types import Type

from ..trees.text import written

# Operators that become another one, apart from losing an operand.
_OTHER_SYMBOL: Mapping[str, str] = {
    "+": "-", "-": "+", "*": "/", "/": "*", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "&": "|", "|": "&", "and": "or", "or": "and",
}  # fmt: skip
_TESTS = frozenset({"<", "<=", ">", ">=", "==", "!=", "&", "|"})


@dataclass(frozen=True)
class Mutant:
    """A formula with one step changed."""

    change: str  # "without the factor 'conj(other)'"
    whole: Expr
    part: Expr  # a step of the whole, by identity
    other: Expr  # in its place

    @cached_property
    def tree(self) -> Expr:
        return replaced_part(self.whole, self.part, self.other)

    @property
    def text(self) -> str:
        return written(self.tree)


@dataclass(frozen=True)
class Names:
    """Names that may stand for each other, by type: arguments, and what the op gave."""

    types: Mapping[str, Type]

    def others(self, name: Name) -> Iterator[Name]:
        for other, kind in self.types.items():
            if other != name.name and kind == name.type and kind.name != "None":
                yield Name(kind, other)


def mutants_of(formula: Expr, names: Names, wrappers: Sequence[str] = ()) -> list[Mutant]:
    """Each tree once, in the order of the formula's text; `wrappers` are ops that may come between two steps."""
    found: dict[str, Mutant] = {}
    formula = apart(formula)
    original = written(formula)
    asked = {id(part.value) for part in formula.walk() if isinstance(part, AttributeOf)}  # for their shape or dtype
    for target in formula.walk():
        for change, other in (*changes_of(target, names), *wrapped(target, () if id(target) in asked else wrappers)):
            mutant = Mutant(change, formula, target, other)
            if mutant.text != original:
                found.setdefault(mutant.text, mutant)
    if isinstance(formula, Comprehension) and formula.type.is_tensor_list:
        backwards = Slice(formula.type, None, None, Literal(INT, -1))
        found["backwards"] = Mutant("the list backwards", formula, formula, Subscript(formula.type, formula, backwards))
    return list(found.values())


def replaced_part(formula: Expr, part: Expr, other: Expr) -> Expr:
    """The tree with one of its steps, by identity, exchanged."""
    return rebuilt(formula, lambda found: other if found is part else found)


def wrapped(part: Expr, wrappers: Sequence[str]) -> Iterator[tuple[str, Expr]]:
    if isinstance(part, (Name, Gradient)) and part.type == TENSOR:
        for wrapper in wrappers:
            yield f"{wrapper} of '{written(part)}'", Call(TENSOR, wrapper, f"op_{wrapper}", "shape", (part,))


def apart(expr: Expr) -> Expr:
    """The same tree with an object for every place: a name that occurs twice is one object in a formula's own."""
    pairs: list[tuple[Expr, Expr]] = []

    def copied(part: Expr) -> Expr:
        pairs.append((part, apart(part)))
        return pairs[-1][1]

    def again(part: Expr) -> Expr:
        """An operand as the argument of a call that it is too."""
        number = next((n for n, (old, _) in enumerate(pairs) if old is part), None)
        return apart(part) if number is None else pairs.pop(number)[1]

    changed: dict[str, Any] = {}
    for entry in fields(expr):
        value = getattr(expr, entry.name)
        copy = again if entry.name == "resolved_arguments" else copied
        if isinstance(value, Expr):
            changed[entry.name] = copy(value)
        elif isinstance(value, tuple):
            changed[entry.name] = tuple(copy(item) if isinstance(item, Expr) else item for item in value)
    return replace(expr, **changed)


def changes_of(part: Expr, names: Names) -> Iterator[tuple[str, Expr]]:
    """Replacements for one step, each with a description."""
    shown = written(part)
    match part:
        case Gradient():
            yield "the gradient doubled", scaled(part, 2)
            yield "the gradient's sign", negated(part)
        case Name():
            yield from ((f"'{other.name}' for '{shown}'", other) for other in names.others(part))
            yield from constants_for(part)
        case Literal():
            yield from constants_for(part)
        case Operator():
            yield from changes_of_operator(part)
        case Call():
            yield from changes_of_call(part)
        case Conditional():
            yield f"always '{written(part.body)}'", part.body
            yield f"always '{written(part.orelse)}'", part.orelse
        case Loop(tests=tests):
            yield from ((f"without 'if {written(t)}'", replace(part, tests=apart_from(t, tests))) for t in tests)
        case IsWanted() | IsUndefined():
            yield f"not {shown}", Operator(part.type, "not", (part,))


def apart_from(lost: Expr, tests: Sequence[Expr]) -> tuple[Expr, ...]:
    return tuple(test for test in tests if test is not lost)


# ---- operators


def changes_of_operator(part: Operator) -> Iterator[tuple[str, Expr]]:
    if len(part.operands) == 1:
        yield f"without the '{part.symbol}' of '{written(part)}'", part.operands[0]
        return
    left, right = part.operands
    if part.symbol not in _TESTS:
        yield from dropped(part, left, right)
    if part.symbol not in ("+", "*", "==", "!=", "&", "|", "and", "or") and left.type == right.type:
        yield f"operands of '{written(part)}' exchanged", operated(part, part.symbol, (right, left))
    if part.symbol in _OTHER_SYMBOL:
        symbol = _OTHER_SYMBOL[part.symbol]
        yield f"'{symbol}' for '{part.symbol}' in '{written(part)}'", operated(part, symbol, (left, right))


def dropped(part: Operator, left: Expr, right: Expr) -> Iterator[tuple[str, Expr]]:
    """One of two operands alone, as far as that is of the same kind."""
    for kept, lost in ((left, right), (right, left)):
        if kept.type == part.type:
            yield f"without '{written(lost)}' in '{written(part)}'", kept


def operated(part: Operator, symbol: str, operands: tuple[Expr, ...]) -> Expr:
    """The step with another symbol or other operands; between tensors it is found by its symbol when it runs."""
    return Operator(part.type, symbol, operands)


def scaled(part: Expr, factor: int) -> Expr:
    return Operator(part.type, "*", (part, Literal(Type("int"), factor)))


def negated(part: Expr) -> Expr:
    return Operator(part.type, "neg", (part,))


# ---- calls


def changes_of_call(part: Call) -> Iterator[tuple[str, Expr]]:
    shown = written(part)
    arguments = part.arguments
    for argument in arguments:
        if argument.type == part.type and argument.type.name in ("Tensor", "Scalar"):
            yield f"'{written(argument)}' for '{shown}'", argument
    tensors = [n for n, argument in enumerate(arguments) if argument.type == TENSOR]
    for one, other in pairwise(tensors):
        yield f"operands of '{shown}' exchanged", exchanged(part, one, other)
    if part.type == TENSOR and part.function not in ("zeros_like", "not_implemented"):
        yield f"'{shown}' doubled", scaled(part, 2)


def exchanged(part: Call, one: int, other: int) -> Call:
    arguments = list(part.arguments)
    arguments[one], arguments[other] = arguments[other], arguments[one]
    return replace(part, arguments=tuple(arguments))


# ---- what is no tensor


def constants_for(part: Name | Literal) -> Iterator[tuple[str, Expr]]:
    """A flag, a dimension or a number replaced by a constant."""
    for value in _others(part):
        if not (isinstance(part, Literal) and part.value == value):
            yield f"{value!r} for '{written(part)}'", Literal(part.type.required, value)


def _others(part: Name | Literal) -> Sequence[bool | int | float]:
    kind = part.type
    if kind.is_list or kind.optional:
        return ()
    if kind.name == "bool":
        return (False, True)
    if isinstance(part, Literal) and isinstance(part.value, (int, float)) and kind.name != "bool":
        return (part.value + 1, -part.value)
    return {"int": (0, -1), "Scalar": (1.7, -0.3), "float": (0.7, -0.3)}.get(kind.name, ())
