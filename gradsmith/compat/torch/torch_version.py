"""`TorchVersion`: a version as text that is greater or less as versions are, ``"1.10.0" > (1, 9)``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from gradsmith.version import TORCH_VERSION

__all__ = ["TorchVersion"]

# Python's versions (PEP 440), without epochs: release, preview, post-release, development release, local label.
_VERSION = re.compile(
    r"\s*v?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<stage>alpha|beta|preview|pre|rc|a|b|c)[-_.]?(?P<pre>\d*))?"
    r"(?:-(?P<dash>\d+)|[-_.]?(?P<post>post|rev|r)[-_.]?(?P<after>\d*))?"
    r"(?:[-_.]?(?P<dev>dev)[-_.]?(?P<before>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*",
    re.IGNORECASE,
)
_STAGES = {"a": 0, "b": 1, "c": 2, "r": 2, "p": 2}  # by their first letters

# What stands before and behind all numbers in an order.
_LOWEST, _HIGHEST = (-1,), (3,)


class TorchVersion(str):
    """A version that compares with texts, sequences of numbers, and ``packaging.version.Version``.

    Examples
    --------
    >>> version = TorchVersion("2.13.0")
    >>> version > "2.9", version >= (2, 13), version == "2.13", version < "2.13.1.dev2"
    (True, True, True, True)
    """

    __slots__ = ()

    def __lt__(self, other: Any) -> bool:
        return _compared(self, other, "__lt__")

    def __le__(self, other: Any) -> bool:
        return _compared(self, other, "__le__")

    def __gt__(self, other: Any) -> bool:
        return _compared(self, other, "__gt__")

    def __ge__(self, other: Any) -> bool:
        return _compared(self, other, "__ge__")

    def __eq__(self, other: object) -> bool:
        return _compared(self, other, "__eq__")

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def _compared(version: TorchVersion, other: Any, method: str) -> bool:
    """As versions; as texts when one of them is none."""
    text = other if isinstance(other, str) or not isinstance(other, Iterable) else ".".join(map(str, other))
    own, its = _key(version), _key(str(text))
    if own is None or its is None:
        return bool(getattr(str, method)(version, other))
    return bool(getattr(own, method)(its))


def _key(text: str) -> tuple[Any, ...] | None:
    """What has the order of versions, or None for a text that is none."""
    found = _VERSION.fullmatch(text)
    if found is None:
        return None
    numbers = [int(number) for number in found["release"].split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()  # 2.0 is 2
    return tuple(numbers), _preview(found), _post_release(found), _development(found), _local(found)


def _preview(found: re.Match[str]) -> tuple[int, ...]:
    if found["stage"]:
        return _STAGES[found["stage"][0].lower()], int(found["pre"] or 0)
    # 1.0.dev1 comes before 1.0a1, which comes before 1.0.
    return _LOWEST if found["dev"] and not _is_post_release(found) else _HIGHEST


def _is_post_release(found: re.Match[str]) -> bool:
    return bool(found["dash"] or found["post"])


def _post_release(found: re.Match[str]) -> int:
    return int(found["dash"] or found["after"] or 0) if _is_post_release(found) else -1


def _development(found: re.Match[str]) -> float:
    return int(found["before"] or 0) if found["dev"] else float("inf")


def _local(found: re.Match[str]) -> tuple[tuple[int, int, str], ...]:
    """The parts of a label: numbers come after words, and any label after none."""
    parts = re.split("[-_.]", found["local"].lower()) if found["local"] else []
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts)


__version__ = TorchVersion(TORCH_VERSION)
