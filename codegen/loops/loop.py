"""A formula lowered to one loop, and where the loop finds its operands."""

from __future__ import annotations

from dataclasses import dataclass

from .terms import Term

MAX_INPUTS = MAX_SCALARS = 8  # GS_FUSED_MAX_INPUTS, GS_FUSED_MAX_SCALARS


@dataclass(frozen=True)
class Loop:
    name: str  # tanh_backward_self
    formula: str  # the text of the table, for the comment
    term: Term
    inputs: tuple[str, ...]  # names in the table, in the order of args
    scalars: tuple[str, ...]
    input_places: tuple[str, ...]  # GS_GRAD | 0, GS_SAVED | 1; or the number of an argument
    scalar_places: tuple[int, ...]


@dataclass(frozen=True)
class Loops:
    """Those of one variant of an op."""

    forward: Loop | None = None
    backward: tuple[Loop | None, ...] = ()  # one per edge, None for a gradient that passes; empty when ops are needed
