"""What choices do besides computing values.

Note [Ways of choices]
A program is made for more than shapes: for which results are operands themselves, which of them require grad, and
which operands have a gradient of which result. Branches may differ in all of these. So each run compares the way that
a choice went with that of the traced run, and where it is another one, the run is given up with nothing written and
the function is traced again for this way, as with any guard.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from gradsmith.autograd.function import Function
from gradsmith.control_flow.repeating.links import Reached
from gradsmith.runtime.graph.tensor import array_behind, from_array
from gradsmith.runtime.programs.trace import Guard, Outdated
from gradsmith.runtime.switches.grad_mode import enable_grad, no_grad
from gradsmith.runtime.tensors.factories.random import default_generator, go_back, place_of

LEAF = "AccumulateGrad"  # the name of the node that adds gradients to a leaf


class Way(NamedTuple):
    """One way that a choice goes.

    Attributes
    ----------
    same_as : tuple of int or None
        For each result the operand that it is, or, counted from the last operand on, the result before it.
    reached : tuple of frozenset of int, or None
        For each result the operands that it has a gradient for; None where nothing is recorded.
    """

    same_as: tuple[int | None, ...]
    reached: tuple[frozenset[int], ...] | None


class NotOneStep(Exception):
    """No step of a program can do what the functions of a choice do, such as write to an operand."""


class ChangesOthers(NotOneStep):
    """The functions change a list or a dict that they hold, of which a step has a copy."""


class SharesMemory(NotOneStep):
    """A result is a view."""


class Work(Protocol):
    """A function of tensors that a program calls in each run.

    Attributes
    ----------
    way : Way or None
        The one that the traced run went; None before that.
    gives_operands : bool
        Is it visible that a result is an operand itself?
    is_exact : bool
        Must everything be as it is in eager, or else be refused with `NotOneStep`?
    """

    way: Way | None
    gives_operands: bool
    is_exact: bool

    def __call__(self, tensors: list[Any]) -> list[Any]: ...

    def for_run(self, tensors: list[Any]) -> list[Any]:
        """The tensors that a run calls it with: these, or copies."""


class Twin(Function):
    """A tensor in the memory of a leaf, that may be written to as a leaf may not."""

    @staticmethod
    def forward(leaf: Any) -> Any:
        return from_array(array_behind(leaf))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """It keeps nothing."""

    @staticmethod
    def backward(ctx: Any, cotangent: Any) -> Any:
        return cotangent


class Chosen(Guard):
    """A choice as a step of a program.

    Parameters
    ----------
    work : Work
    op : str
    needs : list of bool
        Which tensors require grad.

    Attributes
    ----------
    is_final : bool
        Has the program done something by then that cannot be undone, so that a run cannot be given up?
    """

    def __init__(self, work: Work, op: str, needs: list[bool]) -> None:
        self.work, self.op, self.needs = work, op, needs
        self.is_final = False

    def __call__(self, *tensors: Any) -> tuple[Any, ...]:
        is_first = self.work.way is None
        place = place_of(default_generator) if is_first or any(self.needs) else None
        try:
            found = self._called(tensors, place)
        except NotOneStep:
            if not is_first:
                raise self._outdated() from None
            go_back(default_generator, place)
            raise
        with no_grad():
            return tuple([_apart(one.detach(), tensors) for one in found])

    def _called(self, tensors: Sequence[Any], place: Any) -> list[Any]:
        records = any(self.needs)
        tensors = self.work.for_run(list(tensors))
        # An operand that is given twice has a gradient for each of its places.
        leaves = [one.detach().requires_grad_() if needs else one for one, needs in zip(tensors, self.needs)]
        with enable_grad() if records else no_grad():
            given = [Twin.apply(leaf) if needs else leaf for leaf, needs in zip(leaves, self.needs)]
            found = self.work(given)
        if records and self.work.is_exact and has_drawn_since(place):
            raise NotOneStep("random numbers, which a gradient would draw again")
        same_as = _same_as(found, given) if self.work.gives_operands else (None,) * len(found)
        way = Way(same_as, _reached(found, leaves) if records and self.work.is_exact else None)
        if self.work.way is None:
            self.work.way = way
        elif self.work.way != way:
            raise self._outdated()
        return found

    def _outdated(self) -> Exception:
        if not self.is_final:
            return Outdated(f"{self.op}() goes another way")
        return RuntimeError(
            f"{self.op}(): the function chosen differs from the other one in what its results share memory with, or "
            "have gradients for; a compiled function cannot follow that after effects that cannot be undone. Call it "
            "before these"
        )


def has_drawn_since(place: Any) -> bool:
    """Has the generator of all ops gone on since it was there?"""
    return bool(place_of(default_generator) != place)


def _same_as(found: Sequence[Any], given: Sequence[Any]) -> tuple[int | None, ...]:
    """The operands, and the results before them, that results are; of other memory they must show nothing."""
    before = list(given)
    places = []
    for one in found:
        place = next((n for n, other in enumerate(before) if other is one), None)
        array = array_behind(one)
        if place is None and _shares(array, before):
            raise SharesMemory()
        places.append(place)
        before.append(one)
    return tuple(places)


def _reached(found: Sequence[Any], leaves: Sequence[Any]) -> tuple[frozenset[int], ...]:
    recorded = iter(leaves_behind([one for one in found if one.grad_fn is not None], leaves))
    return tuple([frozenset() if one.grad_fn is None else next(recorded) for one in found])


def leaves_behind(results: Sequence[Any], leaves: Sequence[Any]) -> list[frozenset[int]]:
    """The places of the leaves that each result has a gradient for."""
    places = {id(leaf): number for number, leaf in enumerate(leaves)}
    found: dict[Any, frozenset[int]] = {}
    roots = [_source_of(result.grad_fn, result.output_nr) for result in results]
    for root in roots:
        waiting = [root]
        while waiting:
            source = waiting[-1]
            inner = _sources_behind(source)
            unknown = [one for one in inner if one not in found]
            if unknown and source not in found:
                waiting += unknown
                continue
            waiting.pop()
            node = source[0]
            own = places.get(id(node.variable)) if node.name() == LEAF else None
            found[source] = frozenset().union(*(found[one] for one in inner), [] if own is None else [own])
    return [found[root] for root in roots]


def _source_of(node: Any, output_nr: int) -> tuple[Any, int]:
    """Where a tensor comes from; which output of a node it is matters for choices alone."""
    return node, output_nr if _reached_by(node) is not None else 0


def _sources_behind(source: tuple[Any, int]) -> list[tuple[Any, int]]:
    node, output_nr = source
    edges = node.next_functions
    reached = _reached_by(node)
    if reached is not None:
        edges = [edges[place] for place in sorted(reached[output_nr])]
    return [_source_of(one, number) for one, number in edges if one is not None]


def _reached_by(node: Any) -> tuple[frozenset[int], ...] | None:
    way, links = getattr(node, "way", None), getattr(node, "links", None)
    if isinstance(links, Reached):
        return links
    return way.reached if isinstance(way, Way) else None


def _apart(tensor: Any, others: Sequence[Any]) -> Any:
    """In memory of its own: where a program finds a value must not depend on the branch."""
    return tensor.clone() if _shares(array_behind(tensor), others) else tensor


def _shares(array: Any, others: Sequence[Any]) -> bool:
    return any(np.may_share_memory(array, array_behind(one)) for one in others)
