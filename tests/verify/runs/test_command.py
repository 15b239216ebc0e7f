"""`python -m gradsmith.verify`: what it prints, and its exit status."""

import re
import subprocess
import sys

import pytest

from gradsmith.codegen.table_files import OWN_TABLE
from gradsmith.verify import Failure, Proof, __main__, session
from gradsmith.verify.coverage.gap import Gap
from gradsmith.verify.reports.matrix import page_of
from gradsmith.verify.reports.places import Places
from gradsmith.verify.reports.summary import Bar, line_of, problems_of, summary_of
from gradsmith.verify.samples import key_of

pytestmark = pytest.mark.long

WRONG = Proof(
    "tanh",
    failures=[
        Failure("gradient of 'self'", "sample 0, float64: self=real(3)", "1.0 instead of 2.0, off by 1"),
        Failure("gradient of 'self'", "sample 1, float64: self=real(4)", "1.0 instead of 2.0, off by 1"),
        Failure("check of forms", "", "raised TypeError: no"),
    ],
)


def test_some_ops(capsys):
    assert __main__.main(["tanh", "add", "--jobs", "1", "--again"]) == 0
    add, alpha, tanh, summary = capsys.readouterr().out.splitlines()
    assert add.startswith("add ") and alpha.startswith("add.alpha ") and tanh.startswith("tanh ")
    assert re.search(r" value reverse forward double complex in-place out .* \d+\.\d\d s$", tanh)
    assert re.fullmatch(r"3 entries proven; \d+ comparisons, \d+ mutants of formulas .*, \d+\.\d s", summary)


def test_processes_give_the_proofs_in_order():
    done = subprocess.run(
        [sys.executable, "-m", "gradsmith.verify", "arithmetic_is_no_op"], capture_output=True, text=True
    )
    assert done.returncode == 2 and "the table has no 'arithmetic_is_no_op'" in done.stderr
    proofs = list(session.prove_rows(session.Source(), range(6), 2))
    assert [proof.key for proof in proofs] == [key_of(row) for row in session.OPS[:6]]
    assert all(proof.is_proven for proof in proofs)


def test_unknown_op(capsys):
    with pytest.raises(SystemExit) as raised:
        __main__.main(["sums"])
    assert raised.value.code == 2
    assert "the table has no 'sums'. Did you mean 'sum'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mine:\n- name: bad(Tensor self) -> Tensor\n  forward: array(self)\n  self: gard\n", "bad.yaml:4:9: bad: for"),
        ("mine: [\n", "bad.yaml:2:1: does not parse as YAML"),
        ("", "bad.yaml:1:1: the table is empty."),
        ("Just text.\n", "bad.yaml:1:1: the table should be a mapping of families."),
        ("mine:\n- name: größe", "bad.yaml:2:11: is not UTF-8."),
        (None, "bad.yaml: cannot be read: No such file"),
    ],
)  # fmt: skip
def test_a_table_with_errors(tmp_path, capsys, text, message):
    """Its errors are printed as they are, and nothing else."""
    table = tmp_path / "bad.yaml"
    if text is not None:
        table.write_bytes(text.encode("latin1"))
    assert_refused(capsys, message, "--table", str(table))


def assert_refused(capsys, message, *arguments):
    assert __main__.main(arguments) == 2
    err = capsys.readouterr().err
    assert message in err and "Traceback" not in err


def test_no_file_at_all(tmp_path, capsys):
    assert_refused(capsys, f"{tmp_path}: cannot be read: Is a directory", "--table", str(tmp_path))
    table = tmp_path / "itself.yaml"
    table.symlink_to(table)
    assert_refused(capsys, "itself.yaml: cannot be read: Too many levels of symbolic links", "--table", str(table))


