"""The project's own table, read once for all tests, and small tables whose formulas may call its ops."""

from functools import cache
from pathlib import Path

from codegen.build.build import load_outside, load_table
from codegen.model import Table
from codegen.spec.vocabulary import FUNCTIONS_FOLDER, scan_functions

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "derivatives.yaml").read_text(encoding="utf-8")


@cache
def own_table() -> Table:
    return load_changed(TEXT)


def load_changed(text: str) -> Table:
    """The table with a change: it is read anew, which takes a second."""
    return load_table(text, functions=scan_functions(ROOT / FUNCTIONS_FOLDER))


def table_beside(entries: str) -> Table:
    """An external table of one family; the first entry is on line 2."""
    return load_outside(f"own:\n{entries}", "own.yaml", "mine", own_table(), {})
