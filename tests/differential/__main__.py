"""Run random programs in gradsmith and PyTorch: ``python -m tests.differential --programs 20000 --seed 1``."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from .batches import Child, Report, run_seeds
from .play import pytorch
from .program import Program, script_of
from .shrink import shrink


def main() -> int:
    options = parse()
    pytorch()
    if options.replay:
        return replay_file(Path(options.replay))
    session = Session(options)
    session.run()
    session.summarize()
    return 1 if session.failures else 0


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--programs", type=int, default=1000, help="how many (default: %(default)s)")
    parser.add_argument(
        "--seed", type=int, default=1, help="of the first program; the others follow (default: %(default)s)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="child processes at a time (default: %(default)s)")
    parser.add_argument("--timeout", type=float, default=60, help="seconds without a step that count as a hang")
    parser.add_argument("--keep", default="build/differential", help="folder for scripts of what was found")
    parser.add_argument("--shrink", type=int, default=10, help="how many kinds of findings are made small")
    parser.add_argument("--replay", help="a JSON file of a program to run again")
    return parser.parse_args()


class Session:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.seeds = shared(range(options.seed, options.seed + options.programs))
        self.lock = threading.Lock()
        self.explained: Counter[str] = Counter()
        self.failures: dict[str, list[Report]] = {}
        self.programs = self.steps = 0

    def run(self) -> None:
        threads = [threading.Thread(target=self._work) for _ in range(self.options.jobs)]
        self.started = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _work(self) -> None:
        for report in run_seeds(self.seeds, self.options.timeout):
            with self.lock:
                self._count(report)

    def _count(self, report: Report) -> None:
        self.programs += 1
        self.steps += len(report.program.steps)
        self.explained.update(set(report.explained))
        if report.kinds:
            print(f"seed {report.program.seed}: {report.texts[0]}", flush=True)
            self.failures.setdefault(repr(report.kinds[0]), []).append(report)
        if self.programs % 1000 == 0:
            failed = sum(map(len, self.failures.values()))
            print(
                f"{self.programs} programs, {time.monotonic() - self.started:.0f} s, {failed} unexplained", flush=True
            )

    def summarize(self) -> None:
        print(f"{self.programs} programs of {self.steps} steps, seeds from {self.options.seed}")
        for name, count in self.explained.most_common():
            print(f"  explained: {count:6} {name}")
        print(f"{sum(map(len, self.failures.values()))} programs with an unexplained difference")
        most_frequent = sorted(self.failures.values(), key=len, reverse=True)
        with Child(self.options.timeout) as child:
            for number, reports in enumerate(most_frequent):
                print(f"\n{len(reports)} times, first with seed {reports[0].program.seed}: {reports[0].texts[0]}")
                if number < self.options.shrink:
                    self._write(child, reports[0])

    def _write(self, child: Child, report: Report) -> None:
        small = shrink(report.program, lambda program: child.run(program).kinds[:1] == report.kinds[:1])
        folder = Path(self.options.keep)
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / f"seed{small.seed}.py"
        place.write_text(script_of(small))
        place.with_suffix(".json").write_text(small.to_json())
        print("\n".join(f"    {line}" for step in small.steps for line in step.source().splitlines()))
        print(f"  python {place} gradsmith; python {place} torch")


def shared(seeds: range) -> Iterator[int]:
    """An iterator that several threads may ask."""
    lock, rest = threading.Lock(), iter(seeds)

    def following() -> int | None:
        with lock:
            return next(rest, None)

    return iter(following, None)


def replay_file(path: Path) -> int:
    program = Program.from_json(path.read_text())
    with Child() as child:
        report = child.run(program)
    print("\n".join(report.texts) or f"no unexplained difference; explained: {report.explained}")
    return 1 if report.kinds else 0


if __name__ == "__main__":
    sys.exit(main())
