"""The proofs of a whole table in numbers: mutants, and the smallest errors that would have been found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..proof import Proof

MODES = {
    "reverse": "gradients",
    "complex": "gradients of complex inputs",
    "forward": "tangents",
    "double": "second derivatives",
}
FINE = 1e-9


def figures_of(proofs: Sequence[Proof]) -> str:
    """Markdown."""
    made, killed, algebra, explained = (
        sum(getattr(proof.mutants, name) for proof in proofs) for name in ("made", "killed", "by_algebra", "explained")
    )
    survivors = sum(len(proof.mutants.survivors) for proof in proofs)
    lines = [
        f"{made} mutants of formulas were made. {killed} were noticed; {algebra} are equal to their formulas by",
        f"algebra, and {explained} in all calls for a reason that is named [below](#mutants-that-give-the-same);",
        f"{survivors} survived.",
        "",
        f"| compared | entries | an error of this relative size is found in all | entries that find {FINE:.0e} |",
        "| --- | --- | --- | --- |",
    ]
    return "\n".join([*lines, *(line_of(mode, words, proofs) for mode, words in MODES.items())]) + "\n"


def explanations_of(proofs: Sequence[Proof]) -> str:
    """Markdown: what every mutant that only the calls show to be equal has in common with its formula."""
    lines = ["## Mutants that give the same", ""]
    for proof in proofs:
        reasons = dict.fromkeys(equal.because for equal in proof.mutants.equal if equal.because)
        lines += [f"- `{proof.key}`: {reason}" for reason in reasons]
    return "\n".join(lines) + "\n"


def line_of(mode: str, words: str, proofs: Sequence[Proof]) -> str:
    found = [proof.resolution[mode] for proof in proofs if mode in proof.resolution]
    fine = sum(rounded_up(size) <= FINE for size in found)
    return f"| {words} | {len(found)} | {rounded_up(max(found, default=1.0)):.0e} | {fine} |"


def rounded_up(size: float) -> float:
    """To a power of ten: the digits differ between machines."""
    return 10.0 ** math.ceil(math.log10(size) - 0.01)
