"""The command line: `run` measures, `list` names rows, `report` writes tables again, `compare` compares two commits."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .measure.fresh import ROOT

OUTPUT = ROOT / "build" / "benchmarks"


def main(arguments: Sequence[str] | None = None) -> int:
    options = parsed(arguments)
    if options.command == "list":
        return list_rows(options)
    if options.command == "report":
        from .report.files import rewrite

        return rewrite(options.results, options.page)
    if options.command == "compare":
        from .compare.session import compare

        return compare(options)
    from .run import run

    return run(options)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options; words may stand before them and after."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options, rest = parser().parse_known_args(given)
    options.given = given
    strange = [word for word in rest if word.startswith("-") or "words" not in options]
    if strange:
        parser().error(f"unrecognized arguments: {' '.join(strange)}")
    if rest:
        options.words = [*options.words, *rest]
    return options


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure gradsmith beside its rivals.")
    commands = found.add_subparsers(dest="command", required=True, metavar="run|list|report|compare")
    add_run(commands.add_parser("run", help="measure rows, and write tables and plots"))
    add_words(commands.add_parser("list", help="name the rows"))
    report = commands.add_parser("report", help="write tables and plots of a file of results again")
    report.add_argument("results", type=Path, nargs="+", help="a results.json, or several, whose rows are joined")
    report.add_argument("--page", action="store_true", help="write the numbers of docs/performance.md and its plots")
    add_compare(commands.add_parser("compare", help="set two commits of gradsmith side by side"))
    return found


def add_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", help="only rows whose family and name have all of these words")
    parser.add_argument("--sizes", type=sizes, default=(), help="only these sizes, of rows that have some: 1e5,1e6")
    parser.add_argument("--on-request", action="store_true", help="also rows that take minutes, such as edit to import")


def add_measure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=0, help="rounds of each row (default: what the row says)")
    parser.add_argument("--target", type=float, default=0.01, help="seconds of a sample (default: 0.01)")
    parser.add_argument("--patience", type=float, default=10.0, help="seconds that a row waits for idle cores")
    parser.add_argument("--small", action="store_true", help="small data, to see that everything runs and agrees")


def add_run(parser: argparse.ArgumentParser) -> None:
    add_words(parser)
    add_measure(parser)
    parser.add_argument("--contestants", type=names, default=(), help="only these: gradsmith,numpy,torch,jax,autograd")
    parser.add_argument("--threads", type=numbers, default=(1, 2), help="numbers of threads (default: 1,2)")
    parser.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        default="wall",
        help="cpu: time on the processor, for one thread (busy machines)",
    )
    parser.add_argument("--quick", action="store_true", help="five rounds of short samples, without waiting")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder of results.json, speed.md and plots")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)  # the file of a process of one number of threads


def add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("base", help="the commit to compare with")
    add_words(parser)
    add_measure(parser)
    parser.add_argument("--head", default="HEAD", help="the other commit; . is this tree as it is (default: HEAD)")
    parser.add_argument("--launches", type=int, default=3, help="pairs of processes that are started (default: 3)")
    parser.add_argument("--threshold", type=float, default=0.02, help="slower by less is no regression (default: 0.02)")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="folder of compare.json")


def sizes(text: str) -> tuple[int, ...]:
    return tuple(int(float(part)) for part in text.split(","))


def numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def names(text: str) -> tuple[str, ...]:
    from .contestants import MODULES

    found = tuple(text.split(","))
    unknown = [name for name in found if name not in (*MODULES, "by hand", "evaluation", "backward")]
    if unknown:
        raise argparse.ArgumentTypeError(f"no contestant is called {unknown[0]!r}; there are {', '.join(MODULES)}")
    return found


def list_rows(options: argparse.Namespace) -> int:
    from .workloads import chosen

    for family, row in chosen(options.words, options.sizes, options.on_request):
        print(f"{family:30s} {row.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
