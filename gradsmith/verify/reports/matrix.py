"""The support matrix, docs/reference/support.md: the proofs that passed. Written only when none failed."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from ..samples import key_of
from .figures import explanations_of, figures_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gradsmith.generated.op_table import OpRow

    from ..proof import Proof

COLUMNS = ("value", "reverse", "forward", "double", "complex", "in-place", "out", "copy", "batching")
PROVEN, ABSENT, NOT_RUN = "✓", "", "not run"

HEAD = """<!-- Made by `make verify`. Do not edit. -->

# What is supported

The proofs of `make verify` that passed, entry by entry; [verify.md](../guide/verify.md) explains each column. A field
is empty where an op does not have that form or property. Under `batching` is how `vmap` was found to call the op: by a
`rule`, by the `parts` it consists of, in a `loop` over the slices; or not, since the result depends on `values`.

"""


def page_of(rows: Sequence[OpRow], proofs: Sequence[Proof]) -> str:
    families = groupby(zip(rows, proofs), lambda pair: pair[0].family)
    sections = [section_of(family, *zip(*pairs)) for family, pairs in families]
    return "\n".join([f"{HEAD}{figures_of(proofs)}", *sections, *loops_of(rows), explanations_of(proofs)])


def section_of(family: str, rows: Sequence[OpRow], proofs: Sequence[Proof]) -> str:
    lines = [f"## {family}", "", f"| op | {' | '.join(COLUMNS)} |", f"| --- |{' --- |' * len(COLUMNS)}"]
    lines += [
        f"| `{proof.key}` | {' | '.join(cell_of(row, proof, column) for column in COLUMNS)} |"
        for row, proof in zip(rows, proofs)
    ]
    return "\n".join(lines) + "\n"


def loops_of(rows: Sequence[OpRow]) -> Iterator[str]:
    """The ops that `vmap` calls once for each slice, and why."""
    found = [f"- `{key_of(row)}`: {row.batching.partition(': ')[2]}" for row in rows if row.batching.startswith("loop")]
    if found:
        yield "\n".join(["## Called once for each slice", "", *found]) + "\n"


def cell_of(row: OpRow, proof: Proof, prop: str) -> str:
    if prop in proof.not_run:
        return NOT_RUN
    if prop == "batching" and proof.counts[prop]:
        return row.batching.partition(":")[0]
    return PROVEN if proof.counts[prop] else ABSENT
