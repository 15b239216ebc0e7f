"""Profiles that record some steps of many."""

import json
import warnings

import pytest

import gradsmith as gs
from gradsmith.profiler import ProfilerAction, profile, schedule, tensorboard_trace_handler

NONE, WARMUP, RECORD, SAVE = ProfilerAction


def actions(made, count):
    return [made(step) for step in range(count)]


def test_a_schedule():
    made = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    cycle = [NONE, WARMUP, RECORD, SAVE]
    assert actions(made, 12) == [NONE, *cycle, *cycle, NONE, NONE, NONE]


def test_a_schedule_without_end_or_first_wait():
    assert actions(schedule(wait=1, warmup=1, active=1), 7) == [NONE, WARMUP, SAVE, NONE, WARMUP, SAVE, NONE]
    made = schedule(wait=2, warmup=1, active=1, skip_first=1, skip_first_wait=1)
    assert actions(made, 8) == [NONE, WARMUP, SAVE, NONE, NONE, WARMUP, SAVE, NONE]


def test_a_schedule_without_warmup_warns():
    with pytest.warns(UserWarning, match="skew"):
        made = schedule(wait=0, warmup=0, active=1)
    assert actions(made, 2) == [SAVE, SAVE]


@pytest.mark.parametrize("wrong", [{"wait": -1}, {"warmup": -1}, {"active": 0}, {"repeat": -1}, {"skip_first": -1}])
def test_schedules_that_make_no_sense(wrong):
    (text,) = (f"{name}={value}" for name, value in wrong.items())
    with pytest.raises(AssertionError, match=text):
        schedule(**{"wait": 1, "warmup": 1, "active": 1} | wrong)
    with pytest.raises(AssertionError, match="non-negative"):
        schedule(wait=0, warmup=1, active=1)(-1)


def run(prof, steps):
    for _ in range(steps):
        gs.ones(2) * prof.step_num
        prof.step()


def test_steps_are_recorded_as_the_schedule_says():
    handed_over = []
    with profile(
        schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
        on_trace_ready=lambda p: handed_over.append((p.step_num, [e.name for e in p.events()])),
    ) as prof:
        run(prof, 10)
    assert handed_over == [
        (4, ["ProfilerStep#2", "mul", "ProfilerStep#3", "mul"]),
        (8, ["ProfilerStep#6", "mul", "ProfilerStep#7", "mul"]),
    ]
    assert [event.name for event in prof.events()] == handed_over[-1][1]
    assert prof.current_action is NONE


def test_cycles_next_to_each_other():
    handed_over = []
    cycles = {0: WARMUP, 1: SAVE, 2: SAVE, 3: RECORD, 4: SAVE}
    with profile(
        schedule=lambda step: cycles.get(step, NONE),
        on_trace_ready=lambda p: handed_over.append([e.name for e in p.events() if e.kind == "user"]),
    ) as prof:
        run(prof, 6)
    assert handed_over == [["ProfilerStep#1"], ["ProfilerStep#2"], ["ProfilerStep#3", "ProfilerStep#4"]]


def test_events_of_all_cycles():
    with profile(schedule=schedule(wait=1, warmup=1, active=1, repeat=2), acc_events=True) as prof:
        run(prof, 6)
    assert [e.name for e in prof.events() if e.kind == "user"] == ["ProfilerStep#2", "ProfilerStep#5"]
    assert prof.key_averages().total_average().count == 4
    assert [(row.key, row.count) for row in prof.key_averages()] == [("ProfilerStep*", 2), ("mul", 2)]


def test_a_profile_that_ends_early_hands_over_what_it_has():
    handed_over = []
    with profile(schedule=lambda step: RECORD, on_trace_ready=lambda p: handed_over.append(len(p.events()))) as prof:
        run(prof, 2)
    assert handed_over == [5]  # two steps and their ops, and the third step


def test_without_a_schedule_everything_is_recorded_once():
    handed_over = []
    with profile(on_trace_ready=handed_over.append) as prof:
        run(prof, 3)
        assert prof.step_num == 3
    assert handed_over == [prof]
    assert [event.name for event in prof.events()] == ["mul"] * 3


def test_schedules_that_stop_in_the_middle():
    for first in (WARMUP, RECORD):
        prof = profile(schedule=lambda step, first=first: first if step == 0 else NONE)
        with pytest.warns(UserWarning, match=f"Incorrect schedule: {first.name} followed by NONE"), prof:
            run(prof, 2)
        with pytest.raises(AssertionError, match="nothing has been recorded"):
            prof.events()


def test_a_profile_that_ends_while_it_warms_up():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with profile(schedule=lambda step: WARMUP) as prof:
            run(prof, 2)
    with pytest.raises(AssertionError):
        prof.events()


def test_a_schedule_that_gives_something_else():
    prof = profile(schedule=lambda step: 3)
    with pytest.raises(TypeError, match="ProfilerAction, got 3 for step 0"):
        prof.start()
    with profile() as other:
        gs.ones(2) * 2
    assert len(other.events()) == 1


def test_a_handler_that_raises_leaves_nothing_on():
    def refuse(prof):
        raise OSError("disk full")

    limit = gs.get_cache_limit()
    prof = profile(schedule=schedule(wait=0, warmup=1, active=1), on_trace_ready=refuse, profile_memory=True)
    with pytest.raises(OSError, match="disk full"), prof:
        run(prof, 3)
    assert [event.name for event in prof.events()] == ["ProfilerStep#1", "mul"]
    assert gs.get_cache_limit() == limit
    with profile() as other:
        gs.ones(2) + 2
    assert [event.name for event in other.events()] == ["add"]


def test_started_again():
    prof = profile()
    for _ in range(2):
        prof.start()
        gs.ones(2) * 2
        prof.stop()
    assert len(prof.events()) == 1


def test_traces_in_a_folder(tmp_path):
    folder = tmp_path / "runs" / "first"
    for compressed in (False, True):
        with profile(on_trace_ready=tensorboard_trace_handler(folder, "worker", use_gzip=compressed)):
            gs.ones(2) * 2
    plain, packed = sorted(folder.iterdir(), key=lambda path: len(path.name))
    assert plain.name.startswith("worker.") and plain.name.endswith(".pt.trace.json")
    assert packed.name.endswith(".pt.trace.json.gz")
    assert [record["name"] for record in json.loads(plain.read_text())["traceEvents"] if record["ph"] == "X"] == ["mul"]
