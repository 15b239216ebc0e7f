"""Whole numbers as places in a container."""

from __future__ import annotations

import operator
from typing import Any


def place_of(index: Any, length: int) -> int:
    """The place that an index means, which may count from the end.

    Raises
    ------
    IndexError
        There is no such place.
    """
    place = operator.index(index)
    if not -length <= place < length:
        raise IndexError(f"index {place} is out of range")
    return place % length


def insertion_place(index: int, length: int) -> int:
    """The place before which something is inserted; the length of the container is its end."""
    if not -length <= index <= length:
        raise IndexError(f"Index out of range: {index}")
    return index + length if index < 0 else index


def numbered(values: Any) -> dict[str, Any]:
    """Values by their places, which is what a container calls what it holds."""
    return {str(place): value for place, value in enumerate(values)}
