"""Results survive their file; tables and plots say what they hold."""

import importlib.util
from xml.etree import ElementTree

import pytest

from benchmarks.report import files, markdown, page, plots, results
from benchmarks.report.results import Result, Results
from benchmarks.workloads import all_rows

MACHINE = {
    "processor": "A processor", "cores": 2, "kernels": "AVX2", "blas": "OpenBLAS", "system": "Linux", "python": "3.12",
    "versions": {"gradsmith": "0.1", "torch": "2.13", "jax": ""}, "commit": "abc", "build": "release",
}  # fmt: skip


def run_of(*rows):
    return Results(MACHINE, {"clock": "wall"}, list(rows))


def row(name="exp, 1e5", seconds=(1.0, 2.0, 3.0), torch=(4.0, 4.0, 4.0), **more):
    return Result("kernels/test", name, samples={"gradsmith": list(seconds), "torch": list(torch)}, **more)


def sized():
    return [row(f"exp, {size}", series="exp", size=size, seconds=(size * 1e-9,), torch=(2e-6,)) for size in (10, 1000)]


def test_results_survive_their_file(tmp_path):
    found = run_of(row(must="torch 1/2", load=0.3), *sized())
    results.save(found, tmp_path / "deep" / "results.json")
    assert results.load(tmp_path / "deep" / "results.json") == found


def test_parts_are_joined_by_family():
    one, two = row("a"), row("a", threads=2)
    other = Result("costs/other", "b")
    assert results.joined([run_of(one, other), run_of(two)]).rows == [other, one, two]


def test_ratios_are_of_medians_and_of_minima():
    found = row()
    assert found.ratio("torch") == 0.5 and found.least_ratio("torch") == 0.25
    assert found.ratio("jax") is None and found.ratio("gradsmith", of="torch") == 2.0
    assert markdown.line(found).split() == ["exp,", "1e5", "2", "s", "torch", "0.50", "(0.25)"]


def test_tables_name_machine_threads_bars_and_what_is_missing():
    text = markdown.report(run_of(row(threads=2, must="torch 1/8", load=1.5)))
    assert "A processor, 2 cores, AVX2" in text and "Not installed, and so not in the tables: JAX (jit)." in text
    assert "| exp, 1e5, 2 threads † | 2 s | 0.50 (0.25)! | torch 1/8 |  |" in text


def test_a_bar_that_is_reached_is_not_marked():
    assert "!" not in markdown.quotient(row(must="torch 0.5"), "torch")
    assert "!" in markdown.quotient(row(must="torch 0.2"), "torch")


def test_gradients_are_set_in_relation_to_their_objectives():
    objective, gradient = row("value", seconds=(1.0,)), row("gradient", seconds=(2.5,), objective="value")
    text = "\n".join(markdown.over_objective([objective, gradient]))
    assert "| gradient | 2.50 | 1.00 |" in text
    assert list(markdown.over_objective([objective])) == []


def test_failures_are_in_the_report():
    failed = Result("kernels/test", "exp", failure="kernels/test: exp: torch does not agree")
    text = markdown.report(run_of(failed))
    assert "| exp | failed |" in text and "- kernels/test: exp: torch does not agree" in text


def test_plots_have_a_line_for_each_series():
    lines = plots.curves([*sized(), row("alone", series="other", size=10)])
    assert lines == {"exp: gradsmith": [(10, pytest.approx(0.005)), (1000, pytest.approx(0.5))]}


def test_kinds_of_a_family_have_plots_of_their_own():
    rows = [row("a", series="forward: exp", size=1), row("b", series="there and back: exp", size=1), row("c")]
    found = plots.plots_of(run_of(*rows))
    assert {title: [each.name for each in rows] for title, rows in found.items()} == {
        "kernels/test, forward": ["a"], "kernels/test, there and back": ["b"], "kernels/test": ["c"]
    }  # fmt: skip
    assert plots.file_name("kernels/test, there and back") == "kernels_test_there_and_back.svg"


def test_the_plain_plot_is_a_picture(tmp_path):
    [path] = plots.write(run_of(*sized()), tmp_path, matplotlib=False)
    root = ElementTree.parse(path).getroot()
    words = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert {"kernels/test", "exp: gradsmith", "1e1", "1e3", "1/8", "1", "2"} <= set(words)
    assert path.name == "kernels_test.svg"


def test_matplotlib_draws_the_same(tmp_path):
    if importlib.util.find_spec("matplotlib") is None:
        with pytest.raises(ModuleNotFoundError, match="matplotlib"):
            plots.write(run_of(*sized()), tmp_path, matplotlib=True)
        return
    [path] = plots.write(run_of(*sized()), tmp_path, matplotlib=True)
    assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_numbers_of_the_page_are_written_anew_and_words_are_kept():
    lines = ["| row | time | PyTorch | must | limit |", "| --- | --- | --- | --- | --- |"]
    text = "\n".join([*lines, "| exp, 1e5 | 9 | 9 | 9 | bytes |", "| a | b |\n"])
    found = page.refreshed(f"Words\n\n{text}", run_of(row(must="numpy 1, torch 1/8")))
    assert "| exp, 1e5 | 2 s | 0.50 (0.25) | 1/8 | bytes |" in found
    assert found.startswith("Words\n\n| row | time |") and found.endswith("| a | b |\n")


def test_the_page_has_ratios_over_objectives():
    text = "| problem | gradsmith over objective | JAX (jit) over objective |\n| --- | --- | --- |\n| gradient | | |\n"
    rows = [row("value", seconds=(1.0,)), row("gradient", seconds=(2.5,), objective="value")]
    assert page.refreshed(text, run_of(*rows)).endswith("| gradient | 2.50 |  |\n")


def test_every_line_of_the_page_is_a_row_of_the_suite():
    """A row that is renamed or gone would keep its old numbers."""
    names = {f"{each.name}{more}" for _, each in all_rows() for more in ("", ", 2 threads")}
    tables = [page.cells_of(line) for line in page.PAGE.read_text(encoding="utf-8").splitlines()]
    cells = [line[0] for line in tables if line and line[0] not in ("---", "row", "problem")]
    assert len(cells) > 60 and [name for name in cells if name not in names] == []


def test_a_folder_has_all_files_and_they_can_be_written_again(tmp_path):
    files.write(run_of(*sized()), tmp_path)
    names = {"results.json", "speed.md", "kernels_test.svg"}
    assert {path.name for path in tmp_path.iterdir()} == names
    text = (tmp_path / "speed.md").read_text(encoding="utf-8")
    assert "![kernels_test](kernels_test.svg)" in text
    (tmp_path / "speed.md").unlink()
    assert files.rewrite([tmp_path / "results.json"]) == 0
    assert (tmp_path / "speed.md").read_text(encoding="utf-8") == text
