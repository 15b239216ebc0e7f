"""Steps on long rows, few of them in each value, which a program runs tile by tile, against eager."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.compiler.plans.native import MOST_IN_BLOCK

pytestmark = pytest.mark.filterwarnings("error:compile")  # a program that does not repeat its run

N = MOST_IN_BLOCK + 100


def check(function: Any, *arrays: Any) -> Any:
    """The compiled function, whose results are those of eager."""
    compiled = gs.compile(function)
    for _ in range(2):
        given = [[gs.tensor(array) for array in arrays] for _ in range(2)]
        for found, expected in zip(compiled(*given[0]), function(*given[1])):
            np.testing.assert_array_equal(found.numpy(), expected.numpy())
        for found, expected in zip(*given):
            np.testing.assert_array_equal(found.numpy(), expected.numpy())
    return compiled.explain(*given[0])


def rotated(axis: Any, points: Any, dim: int) -> Any:
    """Rodrigues' formula, with coordinates along `dim`."""
    angle = ((axis * axis).sum(dim, keepdim=True) + 1).sqrt()
    axis = axis / angle
    (a, b, c), (x, y, z) = axis.unbind(dim), points.unbind(dim)
    cross = gs.stack([b * z - c * y, c * x - a * z, a * y - b * x], dim)
    along = (axis * points).sum(dim, keepdim=True) * (1 - angle.cos())
    return points * angle.cos() + cross * angle.sin() + axis * along


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_points_and_their_gradient_are_one_group(dim: int, order: Any, dtype: Any) -> None:
    shape = (3, N) if dim == 0 else (N, 3)
    axis, points, weights = [
        np.asarray(np.random.default_rng(seed).standard_normal(shape), dtype, order=order) for seed in range(3)
    ]

    def both(axis: Any, points: Any, weights: Any) -> Any:
        found, back = gs.func.vjp(lambda axis, points: rotated(axis, points, dim), axis, points)
        return (found, *back(weights))

    text = check(both, axis, points, weights)
    if dtype == np.float64:  # rows of three floats are added in double
        assert text.count("tiles of") == 1
        assert " mul(" not in "".join(line for line in text.splitlines() if line.startswith("    %"))


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 8, 11, 16, 17])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_sums_over_rows_have_the_order_of_eager(rows: int, order: Any, dtype: Any) -> None:
    x = np.asarray(np.random.default_rng(rows).standard_normal((rows, N)), dtype, order=order)
    x[:, :50] = -0.0
    deep = np.random.default_rng(0).standard_normal((2, N, 3)).astype(dtype)

    def function(x: Any, deep: Any) -> Any:
        sums = (deep * 2).sum(0), (deep * 2).sum((0, 2)), (deep * 3).sum(2), (deep * 2).transpose(0, 1).sum(1)
        return ((x * 1).sum(0), (x * 2).sum(0, keepdim=True) * x, *[one * 0.5 for one in sums])

    found = gs.compile(function)
    for _ in range(2):
        for one, other in zip(found(gs.tensor(x), gs.tensor(deep)), function(gs.tensor(x), gs.tensor(deep))):
            assert one.numpy().tobytes() == other.numpy().tobytes()


def test_writes_to_rows() -> None:
    def function(x: Any, rows: Any) -> Any:
        y = x * 2
        y[1].mul_(x[0]).add_(y[2])
        y[0:2].add_(y[1:3])  # reads what it writes
        rows[:, 1].mul_(0.5).add_(y[0])
        rows.sub_(rows[:, 1:2])
        return y * y, rows * x.T, rows[:, 0] * y[2]

    rng = np.random.default_rng(0)
    check(function, rng.standard_normal((3, N)), rng.standard_normal((N, 3)))


def test_parts_that_are_empty_or_lie_otherwise() -> None:
    def function(x: Any, y: Any) -> Any:
        joined = gs.cat([x[:0], x[1:], y[:, :3].T, x[2:2]], 0)
        along = gs.cat([x[:, :100], x[:, 50:-50]], 1)
        back = gs.func.grad(lambda x: (x[1:2] * x[0] + x[:, 3:-3].sum() + x[2, ::2].sum() * x[1]).sum())(x)
        return joined * 2, along * 2, back * 2, x.flip(0) * y[:, 3], y.expand(3, N, 4)[1] * 0.5

    rng = np.random.default_rng(0)
    check(function, rng.standard_normal((3, N)), rng.standard_normal((N, 4)))


def test_rows_that_no_step_tells_apart_stay_as_they_lie() -> None:
    text = check(
        lambda x: (gs.tanh(x * 2) + x, (gs.exp(x) * x).sum()), np.random.default_rng(0).standard_normal((N, 3))
    )
    assert "side by side" not in text and f"tiles of {3 * N} elements" in text


# ---- random programs


