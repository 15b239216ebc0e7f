"""Decide which values a node saves: the inputs, the result, or neither where recomputing is cheaper.

The formulas of one node can often be written in more than one way: in that of `exp`, ``exp(self)`` is ``result``. The
ways of a formula that is derived come from `derive`, those of one that the author wrote from `rewriting`. Each way is
priced by the arrays that the node would keep and the steps that backward would compute (`cost`), for all gradients of
the node together, since what one of them keeps is free for the others.

Note [Whose choice it is]
A saved tensor may not be changed in place before backward, so that to a caller an op whose formula reads `result` is
not the same as one whose formula reads `self`. Where the formulas are derived, the cheapest way is taken. Where the
author did, a clearly cheaper way is taken if it keeps nothing that the formulas do not keep as they are written: that
refuses no change that was allowed. If it keeps another tensor, the formulas stay, and the generator makes a note of it.
An entry that says ``saves:`` has decided, either way.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from ..model import GradientRule
from .cost import Prices, Way
from .explanation import Reasons

CLEARLY = 0.4  # by so much, in arrays kept, a way is cheaper than what the author wrote
WAYS_AT_MOST = 512  # of one node; beyond, all formulas are taken as they are, or all in their other way


@dataclass(frozen=True)
class Plan:
    """The way that was chosen, and why what it reads is what is kept."""

    way: Way
    reason: str  # "" when there was no choice
    note: str = ""  # what would be cheaper, when that is for the author to decide


def ways_of(alternatives: Sequence[Sequence[GradientRule]]) -> list[Way]:
    """All combinations of the ways of each gradient. The first of each is how the entry has it."""
    written = tuple(ways[0] for ways in alternatives)
    combinations = [written, tuple(ways[-1] for ways in alternatives)]
    if math.prod(map(len, alternatives)) <= WAYS_AT_MOST:
        combinations = list(itertools.product(*alternatives))
    return [Way(chosen, _is_written(chosen, written)) for chosen in combinations]


def _is_written(chosen: tuple[GradientRule, ...], written: tuple[GradientRule, ...]) -> bool:
    return all(g is w or g.formula.is_derived for g, w in zip(chosen, written, strict=True))


def planned(ways: Sequence[Way], said: frozenset[str] | None, prices: Prices, base: str) -> Plan:
    """The way to take; see Note [Whose choice it is].

    `said` is what the entry says is kept, None when it says nothing. Where no way can do with that, the nearest is
    taken, and build.py reports the error.
    """
    if len(ways) == 1:
        return Plan(ways[0], "")
    reasons = Reasons(prices, base, tuple(ways))
    best = min(ways, key=prices.of)  # of equal ones that which comes first
    if said is not None:
        chosen = min(ways, key=lambda way: (len(way.kept - said), prices.of(way)))
        return Plan(chosen, reasons.declared(chosen, best))
    chosen = _free_choice(ways, prices)
    if prices.of(chosen) - prices.of(best) >= CLEARLY:
        return Plan(chosen, reasons.written(chosen, best), reasons.note(chosen, best))
    return Plan(chosen, reasons.chosen(chosen))


def _free_choice(ways: Sequence[Way], prices: Prices) -> Way:
    """The formulas as they are written, or a clearly cheaper way that keeps nothing else."""
    written = min((way for way in ways if way.is_written), key=prices.of)
    cheapest = min((way for way in ways if way.kept <= written.kept), key=prices.of)
    return cheapest if prices.of(written) - prices.of(cheapest) >= CLEARLY else written
