"""Loops of Python that a program rolls up again, against eager, bit for bit."""

import random
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.compiler.plans.periods import Period, periods
from gradsmith.utils import pytree

pytestmark = pytest.mark.filterwarnings("error:compile")  # a program that does not repeat its run


def leaves_of(tree: Any) -> list[Any]:
    return pytree.flatten(tree)[0]


def gradient_of(function: Any, n: int) -> Any:
    """Value and gradients, in one list."""
    both = gs.func.value_and_grad(function, tuple(range(n)))

    def flat(*given: Any) -> Any:
        value, gradients = both(*given)
        return (value, *gradients)

    return flat


def check(function: Any, *shapes: tuple[int, ...], most_steps: int | None = None, dtype: Any = np.float64) -> None:
    """Compiled and eager agree on three sets of numbers; and the program is no longer than `most_steps`."""
    compiled = gs.compile(function)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        given = [gs.tensor((rng.standard_normal(shape) * 0.5).astype(dtype)) for shape in shapes]
        found, expected = leaves_of(compiled(*given)), leaves_of(function(*given))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one.numpy(), other.numpy())
    assert len(compiled.programs) == 1
    if most_steps is not None:
        text = compiled.explain(*given)
        assert int(text.split()[1]) <= most_steps, text


def euler(y: Any, w: Any) -> Any:
    for _ in range(100):
        y = y + 0.01 * gs.tanh(w @ y)
    return (y * y).sum()


def lorenz(x: Any, y: Any, z: Any) -> Any:
    for _ in range(60):
        x, y, z = x + 0.01 * (10 * (y - x)), y + 0.01 * (x * (28 - z) - y), z + 0.01 * (x * y - 8 / 3 * z)
    return x + y + z


def stacked(y: Any) -> Any:
    for i in range(50):
        y = y + 0.01 * gs.stack([10 * (y[1] - y[0]) + 0.01 * i, y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])
    return (y * y).sum()


def two_back(x: Any, y: Any) -> Any:
    for i in range(40):
        x, y = y, 1.5 * y - 0.6 * x + 0.1 * i
    return (x * y).sum()


def of_rows(rows: Any, w: Any) -> Any:
    h = gs.zeros(3, dtype=rows.dtype)
    for i in range(40):
        h = gs.tanh(w @ h + rows[i])
    return h.sum()


