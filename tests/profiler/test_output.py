"""Output of a profile: averages, tables, traces, stacks."""

import doctest
import gzip
import json
import re

import pytest

import gradsmith as gs
from gradsmith.profiler import profile, record_function, schedules, session


@pytest.fixture(scope="module")
def prof():
    x = gs.ones((4, 3), requires_grad=True)
    w = gs.ones((3, 2), requires_grad=True)
    with profile(record_shapes=True, profile_memory=True, with_stack=True, with_flops=True) as made:
        for step in range(2):
            with record_function("step", f"number {step}"):
                h = (x @ w).tanh()
                (h * h[:1]).sum().backward()
        gs.std(gs.ones(3, 3), 0, unbiased=False)
    return made


# ---- averages


def test_averages_add_up(prof):
    events, averages = prof.events(), prof.key_averages()
    assert sum(row.count for row in averages) == len(events)
    spent = sum(event.cpu_time_total for event in events if event.cpu_parent is None)
    assert averages.self_cpu_time_total == pytest.approx(spent)
    assert events.self_cpu_time_total == pytest.approx(spent)
    total = averages.total_average()
    assert total.key == "Total"
    assert (total.count, total.flops) == (events.total_average().count, events.total_average().flops)
    assert total.cpu_time_total == pytest.approx(spent)
    assert total.cpu_memory_usage == sum(e.cpu_memory_usage for e in events if e.cpu_parent is None)


def test_an_average_is_the_sum_of_its_events(prof):
    (row,) = [row for row in prof.key_averages() if row.key == "tanh"]
    events = [event for event in prof.events() if event.name == "tanh"]
    assert row.count == len(events) == 2
    assert row.cpu_time_total == pytest.approx(sum(event.cpu_time_total for event in events))
    assert row.cpu_time == pytest.approx(row.cpu_time_total / 2)
    assert row.cpu_memory_usage == 2 * 4 * 2 * 4


def test_an_event_inside_another_of_its_name_counts_its_time_once(prof):
    (row,) = [row for row in prof.key_averages() if row.key == "std"]
    outer, inner = [event for event in prof.events() if event.name == "std"]
    assert inner.cpu_parent is outer
    assert row.count == 2
    assert row.cpu_time_total == outer.cpu_time_total
    assert row.self_cpu_time_total == pytest.approx(outer.self_cpu_time_total + inner.self_cpu_time_total)


def test_groups_by_shape_and_by_stack(prof):
    products = [row for row in prof.key_averages(group_by_input_shape=True) if row.key == "matmul"]
    assert sorted(str(row.input_shapes) for row in products) == [
        "[(3, 4), (4, 2)]",
        "[(4, 2), (2, 3)]",
        "[(4, 3), (3, 2)]",
    ]
    assert [row.count for row in products] == [2, 2, 2]
    by_line = [row for row in prof.key_averages(group_by_stack_n=1) if row.key == "matmul"]
    assert [row.count for row in by_line] == [2, 4]  # the line of the forward, and that of the backward
    assert all(len(row.stack) == 1 for row in by_line)


def test_groups_need_what_they_group_by():
    with profile() as plain:
        gs.ones(2) * 2
    with pytest.raises(ValueError, match="record_shapes=True"):
        plain.key_averages(group_by_input_shape=True)
    with pytest.raises(ValueError, match="with_stack=True"):
        plain.key_averages(group_by_stack_n=2)


# ---- tables


def test_a_table():
    with profile() as plain, record_function("block"):
        gs.ones(2) * 2
    lines = plain.key_averages().table(sort_by="count", header="Steps").splitlines()
    assert lines[0] == "Steps"
    assert re.split(r"\s{2,}", lines[2]) == [
        "Name",
        "Self CPU %",
        "Self CPU",
        "CPU total %",
        "CPU total",
        "CPU time avg",
        "# of Calls",
    ]
    assert re.fullmatch(r"block +[\d.]+% +[\d.]+[mu]s +100\.00% +[\d.]+[mu]s +[\d.]+[mu]s +1", lines[4])
    assert lines[5].startswith("mul ")
    assert lines[1] == lines[3] == lines[6]
    assert set(lines[1]) == {"-", " "}
    assert re.fullmatch(r"Self CPU time total: [\d.]+[mu]?s", lines[7])


def test_columns_of_what_was_recorded(prof):
    title = prof.key_averages(True, 1).table().splitlines()[1]
    for column in ("CPU Mem", "Self CPU Mem", "Input Shapes", "Source Location", "Total FLOPs"):
        assert column in title
    title = prof.key_averages().table().splitlines()[1]
    assert "Input Shapes" not in title and "Source Location" not in title


@pytest.mark.parametrize("key", ["cpu_time", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "count"])
def test_sorted_tables(prof, key):
    averages = prof.key_averages()
    lines = averages.table(sort_by=key, row_limit=3, max_name_column_width=-1).splitlines()[3:-2]
    expected = sorted(averages, key=lambda row: -getattr(row, key))[:3]
    assert [line.split("  ")[0] for line in lines] == [row.key for row in expected]


