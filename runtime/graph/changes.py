"""Records of in-place changes to tensors that a graph keeps for backward.

While a saved slot holds a tensor (its flags count the slots), every in-place op notes itself, so that the error of a
backward that needs the old value can say what changed it and where. A tensor that nothing has saved pays one test.
The line is worked out when an error asks for it: what is kept is a code object and a position in it.
"""

from __future__ import annotations

import os
import sys
from types import CodeType
from typing import Any, NamedTuple

KEPT = 8  # changes per tensor: the latest
_PACKAGE = os.path.abspath(os.path.join(__file__, "../../..")) + os.sep
_RUNTIME = os.path.realpath(os.path.join(os.path.realpath(__file__), "../..")) + os.sep  # `runtime` may be a link


class Change(NamedTuple):
    """One in-place change, by which the tensor got to `version`."""

    version: int
    op: str
    code: CodeType | None
    position: int

    def __str__(self) -> str:
        if self.code is None:
            return self.op
        return f"{self.op} at {self.code.co_filename}:{_line_of(self.code, self.position)}, in {self.code.co_name}"


def note(changes: list[Change], op: str, version: int) -> None:
    """Add to `changes` that `op`, called by the code of the user that is running, is about to make `version`."""
    while changes and changes[-1].version >= version:  # an op that was refused after it had noted itself
        changes.pop()
    if len(changes) == KEPT:
        del changes[0]
    frame = _caller()
    if frame is None:
        changes.append(Change(version, op, None, 0))
    else:
        changes.append(Change(version, op, frame.f_code, frame.f_lasti))


def place_of_caller() -> str:
    """File, line and function of the user's code that is running."""
    frame = _caller()
    if frame is None:
        return "no Python code"
    return f"{frame.f_code.co_filename}:{frame.f_lineno}, in {frame.f_code.co_name}"


def describe(changes: list[Change] | None, saved_version: int) -> str:
    """A sentence about the changes made after `saved_version`, or nothing when none was noted."""
    since = [str(change) for change in changes or () if change.version > saved_version]
    return f"It was changed by {'; then by '.join(since)}. " if since else ""


def _caller() -> Any:
    frame = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith((_PACKAGE, _RUNTIME)):
        frame = frame.f_back  # type: ignore[assignment]
    return frame


def _line_of(code: CodeType, position: int) -> int | None:
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= position < end and number is not None:
            line = number
    return line
