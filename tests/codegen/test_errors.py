"""Every error of a table is reported with its place, its op and a suggestion."""

import re
from pathlib import Path

import pytest
from own_table import ROOT, TEXT, load_changed

from codegen.build.build import load_table
from codegen.spec.errors import Collector, Position, SpecErrors, did_you_mean, hint_from

FAIL = Path(__file__).parent / "fail"
MARK = "#| "  # begins the lines of a case that quote its messages


@pytest.mark.parametrize("case", sorted(FAIL.glob("*.yaml")), ids=lambda path: path.stem)
def test_bad_table(case: Path) -> None:
    text = case.read_text()
    expected = [line.removeprefix(MARK) for line in text.splitlines() if line.startswith(MARK)]
    with pytest.raises(SpecErrors) as raised:
        load_table(text)
    assert str(raised.value).splitlines() == expected


def test_errors_come_in_file_order_and_once() -> None:
    errors = Collector("table.yaml")
    errors.add(Position(9, 1), "mul", "second")
    errors.add(Position(2, 5), "add", "first")
    errors.add(Position(2, 5), "add", "first")
    with pytest.raises(SpecErrors) as raised:
        errors.raise_if_any()
    assert str(raised.value) == "table.yaml:2:5: add: first.\ntable.yaml:9:1: mul: second."


def test_no_error_raises_nothing() -> None:
    Collector("table.yaml").raise_if_any()


def test_hints() -> None:
    assert did_you_mean("othr", ["self", "other"]) == "Did you mean 'other'?"
    assert did_you_mean("x", ["self", "other"]) == ""
    assert hint_from("Names", "slf", ["self", "b"]) == "Names: b, self. Did you mean 'self'?"
    assert hint_from("Names", "x", []) == "Names: none."
    many = [f"name_{i}" for i in range(100)]
    assert hint_from("Names", "nam_7", many) == "Did you mean 'name_7'?"
    assert hint_from("Names", "x", many).startswith("Names: name_0, name_1, name_10,")


def test_the_file_is_named_as_given(tmp_path: Path) -> None:
    path = tmp_path / "ops.yaml"
    path.write_text("nothing: []\n")
    with pytest.raises(SpecErrors, match=r"^ops\.yaml:1:1: unknown family"):
        load_table(path)


def test_modules_of_array_functions_keep_their_names() -> None:
    text = """
        arithmetic:
        - name: bend(Tensor self, Tensor curves) -> Tensor
          forward: array(bend_of(self, curves))
          nondifferentiable: a case
          samples: real(3), curves=real(3)
          doc: A case.
    """
    with pytest.raises(SpecErrors, match="bend: 'curves' is taken: a module of array functions has that name"):
        load_table(text, functions={"bend_of": "curves"})
    assert load_table(text, functions={"bend_of": "bends"})


def test_the_mistake_that_the_readme_shows() -> None:
    """Word for word; the line alone changes with every entry above."""
    before, tanh, after = TEXT.partition("- name: tanh(")
    table = before + tanh + after.replace("1 - result * result", "1 - resutl * result", 1)
    with pytest.raises(SpecErrors) as raised:
        load_changed(table)
    shown = re.sub(r":\d+:", ":...:", str(raised.value), count=1)
    assert shown in re.sub(r"(derivatives\.yaml):\d+:", r"\1:...:", (ROOT / "README.md").read_text())


def test_the_cases_that_the_decisions_name_exist() -> None:
    page = Path(__file__).parents[2] / "docs" / "internals" / "decisions" / "generator_checks.md"
    table = page.read_text().partition("Beyond that")[0]
    here = "".join(line.split(" | ")[-1] for line in table.splitlines() if line.startswith("| "))
    named = set(re.findall(r"`([a-z_]+_[a-z_]+)`", here))
    assert len(named) > 30
    assert named - {"self_t"} <= {case.stem for case in FAIL.glob("*.yaml")}
