"""Prove the entries of the op table numerically.

python -m gradsmith.verify                      every entry
python -m gradsmith.verify mul sum.dim          these
python -m gradsmith.verify --table my_ops.yaml  those of an external table
"""

from __future__ import annotations

import argparse
import difflib
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gradsmith.codegen.spec.vocabulary import NAMESPACES

from .reports.matrix import page_of
from .reports.refusal import expect_refusal
from .reports.summary import reported, summary_of
from .samples import key_of
from .session import PROCESSES, Source, prove_rows

if TYPE_CHECKING:
    from gradsmith.generated.op_table import OpRow

    from .proof import Proof


def main(arguments: Sequence[str] | None = None) -> int:
    options = arguments_of(arguments)
    source = Source(options.table or "", options.functions)
    try:
        rows_known = source.rows
    except Exception as error:  # the table has errors, or cannot be built: all are in the message
        message = expect_refusal(error, source)
        if message is None:
            raise
        print(message, file=sys.stderr)
        return 2
    options.ops = [table_name(name) for name in options.ops]
    verify_names(options, rows_known)
    numbers = chosen(source.rows, options.ops)
    rows = [source.rows[number] for number in numbers]
    start = time.perf_counter()
    width = max(len(key_of(row)) for row in rows)
    found = prove_rows(source, numbers, options.jobs, again=options.again)
    proofs = list(reported(found, len(rows), source.places, width))
    print(summary_of(proofs, time.perf_counter() - start))
    if not all(proof.is_proven for proof in proofs):
        return 1
    return keep_matrix(options, rows, proofs) if options.matrix else 0


def arguments_of(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m gradsmith.verify", description="Prove the entries of the op table numerically."
    )
    parser.add_argument("ops", nargs="*", metavar="OP", help="add, sum.dim, ...; an op stands for all its overloads")
    parser.add_argument("--table", metavar="FILE", help="an external table, see gradsmith.load_ops")
    parser.add_argument("--functions", metavar="FILE", help="the Python file of the table's array functions")
    parser.add_argument("--jobs", type=int, default=PROCESSES, help="processes (default: %(default)s)")
    parser.add_argument("--again", action="store_true", help="prove also what nothing has changed about since it was")
    parser.add_argument("--matrix", type=Path, metavar="FILE", help="write the support matrix; of all entries only")
    parser.add_argument("--check", action="store_true", help="do not write the matrix, fail when it is not up to date")
    options = parser.parse_args(arguments)
    if options.matrix and options.ops:
        parser.error("the support matrix is made of all entries: name no ops")
    if options.table == "":
        parser.error("--table names no file")
    if options.functions is not None and options.table is None:
        parser.error("--functions goes with --table")
    options.refuse = parser.error
    return options


def verify_names(options: argparse.Namespace, rows: Sequence[OpRow]) -> None:
    if not rows:
        options.refuse("the table has no entries")
    known = {name for row in rows for name in names_of(row)}
    unknown = [name for name in options.ops if name not in known]
    if unknown:
        options.refuse(f"the table has no {', '.join(map(repr, unknown))}.{suggestion(unknown[0], known)}")


def names_of(row: OpRow) -> set[str]:
    return {row.base, key_of(row), *row.aliases}


def table_name(name: str) -> str:
    """``linalg.det`` is the entry `linalg_det`."""
    first, _, rest = name.partition(".")
    return f"{first}_{rest}" if first in NAMESPACES and rest else name


def suggestion(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, sorted(known), 3)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


def chosen(rows: Sequence[OpRow], names: Sequence[str]) -> list[int]:
    """Numbers of the rows with these names, in the order of the table; of all without names."""
    return [number for number, row in enumerate(rows) if not names or names_of(row) & set(names)]


def keep_matrix(options: argparse.Namespace, rows: Sequence[OpRow], proofs: Sequence[Proof]) -> int:
    """Write the page, or with ``--check`` compare it."""
    page, text = options.matrix, page_of(rows, proofs)
    if page.exists() and page.read_text(encoding="utf-8") == text:
        return 0
    if options.check:
        print(f"{page} is not what was proven: run `make verify`.")
        return 1
    page.write_text(text, encoding="utf-8", newline="\n")
    print(f"written  {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
