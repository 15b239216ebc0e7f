"""Formulas that become compiled loops are lowered when the table is built."""

from pathlib import Path

import pytest
from own_table import own_table

from codegen.build import loops
from codegen.build.build import load_table
from codegen.formula.callees import intrinsics
from codegen.write.render import render_all

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.long
def test_each_formula_is_lowered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered: list[str] = []
    expect_loop = loops.expect_loop

    def counted(name: str, *arguments: object) -> object:
        lowered.append(name)
        return expect_loop(name, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(loops, "expect_loop", counted)
    render_all(load_table(ROOT / "derivatives.yaml"))
    assert len(lowered) == len(set(lowered)) > 50


def test_each_function_of_loops_is_an_op() -> None:
    """Where no loop fits, a formula of them is computed by ops."""
    ops = {op.signature.base for op in own_table().ops}
    assert set(intrinsics()) <= ops
