"""Why a node keeps what it keeps, in words: for the generated text, the documentation and `explain`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..formula.formula import Call
from ..model import Backward, Table
from ..spec.errors import Position, SpecError
from .cost import Prices, Way, is_cheap


@dataclass(frozen=True)
class Reasons:
    """The words for the choice among the ways of one node."""

    prices: Prices
    base: str  # of the op
    ways: tuple[Way, ...]

    def chosen(self, chosen: Way) -> str:
        """Of a way that none is clearly better than; "" when all ways keep the same."""
        others = [way for way in self.ways if way.kept != chosen.kept]
        if not others:
            return ""
        return f"saves {self.kept(chosen)}: {self.advantage(chosen, min(others, key=self.prices.of))}"

    def written(self, chosen: Way, best: Way) -> str:
        """Of a way that is not the best, but the author's."""
        return f"saves {self.kept(chosen)}, as written: {self.kept(best)} would be cheaper, {self.spared(best, chosen)}"

    def declared(self, chosen: Way, best: Way) -> str:
        """Of what the entry says itself."""
        if self.prices.of(best) < self.prices.of(chosen):
            why = f"{self.kept(best)} would be cheaper, {self.spared(best, chosen)}"
            return f"saves {self.kept(chosen)}, as the entry says: {why}"
        return self.chosen(chosen)

    def note(self, chosen: Way, best: Way) -> str:
        """For the author of formulas that are not the cheapest."""
        saves = [f"'saves: [{', '.join(self.names(way))}]'" for way in (best, chosen)]
        return (
            f"saves {self.kept(chosen)}; {self.kept(best)} would be cheaper: {self.spared(best, chosen)}. "
            f"Say {saves[0]} to have that, or {saves[1]} if it is meant"
        )

    # -- parts

    def advantage(self, chosen: Way, other: Way) -> str:
        """Advantages over the best way that keeps something else."""
        if chosen.kept < other.kept:
            return f"{listed(sorted(other.kept - chosen.kept))} would be one array more"
        if self.prices.output in chosen.kept:
            return self.spared(chosen, other)
        return "the result would not spare enough"

    def spared(self, way: Way, other: Way) -> str:
        """The functions that a way does not have to compute again."""
        functions = sorted(self.functions(other) - self.functions(way))
        return f"{listed(functions)} need not be computed again" if functions else "fewer steps than from the inputs"

    def functions(self, way: Way) -> set[str]:
        found = {step.function for step in way.steps if isinstance(step, Call) and not is_cheap(step.function)}
        return found | {self.base for step in way.steps if self.prices.is_again(step)}

    def kept(self, way: Way) -> str:
        return listed(self.names(way))

    def names(self, way: Way) -> list[str]:
        """Saved values of the node, in the order of the signature; results come last."""
        arguments = self.prices.arguments
        return [name for name in arguments if name in way.kept] + sorted(way.kept.difference(arguments))


def why_kept(backward: Backward) -> str:
    """Of a node that had no choice: what needs its tensors, or what is enough instead; "" when it keeps nothing."""
    tensors = (*backward.saved, *backward.saved_lists)
    if not tensors:
        return _why_no_tensor(backward)
    inputs = backward.differentiable_inputs
    if all(len(saved.edges) == len(inputs) for saved in tensors):
        gradients = "the gradient needs" if len(inputs) == 1 else "every gradient needs"
        return f"saves {listed(s.name for s in tensors)}: {gradients} {'it' if len(tensors) == 1 else 'them'}"
    groups: dict[tuple[int, ...], list[str]] = {}
    for saved in tensors:
        groups.setdefault(saved.edges, []).append(saved.name)
    parts = (f"{listed(names)} for {_gradients([inputs[e] for e in edges])}" for edges, names in groups.items())
    return f"saves {', '.join(parts)}"


def _gradients(inputs: list[str]) -> str:
    return f"the gradient{'s' if len(inputs) > 1 else ''} of {listed(inputs)}"


def _why_no_tensor(backward: Backward) -> str:
    attributes: dict[str, list[str]] = {}
    for value in backward.values:
        if value.owner and value.attribute:
            attributes.setdefault(value.owner, []).append(value.attribute)
    if not attributes:
        return ""
    shown = listed(f"the {listed(names)} of {owner}" for owner, names in attributes.items())
    is_one = sum(map(len, attributes.values())) == 1
    return f"saves no tensor: {shown} {'is' if is_one else 'are'} enough"


def notes(table: Table) -> tuple[str, ...]:
    """Decisions left to the author of a table, reported like errors."""
    found = (
        SpecError(table.file, Position(op.line, 1), op.base, f"note: {variant.backward.note}")
        for op in table.ops
        for variant in op.variants
        if variant.backward and variant.backward.note
    )
    return tuple(dict.fromkeys(map(str, found)))


def listed(names: Iterable[str]) -> str:
    """``a, b and c``."""
    found = list(names)
    if not found:
        return "nothing"
    return " and ".join(filter(None, (", ".join(found[:-1]), found[-1])))
