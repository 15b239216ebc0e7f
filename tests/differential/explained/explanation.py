"""A deliberate difference: how it is recognized, why it is so, and where the documentation says it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..compare import Difference


class Explanation(NamedTuple):
    name: str
    reason: str
    documented: tuple[str, str]  # a page of docs/internals/decisions, and what it says there
    applies: Callable[[Difference], bool]
