"""A regression of 3 % is seen; noise alone, and what is common to both commits, is not."""

import numpy as np
import pytest

from benchmarks.compare.statistics import verdict


def launches(ratio, seed, rounds=30, count=3):
    """Samples of a busy machine: jitter of 2 %, moments in which both are slower, spikes, and launches that differ."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        moment = np.exp(0.05 * rng.standard_normal(rounds))
        base, head = (moment * (1 + np.abs(0.02 * rng.standard_normal(rounds))) for _ in range(2))
        for samples in (base, head):
            samples[rng.integers(0, rounds, 3)] *= rng.uniform(1.5, 4, 3)
        head = head * ratio * (1 + 0.002 * rng.standard_normal())
        found.append((list(1e-6 * base), list(1e-6 * head)))
    return found


@pytest.mark.parametrize("seed", range(20))
def test_a_planted_regression_is_found(seed):
    seen = verdict(launches(1.05, seed))
    assert seen.regressed and seen.word == "slower"
    assert abs(seen.ratio - 1.05) < 0.02


def test_three_per_cent_are_found():
    """In all but a few of a hundred."""
    assert sum(verdict(steady(1.03, seed)).regressed for seed in range(100)) >= 97


def test_noise_alone_is_none():
    assert not any(verdict(launches(1.0, seed)).regressed for seed in range(100))
    assert not any(verdict(steady(1.0, seed)).regressed for seed in range(100))


def steady(ratio, seed, rounds=30, count=3):
    """Samples of the hot path as time on the processor: jitter of 1 %, a spike now and then."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        base, head = (1 + np.abs(0.01 * rng.standard_normal(rounds)) for _ in range(2))
        for samples in (base, head):
            samples[rng.integers(0, rounds, 2)] *= rng.uniform(1.1, 2, 2)
        found.append((list(base), list(head * ratio)))
    return found


def test_an_improvement_is_no_regression():
    seen = verdict(launches(0.9, 0))
    assert seen.improved and not seen.regressed and seen.word == "faster"


def test_less_than_the_threshold_is_no_regression():
    assert not verdict(steady(1.015, 0)).regressed
    assert verdict(steady(1.015, 0), threshold=0.005).regressed


def test_launches_that_differ_are_noise():
    """Where memory happens to lie, one process is slower than the other by 10 %, in every other launch."""
    samples = [(list(np.full(30, 1.0)), list(np.full(30, ratio))) for ratio in (1.1, 0.98, 1.1)]
    seen = verdict(samples)
    assert seen.noise >= 0.06 and not seen.regressed
