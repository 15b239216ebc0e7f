"""Printed output: a line for each entry, the failures, a summary; and a progress bar on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .places import Places

if TYPE_CHECKING:
    from ..proof import Failure, Proof

SHOWN = 3  # failures of an entry
BAR = 30  # characters


def reported(proofs: Iterable[Proof], count: int, places: Places, width: int) -> Iterator[Proof]:
    """Pass the proofs on, and print what they say as they come."""
    bar = Bar(count)
    for number, proof in enumerate(proofs, 1):
        bar.clear()
        print(line_of(proof, width))
        for line in problems_of(proof, places):
            print(line)
        bar.draw(number, proof.key)
        yield proof
    bar.clear()


def line_of(proof: Proof, width: int) -> str:
    """``tanh   1003  value reverse double complex in-place out shapes layouts float32 saved  0.03 s``."""
    start = f"{proof.key:{width}}  {sum(proof.counts.values()):5}  {' '.join(proof.tried)}"
    for prop, reason in proof.not_run.items():
        start += f"  [{prop} not run: {reason}]"
    if proof.is_kept:
        return f"{start}  kept"
    verdict = "" if proof.is_proven else "  UNPROVEN" if proof.holds else "  WRONG"
    return f"{start}  {proof.seconds:.2f} s{verdict}"


def problems_of(proof: Proof, places: Places) -> list[str]:
    failures = first_of_each_subject(proof.failures)
    lines = []
    for failure in failures[:SHOWN]:
        lines.append(f"{places[proof.key]}: {proof.key}: {failure.subject} {failure.problem}")
        if failure.setting:
            lines.append(f"    {failure.setting}")
    more = len(proof.failures) - len(failures[:SHOWN])
    lines += [f"    and {more} more"] if more else []
    return lines + [f"{places[proof.key]}: {proof.key}: {text}" for text in missing_in(proof)]


def missing_in(proof: Proof) -> list[str]:
    """The gaps, and the first of the mutants that survive: what notices one mostly notices others."""
    survivors = [f"not proven: {survivor}" for survivor in proof.mutants.survivors]
    more = len(survivors) - SHOWN
    last = [f"not proven: {more} more mutants were not noticed"] if more > 0 else []
    return [*(f"not proven: {gap}" for gap in proof.gaps), *survivors[:SHOWN], *last]


def first_of_each_subject(failures: list[Failure]) -> list[Failure]:
    first: dict[str, Failure] = {}
    for failure in failures:
        first.setdefault(failure.subject, failure)
    return list(first.values())


def summary_of(proofs: list[Proof], seconds: float) -> str:
    comparisons = sum(sum(proof.counts.values()) for proof in proofs)
    wrong = [proof.key for proof in proofs if not proof.holds]
    unproven = [proof.key for proof in proofs if proof.holds and not proof.is_proven]
    verdicts = [
        f"{len(keys)} of {len(proofs)} entries are {word}: {', '.join(keys)}"
        for word, keys in (("wrong", wrong), ("unproven", unproven))
        if keys
    ]
    text = "; ".join(verdicts) or f"{len(proofs)} {'entries' if len(proofs) != 1 else 'entry'} proven"
    text += f"; {comparisons} comparisons, {mutants_in(proofs)}{seconds:.1f} s"
    unread = [proof.key for proof in proofs if proof.not_run]
    return text + (f"\nnot everything was run for: {', '.join(unread)}" if unread else "")


def mutants_in(proofs: list[Proof]) -> str:
    names = ("made", "killed", "by_algebra", "explained")
    made, killed, algebra, explained = (sum(getattr(proof.mutants, name) for proof in proofs) for name in names)
    known = f"{killed} noticed, {algebra} equal by algebra, {explained} in all calls"
    return f"{made} mutants of formulas ({known}), " if made else ""


class Bar:
    """Report progress on a terminal; silent elsewhere."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.stream = sys.stderr
        self.is_shown = self.stream.isatty() and sys.stdout.isatty() and count > 1

    def draw(self, number: int, name: str) -> None:
        if self.is_shown:
            filled = BAR * number // self.count
            self.stream.write(f"\r[{'#' * filled}{'.' * (BAR - filled)}] {number}/{self.count} {name}")
            self.stream.flush()

    def clear(self) -> None:
        if self.is_shown:
            self.stream.write("\r\033[K")
            self.stream.flush()
