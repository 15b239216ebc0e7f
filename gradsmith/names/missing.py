"""The error for a name that a module does not have: why, where PyTorch has it, or what may have been meant."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import NoReturn


def missing_attribute(module: str, name: str) -> AttributeError:
    """The error to raise in a module's ``__getattr__``.

    Parameters
    ----------
    module : str
        ``"gradsmith.nn"``.
    name : str
        The attribute that it has not.
    """
    problem = f"module {module!r} has no attribute {name!r}"
    if name.startswith("_"):
        return AttributeError(problem, name=name)
    reason = reason_for(f"torch{module.removeprefix('gradsmith').removeprefix('.compat.torch')}", name)
    if reason:
        return AttributeError(f"{problem}: {reason}", name=name)
    found = sys.modules.get(module)
    return AttributeError(problem + did_you_mean(name, dir(found) if found else ()), name=name)


def raise_missing(module: str) -> Callable[[str], NoReturn]:
    """The ``__getattr__`` of a module that has all its names from the beginning."""

    def __getattr__(name: str) -> NoReturn:
        raise missing_attribute(module, name)

    return __getattr__


def reason_for(module: str, name: str) -> str:
    """Why a name of PyTorch, ``("torch.nn", "Module.ipu")``, is not here; an empty text when nothing is known."""
    from gradsmith.names.table import MISSING

    parts = f"{module}.{name}".split(".")
    for split in range(len(parts) - 1, 0, -1):
        groups = MISSING.get(".".join(parts[:split]), {})
        if text := _reason_among(groups, ".".join(parts[split:])):
            return f"{module}.{name} has no counterpart in gradsmith. {text}"
    return ""


def _reason_among(groups: Mapping[str, str], name: str) -> str:
    """The reason for a name, or for a module that has names in the table."""
    for text, names in groups.items():
        if name in names.split() or f" {name}." in f" {names}":
            return text
    return ""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``". Did you mean 'transpose'?"``, or an empty text when no name is near."""
    if len(name) < 4:
        return ""
    from difflib import get_close_matches

    near = [other for other in known if abs(len(other) - len(name)) <= 2 and not other.startswith("_")]
    found = get_close_matches(name, near, n=1, cutoff=0.7)
    return f". Did you mean '{found[0]}'?" if found else ""
