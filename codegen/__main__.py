"""``python -m codegen``: the table in, generated/ out."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .build import load_table
from .errors import SpecErrors
from .render import render_all
from .write import differences, write

ROOT = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    options = _parse(arguments)
    try:
        table = load_table(options.table)
    except SpecErrors as errors:
        print(errors, file=sys.stderr)
        count = len(errors.errors)
        mistakes = "1 mistake" if count == 1 else f"{count} mistakes"
        print(f"{mistakes} in {options.table.name}; nothing was written.", file=sys.stderr)
        return 1
    files = render_all(table, _compiled_functions())
    return _check(options.output, files) if options.check else _write(options.output, files)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m codegen", description="Generate the ops of the table.")
    parser.add_argument("--table", type=Path, default=ROOT / "derivatives.yaml", help="the table of ops")
    parser.add_argument("--output", type=Path, default=ROOT / "generated", help="folder of the generated files")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is not up to date")
    return parser.parse_args(arguments)


def _compiled_functions() -> frozenset[str]:
    """Modules of runtime/functions that generated code may cimport."""
    return frozenset(path.stem for path in (ROOT / "runtime" / "functions").glob("*.pxd"))


def _check(folder: Path, files: dict[str, str]) -> int:
    wrong = differences(folder, files)
    for difference in wrong:
        print(difference.summary)
    if wrong:
        print(f"{folder.name}/ is not what the table says: run `make generate`.")
    return 1 if wrong else 0


def _write(folder: Path, files: dict[str, str]) -> int:
    for change in write(folder, files):
        print(change.summary.replace("differs  ", "updated  ").replace("missing  ", "new      "))
    return 0


if __name__ == "__main__":
    sys.exit(main())
