"""An entry that is wrong is found to be wrong, in whatever way it is."""

import re
from pathlib import Path

import pytest

import gradsmith as gs
from gradsmith.verify import prove
from gradsmith.verify.__main__ import main
from gradsmith.verify.reports.summary import problems_of

pytestmark = pytest.mark.compiles

HERE = Path(__file__).resolve().parent
TABLE = HERE / "wrong.yaml"
ENTRY = re.compile(r"(?m)^(?:# (.*)\n)?- name: (\w+)\(")
EXPECTED = {base: words for words, base in ENTRY.findall(TABLE.read_text(encoding="utf-8"))}
WRONG = [base for base, words in EXPECTED.items() if words]
RIGHT = [base for base, words in EXPECTED.items() if not words]


@pytest.fixture(scope="module")
def wrong():
    """Every entry's proof, by name. Its modules are kept beside the package's build, for the next run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADSMITH_CACHE_DIR", str(HERE.parents[2] / "build" / "outside"))
        module = gs.load_ops(TABLE, functions=HERE / "wrong_functions.py", methods=True)
        yield {row.base: prove(row, module) for row in module.op_table.OPS}


def test_there_are_many_ways_to_be_wrong():
    assert len(WRONG) >= 25


@pytest.mark.parametrize("base", WRONG)
def test_wrong_entry_is_found(wrong, base):
    found = [f"{f.subject} {f.problem} {f.setting}" for f in wrong[base].failures]
    assert any(re.search(EXPECTED[base], text) for text in found), "\n".join(found)


@pytest.mark.parametrize("base", RIGHT)
def test_right_entry_is_not(wrong, base):
    assert problems_of(wrong[base], "wrong.yaml") == []


IN_ONE_WAY_ONLY = {
    "special_point": r"point, float(64|32): \{",
    "tie_policy": r"point, float(64|32): \{",
    "saved_unused": "saved but not used",
    "float32_only": "in float32",
}


@pytest.mark.parametrize("base", IN_ONE_WAY_ONLY)
def test_nothing_else_is_said(wrong, base):
    """An op that is wrong in one way fails in that way alone."""
    found = [f"{f.subject} {f.problem} {f.setting}" for f in wrong[base].failures]
    assert found and all(re.search(IN_ONE_WAY_ONLY[base], text) for text in found), "\n".join(found)


def test_command_proves_a_table_outside_the_tree(wrong, capsys):
    options = ["--table", str(TABLE), "--functions", str(HERE / "wrong_functions.py"), "--jobs", "1"]
    assert main([*options, *RIGHT]) == 0
    assert "7 entries proven" in capsys.readouterr().out
    assert main([*options, "factor"]) == 1
    line = TABLE.read_text(encoding="utf-8").splitlines().index("- name: factor(Tensor self) -> Tensor") + 1
    assert f"{TABLE}:{line}: factor: gradient of 'self' against differences " in capsys.readouterr().out


def test_a_gradient_that_is_not_implemented_is_refused_in_both_modes(wrong):
    assert wrong["right_in_part"].not_run == {}
    assert wrong["right_in_part"].counts["refusals"] == 4  # in two modes and two dtypes
