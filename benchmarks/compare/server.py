"""The process of one commit: reads requests from its input, a line of JSON each, and answers them on its output.

``{"row": [family, name], "small": false, "results": path}`` prepares the program of a row and saves what it computes;
``{"calibrate": seconds}`` answers how often it is called in a sample; ``{"sample": repeats}`` times one sample.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..cases import Case
from ..contestants import set_threads
from ..measure.timing import CLOCKS, calibrate, collector_paused, sample
from ..workloads import rows_of

OWN = "gradsmith"


class Server:
    """One row at a time."""

    def __init__(self, threads: int) -> None:
        set_threads(threads)
        # The time that a core was held by others does not count where only one core is wanted.
        self.clock = CLOCKS["cpu" if threads == 1 else "wall"]
        self.run: Callable[[], Any] = lambda: None

    def answer(self, request: dict[str, Any]) -> Any:
        if "row" in request:
            family, name = request["row"]
            return self.prepare(family, name, request["small"], request["results"])
        with collector_paused():
            if "calibrate" in request:
                return calibrate(self.run, request["calibrate"])
            return sample(self.run, request["sample"], self.clock)

    def prepare(self, family: str, name: str, small: bool, path: str) -> int:
        """The number of arrays that were saved."""
        row = next(row for row in rows_of(family) if row.name == name)
        assert isinstance(row, Case)
        program = row.builders(small)[OWN]()
        found = (program.results or program.run)()
        results = found if program.results else []
        np.savez(path, *results)
        self.run = program.run
        return len(results)


def main(threads: int) -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print must not come between the answers
    server = Server(threads)
    for line in sys.stdin:
        try:
            answer = {"answer": server.answer(json.loads(line))}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
