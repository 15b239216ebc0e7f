"""The names of other libraries, as lists of their public functions that stand in `docs/names`."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from page_parts import ROOT

from codegen.spec.names import name_within, namespace_of

NAMES = ROOT / "docs" / "names"
LIBRARIES = {"PyTorch": "torch", "NumPy": "numpy"}


@functools.cache
def names_of(module: str) -> tuple[str, ...]:
    """Without the name of the module."""
    lines = (NAMES / f"{module}.txt").read_text(encoding="utf-8").splitlines()
    return tuple(line for line in lines if not line.startswith("#"))


def counterparts(base: str, aliases: Sequence[str]) -> dict[str, list[str]]:
    """Each library's name for an op that has these names here."""
    own = [candidate for name in (base, *aliases) for candidate in candidates(name)]
    found = {
        library: [f"{module}.{name}" for name in dict.fromkeys(own) if name in set(names_of(module))]
        for library, module in LIBRARIES.items()
    }
    return {library: names for library, names in found.items() if names}


def candidates(name: str) -> Iterable[str]:
    """A function, or a method or property of a tensor."""
    space = namespace_of(name)
    return (f"{space}.{name_within(name)}",) if space else (name, f"Tensor.{name}")
