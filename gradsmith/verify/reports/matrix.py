"""The support matrix, docs/reference/support.md: the proofs that passed. Written only when none failed."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from .figures import explanations_of, figures_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradsmith.generated.op_table import OpRow

    from ..proof import Proof

COLUMNS = ("value", "reverse", "forward", "double", "complex", "in-place", "out", "copy")
PROVEN, ABSENT, NOT_RUN = "✓", "", "not run"

HEAD = """<!-- Made by `make verify`. Do not edit. -->

# What is supported

The proofs of `make verify` that passed, entry by entry; [verify.md](../guide/verify.md) explains each column. A field
is empty where an op does not have that form or property.

"""


def page_of(rows: Sequence[OpRow], proofs: Sequence[Proof]) -> str:
    families = groupby(zip(rows, proofs), lambda pair: pair[0].family)
    sections = [section_of(family, [proof for _, proof in pairs]) for family, pairs in families]
    return "\n".join([f"{HEAD}{figures_of(proofs)}", *sections, explanations_of(proofs)])


def section_of(family: str, proofs: Sequence[Proof]) -> str:
    lines = [f"## {family}", "", f"| op | {' | '.join(COLUMNS)} |", f"| --- |{' --- |' * len(COLUMNS)}"]
    lines += [f"| `{proof.key}` | {' | '.join(cell_of(proof, column) for column in COLUMNS)} |" for proof in proofs]
    return "\n".join(lines) + "\n"


def cell_of(proof: Proof, prop: str) -> str:
    if prop in proof.not_run:
        return NOT_RUN
    return PROVEN if proof.counts[prop] else ABSENT
