"""Entries shared out over processes; proofs come back in the order of the table."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

import gradsmith as gs
from gradsmith.generated.op_table import OPS

from .proof import Proof
from .prove import prove

PROCESSES = 2
AT_A_TIME = 4  # entries that a process fetches together


def prove_rows(numbers: Sequence[int], processes: int = PROCESSES) -> Iterator[Proof]:
    """Proofs of the rows with these numbers."""
    if processes == 1 or len(numbers) <= AT_A_TIME:
        yield from map(prove_row, numbers)
        return
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer=start) as pool:
        yield from pool.map(prove_row, numbers, chunksize=AT_A_TIME)


def prove_row(number: int) -> Proof:
    return prove(OPS[number])


def start() -> None:
    """The processes are the threads: what each of them computes is small."""
    gs.set_num_threads(1)
