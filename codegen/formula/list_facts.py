"""Comprehensions that ask for shapes or dtypes alone: ``x.shape for x in tensors`` keeps no tensor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..spec.vocabulary import LIST_ATTRIBUTES
from .formula import Attribute, AttributeOf, Call, Comprehension, Expr, Name, TupleExpr, Variable
from .scope import TENSORS
from .substitute import rebuilt

KEPT = ("shape", "dtype")  # facts of a list that a node can keep


def without_values(comprehension: Comprehension) -> Comprehension:
    """The same comprehension, over the shapes or dtypes of a list where it reads nothing else of it."""
    for place, loop in enumerate(comprehension.loops):
        for variable, source in _paired(loop.target, loop.source):
            fact = _only_fact(comprehension, variable)
            if isinstance(source, Name) and source.type == TENSORS and fact is not None:
                comprehension = _over_fact(comprehension, place, variable, source, fact)
                return without_values(comprehension)
    return comprehension


def _paired(target: Expr, source: Expr) -> Iterator[tuple[Variable, Expr]]:
    """Each variable of a loop and the list that it goes over."""
    match target, source:
        case Variable(), _:
            yield target, source
        case TupleExpr(items=items), Call(function="zip", arguments=arguments):
            for item, argument in zip(items, arguments, strict=True):
                yield from _paired(item, argument)
        case TupleExpr(items=(_, item)), Call(function="enumerate", arguments=(argument,)):
            yield from _paired(item, argument)


def _only_fact(comprehension: Comprehension, variable: Variable) -> AttributeOf | None:
    """The one fact that is read of a variable, when its value is not needed."""
    reads = [part for part in comprehension.walk() if isinstance(part, Variable) and part.name == variable.name]
    facts = [part for part in comprehension.walk() if isinstance(part, AttributeOf) and part.value == variable]
    known = {fact.attribute for fact in facts}
    # The variable itself stands in its loop.
    return facts[0] if len(known) == 1 and known <= set(KEPT) and len(reads) == len(facts) + 1 else None


def _over_fact(
    comprehension: Comprehension, place: int, variable: Variable, source: Name, fact: AttributeOf
) -> Comprehension:
    own = Variable(fact.type, variable.name)
    facts = Attribute(LIST_ATTRIBUTES[fact.attribute], source.name, fact.attribute)

    def changed(part: Expr) -> Expr:
        """From the leaves up: the variable comes first, then what was read of it."""
        is_read = isinstance(part, AttributeOf) and part.value == own
        return own if is_read or part == variable else part

    loop = comprehension.loops[place]
    over = _source_with(loop.target, loop.source, variable, facts)
    loops = list(comprehension.loops)
    loops[place] = replace(loop, source=over)
    found = rebuilt(replace(comprehension, loops=tuple(loops)), changed)
    assert isinstance(found, Comprehension)
    return found


def _source_with(target: Expr, source: Expr, variable: Variable, facts: Expr) -> Expr:
    """The source with other items for one of the variables."""
    match target, source:
        case Variable(), _:
            return facts if target == variable else source
        case TupleExpr(items=items), Call(function="zip", arguments=arguments):
            pairs = zip(items, arguments, strict=True)
            return replace(source, arguments=tuple(_source_with(t, s, variable, facts) for t, s in pairs))
        case TupleExpr(items=(_, item)), Call(function="enumerate", arguments=(argument,)):
            return replace(source, arguments=(_source_with(item, argument, variable, facts),))
    return source
