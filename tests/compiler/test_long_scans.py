"""Scans of 10^5 and 10^6 steps in compiled functions: what they cost is bounded by what they keep."""

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest

import gradsmith as gs

pytestmark = pytest.mark.filterwarnings("error:compile")

MILLION = 1_000_000


def lorenz(n: int, checkpoint: Any = None) -> Any:
    """Value and gradients of the end of a trajectory."""

    def step(state: Any, _: Any) -> Any:
        x, y, z = state
        return (
            x + 1e-5 * (10 * (y - x)),
            y + 1e-5 * (x * (28 - z) - y),
            z + 1e-5 * (x * y - 8 / 3 * z),
        ), None

    def end(x: Any, y: Any, z: Any) -> Any:
        (x, y, z), _ = gs.scan(step, (x, y, z), length=n, checkpoint=checkpoint)
        return x + y + z

    return gs.func.value_and_grad(end, (0, 1, 2))


def start() -> list[Any]:
    return [gs.tensor(number, dtype=gs.float64) for number in (1.0, 1.1, 1.2)]


def test_as_eager() -> None:
    value, slopes = gs.compile(lorenz(10_000))(*start())
    expected, others = lorenz(10_000)(*start())
    assert value.item() == expected.item() and [one.item() for one in slopes] == [one.item() for one in others]


def peak_of(function: Any, *given: Any) -> int:
    """Bytes that were held at the same time, beyond those before; NumPy's arrays are counted."""
    function(*given)
    tracemalloc.start()
    try:
        function(*given)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("checkpoint, most_bytes", [(None, 64 * MILLION), ("sqrt", MILLION), (5000, MILLION)])
def test_memory_of_a_million_steps(checkpoint: Any, most_bytes: int) -> None:
    compiled = gs.compile(lorenz(MILLION, checkpoint))
    assert peak_of(compiled, *start()) < most_bytes
    (program,) = compiled.programs
    assert program.cost().memory < most_bytes
    assert program.cost().ops["mul"] >= 7 * MILLION
    assert int(compiled.explain(*start()).split()[1]) < 60  # steps of the program


def test_checkpoints_give_the_same() -> None:
    value, slopes = gs.compile(lorenz(MILLION))(*start())
    for checkpoint in ("sqrt", 777):
        other, others = gs.compile(lorenz(MILLION, checkpoint))(*start())
        assert other.item() == value.item() and [one.item() for one in others] == [one.item() for one in slopes]


def test_a_closed_form() -> None:
    """x' = a x + b in a million steps, with first and second derivatives."""

    def end(x: Any, a: Any) -> Any:
        return gs.scan(lambda x, _: (x * a, None), x, length=MILLION)[0]

    x, a = gs.tensor(2.0, dtype=gs.float64), gs.tensor(1 - 1e-6, dtype=gs.float64)
    power = 2 * math.exp((MILLION - 1) * math.log1p(-1e-6))
    slopes = gs.compile(gs.func.grad(end, (0, 1)))(x, a)
    assert [one.item() for one in slopes] == pytest.approx([power / 2 * a.item(), power * MILLION], rel=1e-9)
    second = gs.compile(gs.func.grad(lambda x, a: gs.func.grad(end, 1)(x, a), 1))(x, a)
    assert second.item() == pytest.approx(power / a.item() * MILLION * (MILLION - 1), rel=1e-8)


@pytest.mark.parametrize("checkpoint", [None, "sqrt"])
def test_rows_and_results_of_many_steps(checkpoint: Any) -> None:
    """A filter, whose gradient is the filter the other way round."""
    n = 100_000
    rng = np.random.default_rng(0)
    rows, weights = rng.standard_normal(n), rng.standard_normal(n)

    def filtered(rows: Any, decay: Any) -> Any:
        _, y = gs.scan(lambda h, row: (h := decay * h + row, h), rows[0] * 0, rows, checkpoint=checkpoint)
        return (y * gs.tensor(weights)).sum()

    compiled = gs.compile(gs.func.grad(filtered, (0, 1)))
    slopes = compiled(gs.tensor(rows), gs.tensor(0.9, dtype=gs.float64))
    found, expected, size = 0.0, np.empty(n), 0.0
    states = np.empty(n)
    for number, row in enumerate(rows):
        size = 0.9 * size + row
        states[number] = size
    for number in reversed(range(n)):
        found = 0.9 * found + weights[number]
        expected[number] = found
    np.testing.assert_allclose(slopes[0].numpy(), expected, 1e-10, 1e-12)
    assert slopes[1].item() == pytest.approx(float(expected[1:] @ states[:-1]), rel=1e-9)


def test_ops_that_are_no_loops() -> None:
    """A step that needs Python is called for each, but traced once."""

    def end(x: Any, n: Any) -> Any:
        return gs.scan(lambda s, _: ((s[0] + 1, gs.roll(s[1], 1, 0) * 0.999), None), (n, x), length=5000)[0]

    given = gs.ones(3, dtype=gs.float64), gs.tensor(0)
    for found, expected in zip(gs.compile(end)(*given), end(*given)):
        assert gs.equal(found, expected)


def test_an_interrupt_ends_it() -> None:
    import signal

    compiled = gs.compile(lorenz(MILLION))
    expected, _ = compiled(*start())

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 1e-3)
            for _ in range(10_000):
                compiled(*start())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert compiled(*start())[0].item() == expected.item()
