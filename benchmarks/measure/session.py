"""A run: rows one after the other, each checked and then timed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from ..cases import Case, Probe, Program, Row
from ..contestants import is_here, set_threads
from ..report.results import Result
from . import agreement
from .idle import Patience
from .timing import CLOCKS, interleave

Found = TypeVar("Found")


@dataclass(frozen=True)
class Settings:
    """How rows are measured."""

    threads: int = 1
    contestants: tuple[str, ...] = ()  # none: all
    rounds: int = 0  # 0: as many as the row says
    target: float = 0.01  # seconds of a sample
    patience: float = 10.0  # seconds that a row waits for idle cores
    small: bool = False
    clock: str = "wall"  # a name in CLOCKS

    def takes_part(self, name: str) -> bool:
        return not self.contestants or name in self.contestants


def measured(rows: Iterable[tuple[str, Row]], settings: Settings) -> Iterator[Result]:
    """The results of (family, row) in turn. A row that fails says so, and the others go on."""
    set_threads(settings.threads)
    for family, row in rows:
        result = empty(family, row, settings)
        try:
            if isinstance(row, Case):
                time_case(row, result, settings)
            else:
                ask_probe(row, result, settings)
        except agreement.Disagreement as error:
            result.failure = str(error)
        except Exception as error:
            result.failure = f"{family}: {row.name}: {type(error).__name__}: {error}"
        yield result


def empty(family: str, row: Row, settings: Settings) -> Result:
    unit = row.unit if isinstance(row, Probe) else "s"
    return Result(
        family, row.name, settings.threads, unit, row.must, row.aim, row.series, row.size, row.objective
    )  # fmt: skip


def selected(names: Iterable[str], result: Result, settings: Settings) -> list[str]:
    """The contestants that take part; the row remembers those that are not installed."""
    wanted = [name for name in names if settings.takes_part(name)]
    result.missing = [name for name in wanted if not is_here(name)]
    return [name for name in wanted if is_here(name)]


def time_case(case: Case, result: Result, settings: Settings) -> None:
    builders = case.builders(settings.small)
    names = selected(builders, result, settings)
    programs = {name: attempt(name, builders[name]) for name in names}
    result.judge = agreed(f"{result.family}: {case.name}", case, programs)
    patience = Patience(settings.threads, settings.patience)
    rounds = settings.rounds or case.rounds
    runs = {name: program.run for name, program in programs.items()}
    samples = interleave(runs, rounds, settings.target, patience.wait, CLOCKS[settings.clock])
    result.samples = {name: [seconds / case.per for seconds in found] for name, found in samples.items()}
    result.load = patience.load


def agreed(workload: str, case: Case, programs: dict[str, Program]) -> str:
    """Run all programs that say what they compute, and compare; the name of the judge."""
    found = {name: attempt(name, program.results or program.run) for name, program in programs.items()}
    found = {name: results for name, results in found.items() if programs[name].results}
    return agreement.check(workload, found, case.tolerance)


class ContestantError(Exception):
    """A contestant cannot run its program; the message names it."""


def attempt(name: str, call: Callable[[], Found]) -> Found:
    try:
        return call()
    except Exception as error:
        raise ContestantError(f"{name}: {type(error).__name__}: {error}") from error


def ask_probe(probe: Probe, result: Result, settings: Settings) -> None:
    probes = probe.probes(settings.small)
    names = selected(probes, result, settings)
    patience = Patience(settings.threads, settings.patience)
    result.samples = {name: [] for name in names}
    for _ in range(settings.rounds or probe.rounds):
        patience.wait()
        for name in names:
            result.samples[name].append(attempt(name, probes[name]) / probe.per)
    result.load = patience.load
