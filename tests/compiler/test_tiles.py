"""Elementwise steps on large arrays, which a program runs together, against eager."""

import random
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.compiler.plans.native import MOST_IN_BLOCK, TILE

pytestmark = pytest.mark.filterwarnings("error:compile")  # a program that does not repeat its run

N = MOST_IN_BLOCK + 100
UNARY = ["tanh", "exp", "sin", "neg", "abs", "sigmoid", "square", "relu"]
BINARY = ["add", "sub", "mul", "maximum"]


def chain(x: Any) -> Any:
    for _ in range(5):
        x = (x * 1.01).tanh()
        x = (x + 0.5 * x - 0.1).exp() * 0.1
    return x.sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [N, 20 * TILE, 40 * TILE + 1])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_backward_joins_its_forward(dtype: Any, n: int, threads: int) -> None:
    before = gs.get_num_threads()
    gs.set_num_threads(threads)
    try:
        function = gs.func.grad_and_value(chain)
        compiled = gs.compile(function)
        for seed in range(2):
            x = gs.tensor(np.random.default_rng(seed).standard_normal(n).astype(dtype))
            for found, expected in zip(compiled(x), function(x)):
                np.testing.assert_array_equal(found.numpy(), expected.numpy())
        text = compiled.explain(x)
        assert text.count("tiles of") == 1
        # The gradient, and what the sum reads: all else is rows of a tile.
        (nbytes,) = [int(word) for word, unit in zip(text.split(), text.split()[1:]) if unit == "bytes"]
        assert nbytes <= 2 * x.numpy().nbytes
    finally:
        gs.set_num_threads(before)


def test_results_and_arguments_that_are_written() -> None:
    def function(x: Any, y: Any) -> Any:
        y.mul_(0.5).add_(x)
        z = gs.tanh(y) * x
        y.sub_(z)
        return z, z * 2, y.sum()

    compiled = gs.compile(function)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x, y = gs.tensor(rng.standard_normal(N)), gs.tensor(rng.standard_normal(N))
        other = y.clone()
        version = y._version
        for found, expected in zip(compiled(x, y), function(x, other)):
            np.testing.assert_array_equal(found.numpy(), expected.numpy())
        np.testing.assert_array_equal(y.numpy(), other.numpy())
        assert y._version > version


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_and_groups_before_groups(dtype: Any) -> None:
    """Columns lie in steps; and what is between steps on all columns is a group of its own."""

    def function(rows: Any) -> Any:
        scaled = rows * 0.5
        x, y, z = rows.unbind(1)
        length = (x * x + y * y + z * z + 1).sqrt()
        turned = gs.stack([x * y - z, y * z - x, z * x - y], 1)
        return (gs.tanh(scaled) + turned * 0.1).sum() + (length.log() * x.flip(0)).sum()

    both = gs.func.value_and_grad(function)
    compiled = gs.compile(both)
    for seed in range(3):
        rows = gs.tensor(np.random.default_rng(seed).standard_normal((N, 3)).astype(dtype))
        for found, expected in zip(compiled(rows), both(rows)):
            np.testing.assert_array_equal(found.numpy(), expected.numpy())
    text = compiled.explain(rows)
    assert text.count(f"tiles of {N} elements") <= 3 and "side by side" in text
    assert " mul(" not in "".join(line for line in text.splitlines() if line.startswith("    %"))


def test_parts_of_the_same_memory_are_not_mixed() -> None:
    def function(x: Any) -> Any:
        y = x * 2
        y[1:].add_(y[:-1] * 0.5)
        y[:-1].mul_(y[1:] * 0.1 + 1)
        return y * y

    compiled = gs.compile(function)
    for seed in range(3):
        x = gs.tensor(np.random.default_rng(seed).standard_normal(N))
        np.testing.assert_array_equal(compiled(x).numpy(), function(x).numpy())


# ---- random programs