class Program:
    """Steps on tables of `k` rows along `dim`, and on vectors."""

    def __init__(self, seed: int, dim: int, k: int, tables: list[Any], vector: Any) -> None:
        self.rng, self.dim, self.k = random.Random(seed), dim, k
        self.tables = [*tables, tables[0] * 0.5, tables[1] * 1.5]
        self.vectors = [vector, vector * 2, vector + 1]
        self.written = [self.tables[2], self.vectors[1]]

    def run(self) -> tuple[Any, Any, Any]:
        for _ in range(self.rng.randint(4, 25)):
            (self.make_table if self.rng.random() < 0.55 else self.make_vector)()
            if self.rng.random() < 0.15:
                self.tables.append(self.tables[-1] * 1.0)
                self.written.append(self.tables[-1])
            if self.rng.random() < 0.1:
                self.write()
            for values in (self.tables, self.vectors):
                if len(values) > 8:
                    values.pop(self.rng.randrange(4))
        table, vector = self.tables[-1], self.vectors[-1]
        return table * 1, vector * 1, (table * self.tables[-2]).sum() + (vector * self.vectors[-2]).sum()

    def row(self) -> Any:
        return self.rng.choice(self.tables).select(self.dim, self.rng.randrange(self.k))

    def make_table(self) -> None:
        a, b = [self.rng.choice(self.tables) for _ in range(2)]
        across = self.rng.choice([*self.vectors, self.row()]).unsqueeze(self.dim)
        dim, k = self.dim, self.k
        make: Callable[[], Any] = self.rng.choice(
            [
                lambda: gs.tanh(a * 0.5) * b,
                lambda: a * across,
                lambda: across + b * 0.25,
                lambda: a / (1 + b * b),
                lambda: gs.stack([self.rng.choice([*self.vectors, self.row()]) for _ in range(k)], dim),
                lambda: gs.cat([a.narrow(dim, 0, 1), b.narrow(dim, 1, k - 1)], dim) * 0.5,
                lambda: a - (b * b).sum(dim, keepdim=True) * 0.1,
                lambda: a.flip(dim) * b,
                lambda: a.clone(),
            ]
        )
        self.tables.append(make())

    def make_vector(self) -> None:
        a, b = [self.rng.choice(self.tables) for _ in range(2)]
        u, v = [self.rng.choice(self.vectors) for _ in range(2)]
        make: Callable[[], Any] = self.rng.choice(
            [
                lambda: self.row() * self.row(),
                lambda: gs.sin(self.row()),
                lambda: (a * b).sum(self.dim) * 0.3,
                lambda: a.narrow(self.dim, 0, self.rng.randint(1, self.k)).sum(self.dim) * 0.5,
                lambda: u * v + a.sum() * 1e-5,
                lambda: gs.sqrt(u * u + 1),
            ]
        )
        self.vectors.append(make())

    def write(self) -> None:
        target, dim, k = self.rng.choice(self.written), self.dim, self.k
        if target.ndim == 1:
            target.mul_(self.row())
            return
        number = self.rng.randrange(k)
        writes = [
            lambda: target.select(dim, number).mul_(0.5).add_(self.row() * 0.5),
            lambda: target.mul_(self.rng.choice(self.tables) * 0.1),
            lambda: target.narrow(dim, 0, k - 1).add_(target.narrow(dim, 1, k - 1) * 0.3),
            lambda: target.narrow(dim, 1, k - 1).mul_(target.narrow(dim, 0, k - 1)),
        ]
        self.rng.choice(writes)()


def check_random(seed: int) -> None:
    rng, chosen = np.random.default_rng(seed), random.Random(seed)
    k, dim = chosen.choice([1, 2, 3, 3, 4, 5, 7, 9, 16]), chosen.randrange(2)
    dtype, order = chosen.choice([np.float64, np.float32]), chosen.choice("CCF")
    shape = (k, N) if dim == 0 else (N, k)
    x, y = [np.asarray(rng.standard_normal(shape), dtype, order=order) for _ in range(2)]  # type: ignore[call-overload]
    vector = rng.standard_normal(N).astype(dtype)

    def function(x: Any, y: Any, vector: Any) -> Any:
        return Program(seed, dim, k, [x, y], vector).run()

    def gradients(x: Any, y: Any, vector: Any) -> Any:
        return gs.func.grad(lambda *given: function(*given)[2], argnums=(0, 1, 2))(x, y, vector)

    try:
        check(gradients, x, y, vector)
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error), seed
    check(function, x, y, vector)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
def test_random_programs() -> None:
    for seed in range(30):
        check_random(seed)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid")
def test_many_random_programs() -> None:
    for seed in range(1000, 3000):
        check_random(seed)


def test_gradients_of_written_columns_lie_as_in_eager() -> None:
    """How a gradient lies decides the order of the sums that are taken of it."""

    def function(x: Any, vector: Any) -> Any:
        table = x * vector
        other = table * 1
        other.narrow(0, 0, 4).add_(table.narrow(0, 1, 4) * 0.3)
        return (gs.stack([other[3], table[1], other[2], vector, table[0]]) * other).sum() + (other[1] * table[4]).sum()

    x = np.asarray(np.random.default_rng(0).standard_normal((5, N)), order="F")
    check(lambda x, vector: gs.func.grad(function, 1)(x, vector)[None], x, np.random.default_rng(1).standard_normal(N))
    leaf = gs.tensor(x, requires_grad=True)
    seen = []
    base = leaf * 1
    base.register_hook(lambda grad: seen.append(grad.stride()))
    base[1:].mul_(2)
    (base * gs.tensor(x)).sum().backward()
    assert seen == [(1, 5)]


@pytest.mark.parametrize("shape", [(300, 1), (3, 1), (N, 1), (2, 0), (1, 4, 1)])
def test_gradients_of_slices_without_elements(shape: tuple[int, ...]) -> None:
    """They have no row, and a loop over rows that always makes the first one went through all memory."""
    compiled = gs.compile(lambda x: (x[::2, ..., 1:], x[None], x[..., 1:]))
    for _ in range(2):
        x = gs.ones(*shape, requires_grad=True)
        sum(one.sum() for one in compiled(x)).backward()
        expected = gs.ones(*shape)
        expected[::2, ..., 1:] += 1
        expected[..., 1:] += 1
        assert gs.equal(x.grad, expected)