def of_all_states(x: Any) -> Any:
    states = [x]
    for _ in range(30):
        states.append(gs.sin(states[-1]) + 0.5 * states[len(states) // 2])
    return gs.stack(states).sum()


def written(x: Any) -> Any:
    total = gs.zeros(4, dtype=x.dtype)
    for i in range(30):
        x = x * 1.01
        total[i % 4] = total[i % 4] + x.sum()
    return total.sum()


@pytest.mark.parametrize(
    "function, shapes, most_steps",
    [
        (euler, [(4,), (4, 4)], 40),
        (lorenz, [(), (), ()], 130),
        (stacked, [(3,)], 110),
        (two_back, [(3,), (3,)], 60),
        (of_rows, [(40, 3), (3, 3)], 60),
        (of_all_states, [(3,)], None),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_and_gradients(function: Any, shapes: Any, most_steps: int | None, dtype: Any) -> None:
    check(function, *shapes, dtype=dtype)
    check(gradient_of(function, len(shapes)), *shapes, most_steps=most_steps, dtype=dtype)


def test_writes_in_turns() -> None:
    check(written, (4,))
    check(gradient_of(written, 1), (4,))


@pytest.mark.parametrize("checkpoint", [None, 7, "sqrt"])
def test_a_scan_is_a_loop(checkpoint: Any) -> None:
    def loss(x: Any, w: Any, rows: Any) -> Any:
        def step(state: Any, row: Any) -> Any:
            state = gs.tanh(w @ state + row)
            return state, state.sum()

        state, sums = gs.scan(step, x, rows, checkpoint=checkpoint)
        return (state * state).sum() + sums.sum()

    compiled = gs.compile(gradient_of(loss, 2))
    for seed in range(3):
        rng = np.random.default_rng(seed)
        given = [gs.tensor(rng.standard_normal(shape) * 0.5) for shape in ((3,), (3, 3), (60, 3))]
        for found, expected in zip(compiled(*given), gradient_of(loss, 2)(*given), strict=True):
            np.testing.assert_allclose(found.numpy(), expected.numpy(), 1e-13, 1e-13)
    assert int(compiled.explain(*given).split()[1]) < 60


def test_results_of_each_turn() -> None:
    """They leave the program: new arrays in each run."""

    def states(x: Any) -> list[Any]:
        found = []
        for _ in range(30):
            x = gs.cos(x) * 0.9 + 0.1 * x * x
            found.append(x)
        return found

    check(states, (3,))
    compiled, x = gs.compile(states), gs.ones(3)
    compiled(x)
    first = compiled(x)
    kept = [one.clone() for one in first]
    compiled(x * 2)
    assert all(gs.equal(one, other) for one, other in zip(first, kept))


def test_second_derivatives() -> None:
    check(gs.func.hessian(lambda x: euler(x, gs.ones(3, 3, dtype=x.dtype) * 0.1)), (3,))
    check(lambda x, t: gs.func.jvp(gs.func.grad(stacked), (x,), (t,)), (3,), (3,))


def test_an_interrupt_ends_a_long_loop() -> None:
    import signal

    def long(x: Any) -> Any:
        for _ in range(20_000):  # it looks for signals after each 2**14
            x = x * 1.0000001 + 1e-9 * x * x - 1e-12
        return x

    compiled, x = gs.compile(long), gs.ones(4, dtype=gs.float64)
    compiled(x)
    expected = compiled(x)

    def stop(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 1e-4)
            for _ in range(1000):
                compiled(x)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert gs.equal(compiled(x), expected)


def test_periods() -> None:
    body = [5, 6, 7, 5, 5]
    found = periods(np.array([1, 2, 3, *body * 20, 9, 9, *[4, 8] * 30]))
    assert [(p.length, p.count * p.length) for p in found] == [(5, 100), (2, 60)]
    assert periods(np.arange(1000)) == []
    assert periods(np.zeros(0, np.int64)) == []
    assert Period(2, 3, 4).end == 14


# ---- random loops


KINDS = ["tanh", "sin", "add", "sub", "mul", "scale", "shift", "index", "stack", "write", "sum", "row", "draw"]


def random_body(rng: random.Random) -> list[tuple[Any, ...]]:
    """Ops on values: the newest ones of this turn, those of turns before, an input, and numbers."""
    ops = []
    for _ in range(rng.randint(3, 9)):
        kind = rng.choice(KINDS)
        ops.append((kind, rng.randint(1, 6), rng.randint(1, 6), rng.choice([0.5, 0.9, -0.3])))
    return ops


def run_body(body: list[tuple[Any, ...]], turns: int, x: Any, rows: Any) -> Any:
    values = [x, x * 0.5, x + 0.25, gs.cos(x), x * x, gs.tanh(x)]
    for turn in range(turns):
        for kind, i, j, number in body:
            a, b = values[-i], values[-j]
            if kind in ("tanh", "sin"):
                made = getattr(gs, kind)(a)
            elif kind in ("add", "sub", "mul"):
                made = getattr(gs, kind)(a, b) * 0.5
            elif kind == "scale":
                made = a * number
            elif kind == "shift":
                made = a * 0.5 + number * turn * 0.01
            elif kind == "index":
                made = b * 0.5 + a[1]
            elif kind == "stack":
                made = gs.stack([a[0], b[1], a[2] * number])
            elif kind == "write":
                made = a * 1.0
                made[j % 3] = b[i % 3] * number
                made.mul_(number)
            elif kind == "draw":
                made = a * 0.5 + 0.1 * gs.rand(3, dtype=a.dtype)
            elif kind == "sum":
                made = b * 0.5 + a.sum() * 0.1
            else:
                made = gs.tanh(a + rows[turn % len(rows)])
            values.append(made)
        values = values[-8:]
    return values[-1] + values[-2]


def drawn(seed: int, function: Any, given: list[Any]) -> Any:
    gs.manual_seed(seed)
    return function(*given)


def check_random(seed: int) -> None:
    rng = random.Random(seed)
    body, turns = random_body(rng), rng.choice([7, 12, 20, 33])

    def value(x: Any, rows: Any) -> Any:
        return run_body(body, turns, x, rows).sum()

    function = gradient_of(value, 2) if seed % 2 else value
    compiled = gs.compile(function)
    for other in (seed, seed + 1, seed + 2):
        numbers = np.random.default_rng(other)
        given = [gs.tensor(numbers.standard_normal(3)), gs.tensor(numbers.standard_normal((5, 3)))]
        found, expected = [leaves_of(drawn(other, call, given)) for call in (compiled, function)]
        for one, two in zip(found, expected, strict=True):
            np.testing.assert_allclose(one.numpy(), two.numpy(), 1e-12, 1e-12, err_msg=f"{seed}: {body} x {turns}")


def test_random_loops() -> None:
    for seed in range(60):
        check_random(seed)


@pytest.mark.long
def test_many_random_loops() -> None:
    for seed in range(1000, 9000):
        check_random(seed)


def every_form(x: Any, y: Any) -> Any:
    """Each operation on what the step before has made, as first, second or both operands, and on other values."""
    operations = [lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: -a]
    found = []
    for operation in operations:
        for _ in range(3):
            last = x * y
            last = operation(last, y)
            last = operation(x, last)
            last = operation(last, last)
            x = operation(y, x) * 0.25 + last
            found.append(x)
    return (*found, x.float() + x.double())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_single_elements(dtype: Any) -> None:
    check(every_form, (), (), dtype=dtype)
    check(lambda x, y: every_form(x, y)[-1] * y, (1,), (1, 1), dtype=dtype)
    check(gradient_of(lambda x, y: sum(every_form(x, y)[:-1]) - (x - y), 2), (), (), dtype=dtype)


def of_rows_and_columns(m: Any, row: Any, column: Any) -> Any:
    for _ in range(4):
        m = -(m * row + column) / (1 + row * row) - (column - m) * row
    return m, -row.expand(m.shape), -m[:, 1:4], m[:, ::2] - column, m[1:, 1] * row[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows(dtype: Any) -> None:
    check(of_rows_and_columns, (3, 5), (5,), (3, 1), dtype=dtype)
    check(of_rows_and_columns, (3, 5), (1,), (1,), dtype=dtype)
    check(gradient_of(lambda *given: of_rows_and_columns(*given)[0].sum(), 3), (3, 40), (40,), (3, 1), dtype=dtype)