def run_random(seed: int, x: Any, y: Any, w: Any) -> tuple[Any, Any]:
    """Elementwise ops, sums that go back into these, other layouts, and writes to all or part of a value."""
    rng = random.Random(seed)
    n = len(x)
    values = [x, y, x * 1.0]
    written = [values[2]]
    for _ in range(rng.randint(4, 30)):
        a, b, kind = rng.choice(values), rng.choice(values), rng.random()
        if kind < 0.35:
            made = getattr(gs, rng.choice(UNARY))(a * 0.5)
        elif kind < 0.6:
            made = getattr(gs, rng.choice(BINARY))(a, b)
        elif kind < 0.66:
            made = a * rng.choice([0.5, 2.0, 1.1])
        elif kind < 0.72:
            made = a * w[0]
        elif kind < 0.76:
            made = a + b.sum() * 1e-3
        elif kind < 0.8:
            made = a + b.mean().expand(n)
        elif kind < 0.84:
            made = a.flip(0)
        elif kind < 0.87:
            made = gs.where(a > 0, a, b)
        elif kind < 0.9:
            made = gs.cat([a[1:], b[:1]])
        elif kind < 0.91:
            made = (gs.stack([a, b], 1) * 0.5)[:, rng.randrange(2)]
        elif kind < 0.92:
            made = gs.tanh(gs.stack([a, b]) * 0.5)[rng.randrange(2)]
        elif kind < 0.93:
            made = written_columns(rng, a, b)
        elif kind < 0.98:
            made = write_to(rng, rng.choice(written), a, b)
        else:
            made = a.reshape(-1, 1).reshape(-1)
        if rng.random() < 0.3:
            written.append(made * 1.0)
            values.append(written[-1])
        values.append(made)
        if len(values) > 12:
            values.pop(rng.randrange(3))
    out = values[-1] * values[-2]
    return out, out.sum()


def written_columns(rng: random.Random, a: Any, b: Any) -> Any:
    m = gs.stack([a, b, a * 0.5], 1) * 1.0
    first = m[:, 0] * 2 + m[:, 1]
    m[:, rng.randrange(3)].mul_(0.9)
    return (m[:, 0] * first + m[:, 1] * m[:, 2]) * 0.25


def write_to(rng: random.Random, target: Any, a: Any, b: Any) -> Any:
    kind = rng.random()
    if kind < 0.4:
        target.mul_(0.9)
    elif kind < 0.7:
        target.add_(b)
    elif kind < 0.85:
        target[1:].add_(a[:-1])
    else:
        target[:3] = 0.5
    return target * 1.0


def check_random(seed: int) -> None:
    def function(x: Any, y: Any, w: Any) -> Any:
        return run_random(seed, x, y, w)

    def gradients(x: Any, y: Any, w: Any) -> Any:
        return gs.func.grad(lambda x, y: run_random(seed, x, y, w)[1], (0, 1))(x, y)

    eager = gradients if seed % 3 == 0 else function
    compiled = gs.compile(eager)
    rng = np.random.default_rng(seed)
    dtype, n = (np.float32, np.float64)[seed % 2], int(rng.choice([N, 20 * TILE, 17 * TILE + 7]))
    for _ in range(2):
        given = [gs.tensor(rng.standard_normal(size).astype(dtype)) for size in (n, n, 1)]
        try:
            expected = eager(*given)
        except RuntimeError:  # a value that backward needs has been written
            return
        for found, other in zip(compiled(*given), expected):
            np.testing.assert_array_equal(found.numpy(), other.numpy(), err_msg=str(seed))


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
def test_random_programs() -> None:
    for seed in range(40):
        check_random(seed)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
def test_many_random_programs() -> None:
    for seed in range(1000, 5000):
        check_random(seed)


def test_views_wait_with_what_reads_them() -> None:
    """A view that is not computed by an op, as jacobians make them, was once left behind by its reader."""
    fourth = gs.func.hessian(gs.func.hessian(lambda x: (x * x).sum().square()))
    compiled = gs.compile(fourth)
    for n in range(2):
        x = gs.linspace(-1.0, n, 12, dtype=gs.float64)
        assert gs.allclose(compiled(x), fourth(x), rtol=1e-13)
