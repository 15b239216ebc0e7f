"""The model of benchmarks/scaling."""

import pytest

from benchmarks.scaling import tables
from benchmarks.scaling.model import Network, Prediction, Step, fitted

NETWORK = Network("it", 5e-6, 2e9)
SIZES = [8, 1000, 10**5, 10**7]
STEP = Step(alone=0.03, silent=0.032, parallel=0.036, buckets=(10**6, 7 * 10**6))


@pytest.mark.parametrize("ranks", [2, 4])
def test_parameters_are_found_again(ranks):
    found = fitted("it", ranks, SIZES, [NETWORK.ring(size, ranks) for size in SIZES])
    assert found.latency == pytest.approx(5e-6) and found.bandwidth == pytest.approx(2e9)


def test_formulas():
    assert NETWORK.ring(8000, 4) == pytest.approx(6 * 5e-6 + 1.5 * 8000 / 2e9)
    assert NETWORK.halving(8000, 4) == pytest.approx(4 * 5e-6 + 1.5 * 8000 / 2e9)
    assert STEP.communication(NETWORK, 2) == pytest.approx(4 * 5e-6 + 8e6 / 2e9)


@pytest.mark.parametrize("parallel", [0.03201, 0.034, 0.05])
def test_the_measured_step_is_explained(parallel):
    step = STEP._replace(parallel=parallel)
    found = Prediction(step, step.overlap(NETWORK, 2), step.rest(NETWORK, 2))
    assert found.time(step.communication(NETWORK, 2)) == pytest.approx(parallel)
    assert found.efficiency(0) == step.alone / (step.silent + found.rest)
    assert (found.overlap == 0) == (parallel > 0.0361) and (found.rest > 0) == (parallel > 0.0361)


def test_tables_are_put_in_their_places():
    new = tables.of_networks([NETWORK], NETWORK)
    old = "\n".join([new[0], new[1], "| before | measured | 1.0 µs | 1 GB/s |"])
    page = tables.refreshed(f"Words.\n\n{old}\n\n| other |\n| --- |\n", [new])
    assert page == "Words.\n\n" + "\n".join(new) + "\n\n| other |\n| --- |\n"


def test_the_page_has_the_tables():
    text = tables.PAGE.read_text(encoding="utf-8")
    for one in (
        tables.of_messages(SIZES, [1.0] * 4, NETWORK, 2), tables.of_steps(Prediction(STEP, 0.5, 0), "a processor", 2),
        tables.of_networks([NETWORK], NETWORK), tables.of_predictions(Prediction(STEP, 0.5, 0), [NETWORK]),
    ):  # fmt: skip
        assert one[0] in text.splitlines()
