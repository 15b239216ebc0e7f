"""Entries shared out over processes; proofs come back in the order of the table."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import gradsmith as gs
from gradsmith.codegen.extension import library_table
from gradsmith.codegen.table_files import OWN_TABLE, generated_table
from gradsmith.compiling.changes import digest_of
from gradsmith.generated.op_table import OPS

from .kept import Kept, proofs_folder
from .proof import Proof
from .proving import prove
from .reports.places import Places
from .trees.models import Models, models_of

if TYPE_CHECKING:
    from gradsmith.generated.op_table import OpRow

PROCESSES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
FEW = 2  # entries for which no processes are started


@dataclass(frozen=True)
class Source:
    """The source of the ops: gradsmith's own table, or the external table in the file `table`."""

    table: str = ""
    functions: str | None = None

    @property
    def name(self) -> str:
        return self.table or "derivatives.yaml"

    @property
    def places(self) -> Places:
        return Places(self.name, Path(self.table) if self.table else OWN_TABLE)

    @property
    def module(self) -> ModuleType:
        """In-place forms are methods, so those are asked for."""
        return gs.load_ops(self.table, functions=self.functions, methods=True) if self.table else gs

    @cached_property
    def models(self) -> Models | None:
        """The formulas of an external table; gradsmith's own are always at hand."""
        if not self.table:
            return None
        return models_of(self.module, Path(self.table), Path(self.functions) if self.functions else None)

    @property
    def kept(self) -> Kept:
        """Results of earlier runs."""
        if self.models is None:
            return Kept(library_table(), tuple(self.rows))
        functions = Path(self.functions).read_text(encoding="utf-8") if self.functions else ""
        folder = proofs_folder() / digest_of(str(Path(self.table).resolve()))
        return Kept(
            self.models.table, tuple(self.rows), functions + generated_table().read_text(encoding="utf-8"), folder
        )

    @property
    def rows(self) -> Sequence[OpRow]:
        return self.module.op_table.OPS if self.table else OPS


def prove_rows(
    source: Source, numbers: Sequence[int], processes: int = PROCESSES, *, again: bool = False
) -> Iterator[Proof]:
    """Proofs of the rows with these numbers; what is kept from earlier is not proven again, unless that is wanted."""
    kept = source.kept
    known = {} if again else {n: proof for n in numbers if (proof := kept.expect(source.rows[n])) is not None}
    made = proofs_of(source, [number for number in numbers if number not in known], processes)
    for number in numbers:
        if number in known:
            yield known[number]
            continue
        proof = next(made)
        kept.keep(source.rows[number], proof)
        yield proof


def proofs_of(source: Source, numbers: Sequence[int], processes: int) -> Iterator[Proof]:
    """Entries are shared out over processes."""
    one = partial(prove_row, source)
    if processes == 1 or len(numbers) <= FEW:
        yield from map(one, numbers)
        return
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer=start) as pool:
        yield from pool.map(one, numbers)  # one by one: of two neighbours that take minutes, each is another process's


def prove_row(source: Source, number: int) -> Proof:
    return prove(source.rows[number], source.module, source.models)


def start() -> None:
    """The processes are the threads: what each of them computes is small."""
    gs.set_num_threads(1)
