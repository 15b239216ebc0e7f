"""Every workload runs on small data, and the contestants that are installed compute the same."""

import numpy as np
import pytest

from benchmarks.cases import Case, Probe, Program, bars
from benchmarks.contestants import MODULES, is_here
from benchmarks.measure import agreement
from benchmarks.measure.session import Settings, measured
from benchmarks.workloads import all_rows, chosen, families, rows_of
from benchmarks.workloads.costs import edit, memory

ROWS = list(all_rows())
# Rows of one program in several sizes are the same program when it is small.
SMALL = {(family, row.make, row.small or row.arguments): row for family, row in ROWS if isinstance(row, Case)}
CASES = [(family, row) for (family, _, _), row in SMALL.items()]


def name_of(value):
    return value if isinstance(value, str) else value.name


@pytest.mark.parametrize(("family", "case"), CASES, ids=name_of)
def test_contestants_agree(family, case):
    builders = case.builders(small=True)
    programs = {name: build() for name, build in builders.items() if is_here(name)}
    compared = {name: program.results() for name, program in programs.items() if program.results}
    agreement.check(f"{family}: {case.name}", compared, case.tolerance)
    for program in programs.values():
        program.run()


def test_gradients_by_hand_are_among_them():
    """Where only NumPy is installed, what matters most is still compared with something independent."""
    wanted = (
        "GMM",
        "BA ",
        "character LSTM",
        "Rosenbrock",
        "ODE",
        "Lorenz",
        "logistic",
        "digits",
        "lstm",
        "there and back",
    )
    for words in wanted:
        found = [row for _, row in ROWS if words in row.name and isinstance(row, Case)]
        assert any({"gradsmith", "numpy"} <= row.builders(small=True).keys() for row in found), words


def test_names_are_different_and_bars_can_be_read():
    names = [(family, row.name) for family, row in ROWS]
    assert len(names) == len(set(names))
    for _, row in ROWS:
        assert bars(row.must).keys() <= {*MODULES, "by hand", "eager", "evaluation", "backward"}


def test_objectives_of_gradients_are_rows():
    with_objective = [(family, row.objective) for family, row in ROWS if row.objective]
    assert len(with_objective) >= 6
    assert set(with_objective) <= {(family, row.name) for family, row in ROWS}


def test_every_family_has_rows():
    assert all(rows_of(family) for family in families())
    assert len(set(families())) == len(list(families())) > 30


def test_rows_are_chosen_by_words_and_sizes():
    found = [row.name for _, row in chosen(["elementwise", "exp forward"], [10**5, 10**6])]
    assert found == ["exp forward, 1e5", "exp forward, 1e6"]
    assert not any(family == "costs/edit" for family, _ in chosen())
    assert any(family == "costs/edit" for family, _ in chosen(on_request=True))


@pytest.mark.parametrize(("text", "error"), [("torch", "no bar"), ("torch 1/x", "no bar")])
def test_a_bar_that_cannot_be_read_is_an_error(text, error):
    with pytest.raises(ValueError, match=error):
        bars(text)


# ---- agreement


def case_of(**values):
    """A row whose contestants compute these numbers."""
    builders = {name: lambda number=number: program(number) for name, number in values.items()}
    return Case("doubling", lambda: builders, rounds=2)


def program(number):
    return Program(lambda: number, lambda: [np.array([1.0, number])])


def failure_of(row):
    [result] = measured([("kernels/test", row)], Settings(patience=0.0, target=1e-5))
    return result.failure


def test_a_wrong_gradient_is_an_error_that_names_workload_and_contestant():
    message = failure_of(case_of(gradsmith=2.1, numpy=2.0))
    assert message == (
        "kernels/test: doubling: gradsmith does not agree with numpy: "
        "result 0 differs by 5.0e-02 of its largest element, 1e-03 is allowed"
    )
    assert failure_of(case_of(gradsmith=2.0001, numpy=2.0)) == ""


@pytest.mark.parametrize(
    ("found", "expected", "words"),
    [
        ([np.ones(2)], [], "1 results instead of 0"),
        ([np.ones(2)], [np.ones((2, 1))], "shape (2,) instead of (2, 1)"),
        ([np.array([1.0, np.nan])], [np.ones(2)], "differs by inf"),
        ([np.array([np.inf])], [np.array([-np.inf])], "differs by inf"),
        ([np.array([np.inf, np.nan])], [np.array([np.inf, np.nan])], ""),
        ([np.ones(0)], [np.ones(0)], ""),
        ([np.array([1 + 1e-3j])], [np.array([1.0 + 0j])], ""),
        ([np.array([True])], [np.array([False])], "differs"),
    ],
)
def test_differences(found, expected, words):
    difference = agreement.first_difference(found, expected, 1e-3)
    assert words in difference and bool(difference) == bool(words)


def test_a_contestant_that_fails_is_named_and_the_others_go_on():
    def broken():
        raise OSError("no memory")

    row = Case("broken", lambda: {"gradsmith": broken}, rounds=2)
    results = list(measured([("kernels/test", row), ("kernels/test", case_of(gradsmith=1.0))], Settings(patience=0.0)))
    assert "kernels/test: broken: ContestantError: gradsmith: OSError: no memory" in results[0].failure
    assert results[1].samples["gradsmith"] and not results[1].failure


def test_what_is_not_installed_is_remembered(monkeypatch):
    monkeypatch.setitem(MODULES, "torch", "no_such_library")
    is_here.cache_clear()
    try:
        [result] = measured([("kernels/test", case_of(gradsmith=1.0, torch=1.0))], Settings(patience=0.0, target=1e-5))
    finally:
        is_here.cache_clear()
    assert result.missing == ["torch"] and list(result.samples) == ["gradsmith"] and result.judge == ""


# ---- what is no call in a loop


def test_a_probe_is_asked_once_a_round():
    answers = iter([3.0, 5.0])
    probe = Probe("bytes", lambda: {"gradsmith": lambda: next(answers)}, unit="bytes", rounds=2, per=2)
    [result] = measured([("costs/test", probe)], Settings(patience=0.0))
    assert result.samples == {"gradsmith": [1.5, 2.5]} and result.unit == "bytes"


def test_the_peak_counts_what_a_chain_saves():
    assert memory.peaks(200_000, 10)["gradsmith"]() >= 8 * 200_000 * 4


def test_a_chain_is_measured_in_a_process_of_its_own():
    assert memory.of_chain("bytes", 20_000)["gradsmith"]() > 50


def test_a_formula_is_edited_and_means_the_same():
    table = edit.table()
    changed = edit.edited(table, "bessel", 1)
    [(before, after)] = [pair for pair in zip(table.splitlines(), changed.splitlines()) if pair[0] != pair[1]]
    assert after == before.replace("self: ", "self: (") + ") * 2 / 2"
    with pytest.raises(ValueError):
        edit.edited(table, "no_such_family", 1)
