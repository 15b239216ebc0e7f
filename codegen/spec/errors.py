"""Errors in the op table: one exception per error, and the collector that reports all of a run together."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

MOST_LISTED = 40  # beyond, a hint names the nearest candidate alone, if there is one


@dataclass(frozen=True)
class Position:
    """A place in a text file; both numbers count from 1, as editors do."""

    line: int
    column: int


@dataclass(frozen=True)
class SpecError(Exception):
    """One error in the op table.

    Printed as ``derivatives.yaml:212:14: mul: <problem>. <hint>``.
    """

    file: str
    position: Position
    op: str  # "" when the error belongs to no single op
    problem: str
    hint: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.position.line}:{self.position.column}: "
        subject = f"{self.op}: " if self.op else ""
        return f"{where}{subject}{sentence(self.problem)}{self.hint and ' ' + self.hint}"


class SpecErrors(Exception):
    """All errors of one run, in file order."""

    def __init__(self, errors: Iterable[SpecError]) -> None:
        self.errors = tuple(sorted(errors, key=_file_order))
        super().__init__(self.errors)

    def __str__(self) -> str:
        return "\n".join(str(error) for error in self.errors)

    def summary(self, file: str) -> str:
        """The last line that a failed run prints."""
        count = len(self.errors)
        errors = "1 error" if count == 1 else f"{count} errors"
        return f"{errors} in {file}; nothing was written."


class Problem(Exception):
    """An error without its file yet, as raised by a parser of one text.

    ``offset`` counts characters from the beginning of that text; callers that know where the text
    is in the file turns it into a `SpecError`.
    """

    def __init__(self, problem: str, offset: int = 0, hint: str = "") -> None:
        self.problem = problem
        self.offset = offset
        self.hint = hint
        super().__init__(problem)


class Consequence(Problem):
    """A problem that would not exist without another one, which has been reported."""


class Collector:
    """Gathers the errors of a run, so that the author sees all of them at once."""

    def __init__(self, file: str) -> None:
        self.file = file
        # A dict as ordered set: the variants of one entry often repeat the same error.
        self._errors: dict[SpecError, None] = {}

    def add(self, position: Position, op: str, problem: str, hint: str = "") -> None:
        self._errors[SpecError(self.file, position, op, problem, hint)] = None

    def raise_if_any(self) -> None:
        if self._errors:
            raise SpecErrors(self._errors)

    def __bool__(self) -> bool:
        return bool(self._errors)


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """The nearest candidate as a question, or "" when none is near."""
    nearest = difflib.get_close_matches(word, sorted(set(candidates)), n=1, cutoff=0.6)
    return f"Did you mean '{nearest[0]}'?" if nearest else ""


def hint_from(title: str, word: str, candidates: Iterable[str]) -> str:
    """List what would have been right, and the nearest of it: ``In scope: a, b. Did you mean 'a'?``

    A long list is left out when one of the candidates is close to the word.
    """
    names = sorted(set(candidates))
    nearest = did_you_mean(word, names)
    if nearest and len(names) > MOST_LISTED:
        return nearest
    listing = f"{title}: {', '.join(names) or 'none'}."
    return f"{listing} {nearest}".rstrip()


def sentence(text: str) -> str:
    # A type such as int[]? may end a text, a question ends with a quoted word.
    return text if text.endswith((".", "'?")) else text + "."


def _file_order(error: SpecError) -> tuple[int, int, str]:
    return (error.position.line, error.position.column, error.problem)
