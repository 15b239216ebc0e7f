"""Programs in a child process, so that a crash or a hang of either library is a finding and not the end."""

from __future__ import annotations

import multiprocessing
import os
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .explained import explanation_of
from .play import Result, play, pytorch, replay
from .program import Program, Step

SPAWN = multiprocessing.get_context("spawn")
PROGRAMS_PER_CHILD = 1000


@dataclass
class Report:
    """A child's report on a program."""

    program: Program
    kinds: list[Any] = field(default_factory=list)  # of the differences that nothing explains, or "crash", "hang"
    texts: list[str] = field(default_factory=list)
    explained: list[str] = field(default_factory=list)


class Child:
    """Runs programs one by one; started anew when it has died, and now and then."""

    def __init__(self, timeout: float = 60) -> None:
        self.timeout, self.process, self.done = timeout, None, 0

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *reason: Any) -> None:
        self.stop()

    def run(self, task: int | Program) -> Report:
        """Draw and run the program of a seed, or run a given one."""
        if self.process is None or self.done >= PROGRAMS_PER_CHILD:
            self.stop()
            self._start()
        self.done += 1
        self.pipe.send(task)
        return self._answer(task)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None

    def _start(self) -> None:
        self.pipe, end = SPAWN.Pipe()
        self.process = SPAWN.Process(target=serve, args=(end,), daemon=True)
        self.process.start()
        end.close()
        self.done = 0

    def _answer(self, task: int | Program) -> Report:
        steps: list[Step] = []
        while True:
            try:
                what = self.pipe.recv() if self.pipe.poll(self.timeout) else "hang"
            except EOFError:
                what = "crash"
            if isinstance(what, Report):
                return what
            if isinstance(what, Step):
                steps.append(what)
                continue
            if what in ("crash", "hang"):
                self.stop()
            program = task if isinstance(task, Program) else Program(task, tuple(steps))
            kind = what.strip().splitlines()[-1]
            return Report(program, [kind], [f"{what} at `{steps[-1].source()}`" if steps else what])


def serve(pipe: Any) -> None:
    """The child: take a task, tell each step, answer with a report."""
    torch = pytorch()
    silence_libraries()
    while True:
        task = pipe.recv()
        run = replay if isinstance(task, Program) else play
        try:
            pipe.send(report_of(run(task, torch, tell=pipe.send)))
        except Exception:  # of looking at the values, which no library should refuse
            pipe.send(traceback.format_exc(limit=-4))


def silence_libraries() -> None:
    """Text that the libraries write to the terminal is no finding."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def report_of(result: Result) -> Report:
    report = Report(result.program)
    for difference in result.differences:
        explanation = explanation_of(difference)
        if explanation:
            report.explained.append(explanation.name)
        else:
            report.kinds.append(difference.kind())
            report.texts.append(str(difference))
    return report


def run_seeds(seeds: Iterator[int], timeout: float) -> Iterator[Report]:
    """Reports of the programs of these seeds; several threads may share the seeds."""
    with Child(timeout) as child:
        for seed in seeds:
            yield child.run(seed)
