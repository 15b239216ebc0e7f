"""The processes that run Cython during one build: started when they are needed, ended with the build."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO

from .toolchain import BuildError, finish

PROGRAM = Path(__file__).with_name("cython_worker.py")


class CythonWorkers:
    """As many processes as there are threads that run Cython at once."""

    def __init__(self) -> None:
        self._all: list[Worker] = []
        # A thread takes one out and puts it back: each is one step of the interpreter, so there is no lock.
        self._idle: list[Worker] = []

    def run(self, command: Iterable[str]) -> None:
        """Run one ``cython`` command as `toolchain.run` would; the words come without its name."""
        words = list(command)
        worker = self._take()
        status, printed = worker.ask(words)
        self._idle.append(worker)
        finish(["cython", *words], status, printed)

    def _take(self) -> Worker:
        try:
            return self._idle.pop()
        except IndexError:
            worker = Worker()
            self._all.append(worker)
            return worker

    def __enter__(self) -> CythonWorkers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for worker in self._all:
            worker.end()


class Worker:
    """The build's side of one process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(PROGRAM)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip

    def ask(self, words: list[str]) -> tuple[int, str]:
        """The exit status of one command and what it printed."""
        try:
            print(json.dumps(words), file=self._process.stdin, flush=True)
            answer = self._output.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise BuildError(f"cython {' '.join(words)}\nThe process ended with status {self._process.wait()}.")
        status, printed = json.loads(answer)
        return status, printed

    @property
    def _output(self) -> IO[str]:
        assert self._process.stdout is not None
        return self._process.stdout

    def end(self) -> None:
        """Close its input, which it ends with, and wait for it."""
        with self._process:
            pass
