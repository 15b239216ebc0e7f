"""Rounds are interleaved, samples last as long as they should, and waiting for idle cores ends."""

import gc
import itertools
import time

import pytest

from benchmarks.measure import idle, timing
from benchmarks.measure.timing import interleave, readable, sample


def test_rounds_time_each_contestant_in_turn():
    calls, runs = [], {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}
    samples = interleave(runs, rounds=3, target=0.0, before=lambda: calls.append("|"))
    assert {name: len(found) for name, found in samples.items()} == {"a": 3, "b": 3}
    assert "".join(calls).partition("|")[2] == "ab|ab|ab"


def test_a_sample_lasts_about_its_time(monkeypatch):
    seconds = itertools.chain([0.1], itertools.repeat(0.001))  # the first is disturbed
    monkeypatch.setattr(timing, "sample", lambda run, repeats: next(seconds))
    assert 10 <= timing.calibrate(lambda: None, target=0.01) <= 20


def test_seconds_are_of_one_call():
    clock = iter([0.0, 12.0])
    assert sample(lambda: None, 4, clock=lambda: next(clock)) == 3.0


def test_the_collector_runs_again_when_a_contestant_fails():
    def fail():
        if not gc.isenabled():
            raise KeyError

    with pytest.raises(KeyError):
        interleave({"a": fail}, rounds=1, target=0.0)
    assert gc.isenabled()


def test_patience_ends(monkeypatch):
    monkeypatch.setattr(idle, "busy_cores", lambda: 100.0)
    patience = idle.Patience(1, seconds=0.1)
    start = time.perf_counter()
    patience.wait()
    patience.wait()
    assert time.perf_counter() - start < 1 and patience.load == 100.0


def test_busy_cores_are_counted():
    cores = idle._cores()
    assert 0 <= idle.busy_cores(0.1) <= cores


def test_numbers_are_readable():
    assert readable(3.2e-9) == "3.2 ns" and readable(0.25) == "250 ms" and readable(12.0) == "12 s"
    assert readable(3 * 2**20, "bytes") == "3 MiB"