CALLS = """
mine:
- name: same(Tensor self) -> Tensor
  forward: array(same_of(self))
  nondifferentiable: Under test.
  samples: real(3)
  doc: Under test.
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def same_of(x:\n    return x\n", "mine.py:1:12: does not parse: "),
        ("def other_of(x):\n    return x\n", "mine.yaml:4:18: same: forward uses 'same_of', which is no argument"),
        ("y = '\xe4'\n", "mine.py:1:6: is not UTF-8."),
        ("y = " + "-" * 20000 + "1\n", "mine.py:1:1: does not parse: "),
        (None, "mine.py: cannot be read: No such file"),
    ],
    ids=["syntax", "missing function", "encoding", "depth", "missing"],
)
def test_functions_with_errors(tmp_path, capsys, text, message):
    table, functions = tmp_path / "mine.yaml", tmp_path / "mine.py"
    table.write_text(CALLS)
    if text is not None:
        functions.write_bytes(text.encode("latin1"))
    assert_refused(capsys, message, "--table", str(table), "--functions", str(functions))


@pytest.mark.compiles
def test_functions_that_cannot_be_imported(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("GRADSMITH_CACHE_DIR", str(tmp_path / "cache"))
    table, functions = tmp_path / "mine.yaml", tmp_path / "mine.py"
    table.write_text(CALLS)
    functions.write_text("def same_of(x):\n    return x\n\nsame_of(1 / 0)\n")
    message = "mine.py:4: importing it raised ZeroDivisionError: division by zero"
    assert_refused(capsys, message, "--table", str(table), "--functions", str(functions))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--table", ""], "--table names no file"),
        (["--functions", "mine.py"], "--functions goes with --table"),
    ],
)
def test_usage(capsys, arguments, message):
    with pytest.raises(SystemExit) as raised:
        __main__.main(arguments)
    assert raised.value.code == 2 and message in capsys.readouterr().err


@pytest.mark.compiles
def test_a_table_without_entries(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("GRADSMITH_CACHE_DIR", str(tmp_path / "cache"))
    table = tmp_path / "mine.yaml"
    table.write_text("mine: []\n")
    with pytest.raises(SystemExit) as raised:
        __main__.main(["--table", str(table)])
    assert raised.value.code == 2 and "the table has no entries" in capsys.readouterr().err


def test_matrix_is_of_all_entries(capsys, tmp_path):
    with pytest.raises(SystemExit):
        __main__.main(["add", "--matrix", str(tmp_path / "support.md")])
    assert "name no ops" in capsys.readouterr().err


@pytest.fixture
def without_proving(monkeypatch, proofs):
    monkeypatch.setattr(__main__, "prove_rows", lambda source, numbers, processes, again: [proofs[n] for n in numbers])


@pytest.mark.long  # the proofs of the whole table
def test_matrix_is_written_or_compared(without_proving, capsys, proofs, tmp_path):
    page = tmp_path / "support.md"
    assert __main__.main(["--matrix", str(page), "--check"]) == 1
    assert "is not what was proven: run `make verify`" in capsys.readouterr().out and not page.exists()
    assert __main__.main(["--matrix", str(page)]) == 0
    assert page.read_text(encoding="utf-8") == page_of(session.OPS, proofs)
    assert __main__.main(["--matrix", str(page), "--check"]) == 0


def test_failure_names_the_line(monkeypatch, capsys):
    monkeypatch.setattr(__main__, "prove_rows", lambda source, numbers, processes, again: [WRONG])
    assert __main__.main(["tanh"]) == 1
    out = capsys.readouterr().out
    line = re.search(r"(?m)^derivatives.yaml:(\d+): tanh: gradient of 'self' 1.0 instead of 2.0, off by 1$", out)
    assert line and OWN_TABLE.read_text(encoding="utf-8").splitlines()[int(line[1]) - 1].startswith("- name: tanh(")
    assert "1 of 1 entries are wrong: tanh" in out


def test_what_is_missing_makes_the_exit_status_one(monkeypatch, capsys):
    proof = Proof("tanh", gaps=[Gap("'dim' is never negative", "a sample such as `real(3), dim=-1`")])
    monkeypatch.setattr(__main__, "prove_rows", lambda source, numbers, processes, again: [proof])
    assert __main__.main(["tanh"]) == 1
    out = capsys.readouterr().out
    assert "UNPROVEN" in out and "1 of 1 entries are unproven: tanh" in out
    assert re.search(
        r"yaml:\d+: tanh: not proven: 'dim' is never negative: add a sample such as `real\(3\), dim=-1`", out
    )


def test_a_failure_is_shown_once_for_each_subject(tmp_path):
    table = tmp_path / "table.yaml"
    table.write_text("mine:\n\n- name: tanh(Tensor self) -> Tensor\n")
    assert problems_of(WRONG, Places("table.yaml", table)) == [
        "table.yaml:3: tanh: gradient of 'self' 1.0 instead of 2.0, off by 1",
        "    sample 0, float64: self=real(3)",
        "table.yaml:3: tanh: check of forms raised TypeError: no",
        "    and 1 more",
    ]
    assert problems_of(WRONG, Places("table.yaml", tmp_path / "gone.yaml"))[0].startswith("table.yaml: tanh: gradient")


def test_what_was_not_run_is_said():
    proof = Proof("erf", not_run={"value": "the reference needs SciPy, which is not installed"})
    assert "[value not run: the reference needs SciPy" in line_of(proof, 5)
    assert summary_of([proof], 1.0).endswith("not everything was run for: erf")


def test_bar_on_a_terminal(monkeypatch):
    class Terminal:
        text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "stdout", terminal)
    bar = Bar(4)
    bar.draw(1, "add")
    bar.clear()
    assert terminal.text == "\r[" + "#" * 7 + "." * 23 + "] 1/4 add\r\033[K"


def test_no_bar_elsewhere(capsys):
    Bar(4).draw(1, "add")
    assert capsys.readouterr().err == ""
