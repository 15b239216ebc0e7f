"""``python -m benchmarks compare BASE``: all chosen rows, the slower ones twice, and a table."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..cases import Array, Case
from ..measure import agreement
from ..measure.fresh import ROOT
from ..measure.idle import Patience
from ..measure.timing import readable
from ..workloads import chosen
from .client import Client, CommitError
from .statistics import Launch, Verdict, verdict
from .trees import built_trees

ROUNDS = 30
NAMES = ("base", "head")


@dataclass
class Comparison:
    """A row with a number of threads, as it was measured."""

    family: str
    case: Case
    threads: int
    launches: list[Launch] = field(default_factory=list)
    failure: str = ""

    @property
    def title(self) -> str:
        return f"{self.case.name}, {self.threads} threads" if self.threads > 1 else self.case.name


@dataclass(frozen=True)
class Session:
    """Two trees, the suite that both run, and how."""

    suite: Path
    trees: Sequence[Path]
    options: argparse.Namespace

    def launch(self, rows: Sequence[Comparison], threads: int) -> None:
        """Measure all rows of so many threads once, in a new pair of processes."""
        wanted = [row for row in rows if row.threads == threads and not row.failure]
        with ExitStack() as stack:
            clients = [
                stack.enter_context(closing(Client(name, self.suite, tree, threads)))
                for name, tree in zip(NAMES, self.trees)
            ]
            for row in wanted:
                try:
                    row.launches.append(self.pair_of_samples(row, clients))
                except (CommitError, agreement.Disagreement) as error:
                    row.failure = str(error)
                    if any(client.process.poll() is not None for client in clients):
                        break  # whoever ended cannot be asked again in this launch

    def pair_of_samples(self, row: Comparison, clients: Sequence[Client]) -> Launch:
        self.prepare(row, clients)
        patience = Patience(row.threads, self.options.patience)
        repeats = max(client.ask(calibrate=self.options.target) for client in clients)
        samples: tuple[list[float], list[float]] = ([], [])
        for number in range(self.options.rounds or ROUNDS):
            patience.wait()
            for side in (0, 1) if number % 2 else (1, 0):  # whoever comes second finds the memory as the first left it
                samples[side].append(clients[side].ask(sample=repeats) / row.case.per)
        return samples

    def prepare(self, row: Comparison, clients: Sequence[Client]) -> None:
        """Both must compute the same."""
        results: dict[str, Sequence[Array]] = {}
        for client in clients:
            path = self.suite / f"{client.name}.npz"
            count = client.ask(row=(row.family, row.case.name), small=self.options.small, results=str(path))
            with np.load(path) as file:
                results[client.name] = [file[f"arr_{number}"] for number in range(count)]
        agreement.check(f"{row.family}: {row.case.name}", results, row.case.tolerance)


def compare(options: argparse.Namespace) -> int:
    """1 when a row became slower, in a second measurement too, or cannot be compared; 2 when there is nothing to do."""
    rows = list(comparisons(options))
    if not rows:
        print("no row has all of these words", file=sys.stderr)
        return 2
    try:
        with built_trees((options.base, options.head)) as trees, tempfile.TemporaryDirectory() as folder:
            shutil.copytree(ROOT / "benchmarks", Path(folder) / "benchmarks")
            measure(rows, Session(Path(folder), trees, options))
    except subprocess.CalledProcessError as error:
        print(f"error: {' '.join(error.cmd)}: {error.stderr.strip()}", file=sys.stderr)
        return 2
    return finish(rows, options)


def comparisons(options: argparse.Namespace) -> Iterator[Comparison]:
    for family, row in chosen(options.words, options.sizes, options.on_request):
        if isinstance(row, Case):
            yield from (Comparison(family, row, threads) for threads in row.threads)


def measure(rows: Sequence[Comparison], session: Session) -> None:
    """All rows in every launch; then those that seem slower once more, where chance alone would not repeat itself."""
    for _ in range(session.options.launches):
        for threads in sorted({row.threads for row in rows}):
            session.launch(rows, threads)
    suspects = [row for row in rows if row.launches and found(row, session.options).regressed]
    for row in suspects:
        print(f"seems slower, measuring again: {row.title}", file=sys.stderr, flush=True)
        row.launches.clear()
    for _ in range(session.options.launches if suspects else 0):
        for threads in sorted({row.threads for row in suspects}):
            session.launch(suspects, threads)


def found(row: Comparison, options: argparse.Namespace) -> Verdict:
    return verdict(row.launches, options.threshold)


def finish(rows: Sequence[Comparison], options: argparse.Namespace) -> int:
    """Print the table and keep the samples; whether something became slower."""
    print("\n".join(table(rows, options)))
    options.output.mkdir(parents=True, exist_ok=True)
    samples = {f"{row.family}: {row.title}": row.launches for row in rows}
    (options.output / "compare.json").write_text(json.dumps(samples) + "\n", encoding="utf-8")
    failures = [row.failure for row in rows if row.failure]
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    slower = [row.title for row in rows if row.launches and found(row, options).regressed]
    if slower:
        print(f"slower than {options.base}: {'; '.join(slower)}", file=sys.stderr)
    return 1 if slower or failures else 0


def table(rows: Sequence[Comparison], options: argparse.Namespace) -> Iterator[str]:
    yield f"| row | {options.base} | {options.head} over {options.base} | noise | |"
    yield "| --- | ---: | ---: | ---: | --- |"
    for row in rows:
        if row.launches:
            seen = found(row, options)
            base = readable(float(np.median([sample for launch in row.launches for sample in launch[0]])))
            yield f"| {row.title} | {base} | {seen.ratio:.3f} | ± {seen.noise:.3f} | {seen.word} |"
        else:
            yield f"| {row.title} | | | | failed |"
