"""``python -m benchmarks``: what it takes, what it writes, and how it ends."""

import subprocess
import sys

import pytest

from benchmarks.command import main, parsed
from benchmarks.compare.client import Client, CommitError
from benchmarks.measure.fresh import ROOT
from benchmarks.report import results


def call(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )


def test_rows_are_listed(capsys):
    assert main(["list", "rosenbrock", "= 100"]) == 0
    assert [line.split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines()] == [
        "Rosenbrock, gradient, n = 100", "Rosenbrock, gradient, n = 1000", "Rosenbrock, gradient, n = 10000"
    ]  # fmt: skip


def test_words_may_stand_before_and_after_options():
    options = parsed(["run", "exp", "--sizes", "1e5,10", "--threads", "2", "forward"])
    assert options.words == ["exp", "forward"] and options.sizes == (10**5, 10) and options.threads == (2,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--contestants", "tensorflow"], "no contestant is called 'tensorflow'"),
        (["run", "--loudly"], "unrecognized arguments: --loudly"),
        (["list", "--page"], "unrecognized arguments: --page"),
        (["measure"], "invalid choice"),
        ([], "required"),
    ],
)
def test_wrong_arguments_are_explained(capsys, arguments, message):
    with pytest.raises(SystemExit) as raised:
        main(arguments)
    assert raised.value.code == 2 and message in capsys.readouterr().err


def test_a_run_writes_its_files(tmp_path):
    words = ("run", "rosenbrock", "n = 100", "--small", "--quick", "--output", str(tmp_path))
    done = call(*words, "--contestants", "gradsmith,numpy")
    assert done.returncode == 0, done.stderr
    found = results.load(tmp_path / "results.json")
    assert next(row.name for row in found.rows) == "Rosenbrock, gradient, n = 100"
    assert all(row.judge == "numpy" and len(row.samples["gradsmith"]) == 5 for row in found.rows)
    assert "Rosenbrock" in done.stdout and (tmp_path / "speed.md").exists()


def test_no_row_is_no_success(tmp_path):
    done = call("run", "no such words", "--output", str(tmp_path))
    assert done.returncode == 2 and "no row has all of these words" in done.stderr


def test_a_tree_compared_with_itself_is_as_fast(tmp_path):
    words = ("compare", ".", "--head", ".", "logistic", "--small", "--launches", "2", "--rounds", "8")
    done = call(*words, "--patience", "0", "--target", "0.002", "--threshold", "0.5", "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "| logistic regression, 1,000 x 20 |" in done.stdout and (tmp_path / "compare.json").exists()


def test_a_commit_that_is_not_there_is_named(tmp_path):
    done = call("compare", "no_such_commit", "--head", ".", "logistic", "--output", str(tmp_path))
    assert done.returncode == 2 and "no_such_commit" in done.stderr


def test_a_server_says_what_it_cannot_do():
    client = Client("head", ROOT, ROOT, 1)
    try:
        with pytest.raises(CommitError, match="head: KeyError"):
            client.ask(nothing=True)
        with pytest.raises(CommitError, match="head: StopIteration"):
            client.ask(row=("training/logistic", "no such row"), small=True, results="")
        assert client.ask(calibrate=1e-5) >= 1 and client.ask(sample=10) >= 0
    finally:
        client.close()
