"""``python -m codegen``: the table in, generated/ out.

python -m codegen                                            gradsmith's own table
python -m gradsmith.codegen my_ops.yaml --package my_ops     another one, compiled as a package of its own
python -m codegen explain tanh                               all that follows from an entry
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from .build.build import load_table
from .entries.reader import read_file
from .explain import Sources, explain, indented, named_ops, proofs
from .extension import make_package
from .saving.explanation import notes
from .spec.errors import SpecErrors
from .spec.vocabulary import FUNCTIONS_FOLDER, module_within
from .table_files import OWN_TABLE, ROOT, keep_generated
from .write.render import render_all
from .write.write import differences, write


def main(arguments: list[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["explain"]:
        return _explain(arguments[1:])
    options = _parse(arguments)
    if options.package is not None:
        return _build_package(options)
    try:
        content = options.table.read_bytes()
        table = load_table(options.table)
    except SpecErrors as errors:
        print(errors, errors.summary(options.table.name), sep="\n", file=sys.stderr)
        return 1
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    for note in notes(table):
        print(note, file=sys.stderr)
    files = render_all(table, _compiled_functions())
    folder = options.output or ROOT / "generated"
    if options.check:
        return _check(folder, files)
    _write(folder, files)
    if folder.resolve() == ROOT / "generated":
        keep_generated(content)
    return 0


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m gradsmith.codegen",
        description="Generate the ops of gradsmith's table, or build the package of another table.",
    )
    add = parser.add_argument
    add("table", type=Path, nargs="?", default=OWN_TABLE, help="the table of ops (default: gradsmith's own)")
    add("--output", type=Path, help="folder of the generated files, or of the package (default: the current one)")
    add("--check", action="store_true", help="write nothing; fail when a file is not up to date")
    outside = parser.add_argument_group("for a table of one's own")
    outside.add_argument("--package", metavar="NAME", help="generate and compile this package")
    outside.add_argument("--functions", type=Path, metavar="FILE", help="Python file that array(...) may call")
    outside.add_argument("--methods", action="store_true", help="importing the package makes its ops methods of Tensor")
    options = parser.parse_args(arguments)
    if options.package is None and (options.functions or options.methods):
        parser.error("--functions and --methods go with --package")
    if options.package is not None and options.table == OWN_TABLE:
        parser.error("--package needs a table")
    writes_here = options.package is None and options.output is None and not options.check
    if writes_here and options.table.resolve() != OWN_TABLE:
        parser.error("a table of one's own needs --package, or --output: gradsmith's own ops would be replaced")
    return options


def _build_package(options: argparse.Namespace) -> int:
    from gradsmith.extension.command import run  # needs the compiled package, which the rest here is there to make

    return run(options)


def _compiled_functions() -> frozenset[str]:
    """Modules of runtime/arrays/functions that generated code may cimport."""
    folder = ROOT / FUNCTIONS_FOLDER
    return frozenset(module_within(folder, path) for path in folder.rglob("*.pxd"))


def _explain(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m gradsmith.codegen explain", description="Explain an entry.")
    parser.add_argument("op", help="an op, one of its overloads (sum.dim), or another name of it")
    parser.add_argument("table", type=Path, nargs="?", help="a table of one's own (default: gradsmith's)")
    parser.add_argument("--functions", type=Path, metavar="FILE", help="Python file that array(...) may call")
    options = parser.parse_args(arguments)
    try:
        sources = _outside_sources(options) if options.table else _own_sources()
        text = explain(options.op, sources, styled=sys.stdout.isatty() and "NO_COLOR" not in os.environ)
    except (SpecErrors, LookupError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `explain ... | head` ends in silence
    print(text)
    if not options.table:
        print(f"---- Proofs\n\n{indented(proofs(named_ops(options.op, sources.table), ROOT))}")
    return 0


def _own_sources() -> Sources:
    table = load_table(OWN_TABLE)
    return Sources(table, OWN_TABLE.read_text(encoding="utf-8"), render_all(table, _compiled_functions()))


def _outside_sources(options: argparse.Namespace) -> Sources:
    text = read_file(options.table)
    functions = read_file(options.functions) if options.functions else ""
    package = make_package(
        text, str(options.table), options.table.stem, functions=functions, functions_file=str(options.functions)
    )
    return Sources(package.table, text, package.files)


def _check(folder: Path, files: dict[str, str]) -> int:
    wrong = differences(folder, files)
    for difference in wrong:
        print(difference.summary)
    if wrong:
        print(f"{folder.name}/ is not what the table says: run `make generate`.")
    return 1 if wrong else 0


def _write(folder: Path, files: dict[str, str]) -> None:
    for change in write(folder, files):
        print(change.summary.replace("differs  ", "updated  ").replace("missing  ", "new      "))


if __name__ == "__main__":
    sys.exit(main())
