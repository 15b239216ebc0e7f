"""Entries and the text that is generated for them, whole, as a reader sees it.

A golden case is ``golden/<case>.yaml`` beside the expected ``<case>.pyx``, and ``<case>_kernels.c`` where there are
loops. After a deliberate change of the templates: ``GRADSMITH_UPDATE_GOLDEN=1 pytest tests/codegen/test_golden.py``,
and read the difference.
"""

import os
from functools import cache
from pathlib import Path

import pytest
from small_table import OPS

from codegen.build.build import load_table
from codegen.model import Table
from codegen.write.render import render_all

GOLDEN = Path(__file__).with_name("golden")
CASES = sorted(path.stem for path in GOLDEN.glob("*.yaml"))


def table_of(case: str) -> Table:
    """The small table, with the entries of the case at the end of their family."""
    family, _, entries = (GOLDEN / f"{case}.yaml").read_text().partition("\n")[2].partition("\n")
    if family in OPS:
        return load_table(OPS.replace(f"{family}\n", f"{family}\n{entries}", 1))
    return load_table(f"{OPS}{family}\n{entries}")


def sections(text: str, mark: str, wanted: set[str]) -> str:
    """The parts of a generated file, each beginning with `mark` and a name, that are wanted."""
    parts = [part for part in text.split(mark)[1:] if part.split("(")[0].split(" ")[0].split(".")[0] in wanted]
    return "".join(f"{mark}{part.rstrip()}\n\n\n" for part in parts).rstrip() + "\n"


@cache
def generated(case: str) -> dict[str, str]:
    """Golden file -> what is generated now."""
    table = table_of(case)
    known = {op.base for op in load_table(OPS).ops}
    new = [op for op in table.ops if op.base not in known]
    files = render_all(table)
    family = new[0].family
    texts = {f"{case}.pyx": sections(files[f"{family}.pyx"], "# ---- ", {op.base for op in new})}
    loops = {f"{v.c_entry[3:].upper()}_{way}" for op in new for v in op.variants for way in ("BACKWARD", "FORWARD")}
    kernels = files.get(f"{family}_kernels.c", "")
    if any(name in kernels for name in loops):
        parts = [f"/* ---- {p.rstrip()}\n" for p in kernels.split("/* ---- ")[1:] if p.split(" ")[0] in loops]
        texts[f"{case}_kernels.c"] = "\n".join(parts)
    return texts


@pytest.mark.parametrize("case", CASES)
def test_the_text_is_as_expected(case: str) -> None:
    for name, text in generated(case).items():
        path = GOLDEN / name
        if os.environ.get("GRADSMITH_UPDATE_GOLDEN"):
            path.write_text(text)
        assert text == path.read_text(), name


def test_every_golden_file_belongs_to_a_case() -> None:
    made = {name for case in CASES for name in generated(case)}
    assert {path.name for path in GOLDEN.iterdir() if path.suffix != ".yaml"} == made
