"""What a drawing shows, as texts alone: a drawing keeps no tensor alive."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a box stands for, which decides how it looks."""

    OUTPUT = "output"
    OP = "op"
    LEAF = "leaf"
    REST = "rest"  # all nodes that a cut drawing leaves out


@dataclass(frozen=True)
class Box:
    """A box and the lines written in it, the most important first."""

    kind: Kind
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Arrow:
    """The way of a gradient, from one box to another, both by their numbers."""

    start: int
    end: int
    label: str = ""


@dataclass(frozen=True)
class Picture:
    """Boxes by number, the arrows between them, and what the reader must be told about both."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    note: str = ""
