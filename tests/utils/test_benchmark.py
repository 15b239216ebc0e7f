"""`gradsmith.utils.benchmark`: what is measured, how often, and tables of it."""

import pytest

import gradsmith as gs
from gradsmith.utils import benchmark
from gradsmith.utils.benchmark import Compare, Measurement, Timer


class Clock:
    """Every look at it is `step` seconds after the last."""

    def __init__(self, step):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


def test_one_measurement():
    counts = []
    found = Timer("counts.append(x)", "x = 3", globals={"counts": counts}, timer=Clock(2.0)).timeit(10)
    assert found.times == [0.2] and found.median == found.mean == 0.2 and found.iqr == 0
    assert counts == [3] * (2 + 10) and found.number_per_run == 10 and not found.has_warnings


def test_programs_find_torch_by_its_name():
    seen = []
    Timer("seen.append((torch.ones(1), torch.get_num_threads()))", globals={"seen": seen}, num_threads=2).timeit(1)
    assert type(seen[0][0]) is gs.Tensor and seen[0][1] == 2 and gs.utils.benchmark is benchmark
    assert benchmark.timer() <= benchmark.timer()


def test_blocks_until_the_time_is_over():
    calls = []
    found = Timer(timer=Clock(0.1)).blocked_autorange(lambda *call: calls.append(call), min_run_time=0.45)
    assert found.number_per_run == 1 and len(found.times) == 5 and [number for number, _ in calls] == [1] * 5
    found = Timer(timer=Clock(0.1)).adaptive_autorange()
    assert len(found.times) == 4
    with pytest.raises(NotImplementedError):
        Timer().repeat()
    with pytest.raises(ValueError, match="not of 'c\\+\\+'"):
        Timer("x;", language="c++")


def test_how_times_are_spread():
    found = Measurement(2, [2.0, 4.0, 6.0, 8.0, 10.0], "f(x)", "x = 1", "f", "small")
    assert found.times == [1, 2, 3, 4, 5] and found.median == found.mean == 3 and found.iqr == 2
    assert found.has_warnings and found.title == "f: small"
    assert repr(found).splitlines() == [
        "f: small", "setup: x = 1", "  Median: 3.00 s", "  IQR:    2.00 s",
        "  5 measurements, 2 runs per measurement, 1 thread",
        "  WARNING: the interquartile range is more than a tenth of the median.",
    ]  # fmt: skip
    assert repr(Measurement(1, [2e-6])) == "pass\n  2.00 us\n  1 measurement, 1 run per measurement, 1 thread"


@pytest.mark.parametrize("seconds, unit", [(3.0, "s"), (0.5, "ms"), (1e-3, "ms"), (2e-5, "us"), (1e-12, "ns")])
def test_units(seconds, unit):
    assert benchmark.select_unit(seconds)[0] == unit


def test_a_table():
    results = [
        Measurement(1, [0.002], "f", label="products", sub_label="small", description="ours"),
        Measurement(1, [0.004], "f", label="products", sub_label="small", description="ours"),
        Measurement(1, [0.0111], "f", label="products", sub_label="large", description="ours"),
        Measurement(1, [0.02], "f", label="products", sub_label="large", description="theirs", num_threads=2),
    ]
    table = Compare(results)
    lines = str(table).splitlines()
    assert "[ products ]" in lines[0] and [cell.strip() for cell in lines[1].split("|")] == ["", "ours", "theirs"]
    assert lines[2] == "1 thread:" and [cell.strip() for cell in lines[3].split("|")] == ["small", "3.0", ""]
    assert [cell.strip() for cell in lines[6].split("|")] == ["large", "", "20.0"]
    assert lines[-1] == "Times are in milliseconds (ms)."
    table.trim_significant_figures()
    table.colorize()
    assert " 11.1 " in str(table)
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`"):
        Compare([3])
