"""What is to be said of a name that a program uses: it is here, missing, or does something else."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from gradsmith.names.missing import did_you_mean, reason_for
from gradsmith.names.otherwise import otherwise
from gradsmith.runtime.arrays.device import ACCELERATORS

FINE, MISSING, OTHERWISE, PERHAPS = "fine", "missing", "otherwise", "perhaps"

# Library -> the module of gradsmith that takes its place.
PLACES = {"torch": "gradsmith", "numpy": "gradsmith", "autograd": "gradsmith.compat.hips"}


@dataclass(frozen=True)
class Verdict:
    kind: str
    text: str = ""


def verdict_on(name: str) -> Verdict:
    """The verdict on ``torch.nn.Linear``, on an attribute of an unknown object, ``.cuda``, or on a text, ``"cuda"``."""
    if name.startswith('"'):
        return _of_text(name.strip('"'))
    if name.startswith("."):
        return _of_attribute(name.removeprefix("."))
    return _of_name(name)


def _of_text(text: str) -> Verdict:
    if text.partition(":")[0] not in ACCELERATORS:
        return Verdict(FINE)
    return Verdict(OTHERWISE, 'There is no such device. Choose: "cuda" if torch.cuda.is_available() else "cpu".')


def _of_attribute(attribute: str) -> Verdict:
    """An attribute of an unknown object, which would be missing or different if the object were a tensor."""
    reason = reason_for("torch", f"Tensor.{attribute}")
    if reason:
        return Verdict(PERHAPS, f"If this is a tensor: {reason}")
    different = otherwise(f"torch.Tensor.{attribute}") if attribute in ("cuda", "xpu") else ""
    return Verdict(OTHERWISE, f"If this is a tensor: {different}") if different else Verdict(FINE)


def _of_name(name: str) -> Verdict:
    library, *parts = name.split(".")
    found, place = _module(PLACES[library]), library
    if found is None:
        return Verdict(MISSING, f"There is no counterpart of {library}.")
    for part in parts:
        if not isinstance(found, (ModuleType, type)):
            return _different(name)  # an attribute of a value: nobody knows of what
        value = _attribute(found, part)
        if value is _ABSENT:
            return Verdict(MISSING, _why_missing(place, part, found))
        found, place = value, f"{place}.{part}"
    return _different(name)


def _different(name: str) -> Verdict:
    different = otherwise(name)
    return Verdict(OTHERWISE, different) if different else Verdict(FINE)


_ABSENT = object()


def _attribute(found: Any, part: str) -> Any:
    value = getattr(found, part, _ABSENT)
    if value is _ABSENT and isinstance(found, ModuleType):
        return _module(f"{found.__name__}.{part}") or _ABSENT
    return value


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


def _why_missing(place: str, part: str, found: Any) -> str:
    reason = reason_for(place, part)
    if not reason and place.count(".") == 1:  # of a class, torch.Tensor.foo
        module, _, cls = place.rpartition(".")
        reason = reason_for(module, f"{cls}.{part}")
    hint = did_you_mean(part, dir(found))
    return reason or f"{place}.{part} is not here{hint or '.'}"
