"""The other end of a `server`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from ..measure.fresh import environment


class CommitError(Exception):
    """A commit cannot run a row; the message says which and why."""


class Client:
    """A long-lived process that runs the suite of `suite` with the gradsmith of `tree`."""

    def __init__(self, name: str, suite: Path, tree: Path, threads: int) -> None:
        self.name = name
        paths = [str(tree), os.environ.get("PYTHONPATH", "")]
        variables = {**environment(threads), "PYTHONPATH": os.pathsep.join(filter(None, paths))}
        command = [sys.executable, "-m", "benchmarks.compare.server", str(threads)]
        self.process = subprocess.Popen(
            command, cwd=suite, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, **request: Any) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise CommitError(f"{self.name}: the process ended with the status {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise CommitError(f"{self.name}: {answer['error']}")
        return answer["answer"]

    def close(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