def test_limits_of_a_table(prof):
    events = prof.events()
    assert len(events.table(row_limit=-1).splitlines()) == len(events) + 5
    top = events.table(top_level_events_only=True, row_limit=-1).splitlines()[3:-2]
    assert [line.split()[0] for line in top] == ["step", "step", "std"]
    assert "Accumu..." in events.table(max_name_column_width=9, row_limit=-1)
    with pytest.raises(AttributeError, match="cannot sort by 'color'; there are cpu_time, "):
        events.table(sort_by="color")


def test_a_table_of_nothing():
    with profile() as nothing:
        pass
    assert nothing.key_averages().table().endswith("Self CPU time total: 0.000us\n")
    assert nothing.key_averages().total_average().count == 0


# ---- traces


def trace_of(prof, path):
    prof.export_chrome_trace(path)
    return json.loads(path.read_text())


def test_a_trace_has_a_bar_for_each_event(prof, tmp_path):
    trace = trace_of(prof, tmp_path / "trace.json")
    assert trace["displayTimeUnit"] == "ms"
    bars = [record for record in trace["traceEvents"] if record["ph"] == "X"]
    assert len(bars) == len(prof.events())
    for bar, event in zip(bars, prof.events()):
        assert bar["name"] == event.name
        assert bar["ts"] == event.time_range.start
        assert bar["dur"] == pytest.approx(event.cpu_time_total)
        assert bar["tid"] == event.thread
        assert isinstance(bar["pid"], int)
    assert {bar["cat"] for bar in bars} == {"cpu_op", "autograd_node", "user_annotation"}
    steps = [bar["args"]["Arguments"] for bar in bars if bar["name"] == "step"]
    assert steps == ["number 0", "number 1"]
    assert any(bar["args"].get("Input Dims") == [[4, 3], [3, 2]] for bar in bars)


def test_bars_of_a_thread_nest(prof, tmp_path):
    """Viewers draw a bar inside another only when it does not reach out of it."""
    bars = [record for record in trace_of(prof, tmp_path / "t.json")["traceEvents"] if record["ph"] == "X"]
    around = []
    for bar in bars:
        end = bar["ts"] + bar["dur"]
        while around and around[-1] <= bar["ts"]:
            around.pop()
        assert not around or end <= around[-1] + 1e-6
        around.append(end)


def test_arrows_lead_from_ops_to_their_nodes(prof, tmp_path):
    records = trace_of(prof, tmp_path / "trace.json")["traceEvents"]
    starts = {record["id"]: record for record in records if record["ph"] == "s"}
    ends = {record["id"]: record for record in records if record["ph"] == "f"}
    assert starts.keys() == ends.keys()
    events = {event.id: event for event in prof.events()}
    assert set(starts) == {event.id for event in prof.events() if event.forward is not None}
    for number, end in ends.items():
        assert end["bp"] == "e"
        assert end["ts"] == events[number].time_range.start
        assert starts[number]["ts"] == events[number].forward.time_range.start < end["ts"]
        assert starts[number]["cat"] == end["cat"] == "fwdbwd"


def test_metadata_and_memory_of_a_trace(prof, tmp_path):
    records = trace_of(prof, tmp_path / "trace.json")["traceEvents"]
    assert [r["name"] for r in records if r["ph"] == "M"] == ["process_name", "thread_name"]
    curve = [r["args"]["bytes"] for r in records if r["ph"] == "C"]
    assert curve == [event.memory_after for event in prof.events()]
    assert max(curve) > 0
    assert {r["ph"] for r in records} == {"M", "X", "s", "f", "C"}


def test_a_compressed_trace(prof, tmp_path):
    prof.export_chrome_trace(tmp_path / "trace.json.gz")
    with gzip.open(tmp_path / "trace.json.gz", "rt") as file:
        assert json.load(file)["traceEvents"]


# ---- stacks


def test_stacks(prof, tmp_path):
    prof.export_stacks(tmp_path / "stacks")
    lines = (tmp_path / "stacks").read_text().splitlines()
    for line in lines:
        frames, number = line.rsplit(" ", 1)
        assert int(number) > 0
        assert "test_output.py" in frames
        assert " " not in frames
    assert any(line.rsplit(" ", 1)[0].endswith(";matmul") for line in lines)
    prof.export_stacks(str(tmp_path / "memory"), "self_cpu_memory_usage")
    assert re.search(r";tanh 32$", (tmp_path / "memory").read_text(), re.MULTILINE)


def test_stacks_need_stacks(prof, tmp_path):
    with pytest.raises(ValueError, match="metric should be one of self_cpu_time_total"):
        prof.export_stacks(tmp_path / "stacks", "self_cuda_time_total")
    with profile() as plain:
        gs.ones(2) * 2
    with pytest.raises(ValueError, match="with_stack=True"):
        plain.export_stacks(tmp_path / "stacks")


# ---- documentation


@pytest.mark.parametrize("module", [schedules, session])
def test_examples_in_docstrings(module):
    failed, attempted = doctest.testmod(module)
    assert attempted and not failed


def test_the_example_of_record_function():
    test = doctest.DocTestParser().get_doctest(record_function.__doc__, {}, "record_function", None, 0)
    failed, attempted = doctest.DocTestRunner().run(test)
    assert attempted and not failed
