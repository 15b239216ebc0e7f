"""``python -m benchmarks run``: a process for each number of threads, and one report of all."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from .measure.fresh import ROOT, environment
from .measure.machine import facts
from .measure.session import Settings, measured
from .report import files, markdown, results
from .workloads import chosen


def run(options: argparse.Namespace) -> int:
    """0 when every row was measured and all contestants agreed."""
    return work(options) if options.worker else direct(options)


def direct(options: argparse.Namespace) -> int:
    """BLAS and JAX read their number of threads when they are loaded, so that each number gets a process."""
    rows = list(chosen(options.words, options.sizes, options.on_request))
    wanted = [count for count in options.threads if any(count in row.threads for _, row in rows)]
    if not wanted:
        print("no row has all of these words and such a number of threads", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        parts = [Path(folder) / f"{count}.json" for count in wanted]
        for count, part in zip(wanted, parts):
            done = subprocess.run(worker(options.given, count, part), cwd=ROOT, env=environment(count), check=False)
            if done.returncode:
                print(f"error: the run with {count} threads ended with the status {done.returncode}", file=sys.stderr)
                return 1
        found = results.joined([results.load(part) for part in parts])
    files.write(found, options.output)
    print(f"written: {options.output}")
    return failed(found.failures)


def worker(given: list[str], threads: int, part: Path) -> list[str]:
    return [sys.executable, "-m", "benchmarks", *given, "--threads", str(threads), "--worker", str(part)]


def failed(failures: list[str]) -> int:
    for failure in failures:
        print(f"error: {failure}", file=sys.stderr)
    return 1 if failures else 0


def work(options: argparse.Namespace) -> int:
    """Measure with one number of threads, and print each row as it comes."""
    settings = settings_of(options)
    every = chosen(options.words, options.sizes, options.on_request)
    rows = [(family, row) for family, row in every if settings.threads in row.threads]
    found = results.Results(facts(), {"small": options.small, "quick": options.quick, "clock": options.clock}, [])
    for result in measured(rows, settings):
        print(markdown.line(result), flush=True)
        found.rows.append(result)
    results.save(found, options.worker)
    return 0


def settings_of(options: argparse.Namespace) -> Settings:
    rounds, target, patience = (5, 0.002, 0.0) if options.quick else (options.rounds, options.target, options.patience)
    # With several threads the time on the processor is the sum of all, and says nothing about waiting.
    clock = options.clock if options.threads[0] == 1 else "wall"
    return Settings(
        options.threads[0], options.contestants, options.rounds or rounds, target, patience, options.small, clock
    )
