"""What is timed: a module for each workload, in rooms by what it stands for.

Each module has `rows()`; its family is the room and the module's name, as ``kernels/elementwise``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Sequence

from ..cases import Row

ROOMS = ("kernels", "training", "science", "costs")


def families() -> Iterator[str]:
    for room in ROOMS:
        package = importlib.import_module(f"{__name__}.{room}")
        yield from (f"{room}/{module.name}" for module in pkgutil.iter_modules(package.__path__))


def rows_of(family: str) -> list[Row]:
    module = importlib.import_module(f"{__name__}.{family.replace('/', '.')}")
    return list(module.rows())


def all_rows() -> Iterator[tuple[str, Row]]:
    """(family, row) of every workload."""
    for family in families():
        for row in rows_of(family):
            yield family, row


def chosen(words: Sequence[str] = (), sizes: Sequence[int] = (), on_request: bool = False) -> Iterator[tuple[str, Row]]:
    """Rows whose family and name have all the words, and one of the sizes where they have any."""
    for family, row in all_rows():
        text = f"{family} {row.name}"
        unasked = getattr(row, "on_request", False) and not on_request
        if all(word in text for word in words) and not unasked and (not sizes or not row.size or row.size in sizes):
            yield family, row
