"""Steps whose memory, order or numbers a plan could mistake for another's: programs have the bits of eager."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func

CALLS = 3
LONG = 20_000  # elements, which run tile by tile


def numbers(*shape: int, seed: int = 0) -> Any:
    return gs.tensor(np.random.default_rng(seed).standard_normal(shape))


def leaves(found: Any) -> list[Any]:
    return list(gs.utils.pytree.flatten(found)[0])


def steps_of(tensor: Any) -> list[int]:
    """From row to row; that of a single row says nothing."""
    return [step for step, size in zip(tensor.stride(), tensor.shape) if size > 1]


def expect_alike(function: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
    """Results, their strides and what is left in the arguments."""
    compiled = gs.compile(function)
    for seed in range(CALLS):
        given, others = ([numbers(*shape, seed=seed + 10 * n) for n, shape in enumerate(shapes)] for _ in range(2))
        found, expected = leaves(compiled(*given)), leaves(function(*others))
        for one, other in zip([*found, *given], [*expected, *others], strict=True):
            np.testing.assert_array_equal(one.numpy(), other.numpy())
            assert steps_of(one) == steps_of(other)
    assert len(compiled.programs) == 1


# ---- memory that is read and written


def shifted(x: Any) -> Any:
    y = x * 2
    y[1:].add_(y[:-1])
    return y


def shifted_and_scaled(x: Any) -> Any:
    y = x * 2
    y[:-2].mul_(y[2:])
    return y.add_(y)


def shifted_and_added(x: Any) -> Any:
    y = x * 2
    y[1:].add_(y[:-1], alpha=0.5)
    return y


def turned(x: Any) -> Any:
    y = x * 2
    y.mul_(y.T)
    return y + 1


def turned_and_added(x: Any) -> Any:
    y = x * 2
    y.T.add_(y, alpha=0.5)
    return y + 1


def with_one_of_its_rows(x: Any) -> Any:
    y = x * 2
    y.sub_(y[1:2], alpha=2)
    return y


@pytest.mark.parametrize("function", [shifted, shifted_and_scaled, shifted_and_added, with_one_of_its_rows])
@pytest.mark.parametrize("shape", [(7,), (LONG,), (5, 3)])
def test_writes_to_what_is_read_elsewhere(function: Any, shape: tuple[int, ...]) -> None:
    expect_alike(function, shape)


@pytest.mark.parametrize("function", [turned, turned_and_added, lambda x: x.T.add_(x, alpha=0.5)])
@pytest.mark.parametrize("size", [4, 40, 150])
def test_writes_to_what_is_read_in_another_order(function: Any, size: int) -> None:
    expect_alike(function, (size, size))


def rows_and_columns(x: Any, y: Any) -> Any:
    a, b = x * 2, y.T * 3  # of which one lies row by row, the other one column by column
    c = a + b
    d = b.exp() + y
    return c.sin() + d, (y.T * 3).clone(memory_format=gs.contiguous_format) * 1


@pytest.mark.parametrize("size", [3, 150])
def test_results_do_not_lie_where_operands_of_another_order_do(size: int) -> None:
    expect_alike(rows_and_columns, (size, size), (size, size))


def test_copies_keep_their_order() -> None:
    expect_alike(lambda x: ((x.T * 2).clone(memory_format=gs.contiguous_format), (x.T * 2).clone()), (3, 4))


def test_copies_of_what_a_branch_only_hands_on() -> None:
    """Traced with a branch that makes a tensor."""

    def function(x: Any) -> Any:
        y = gs.cond(x.sum() > 0, lambda t: t * 2, lambda t: t, x).clone()
        return y.add_(1)

    compiled = gs.compile(function)
    for sign in (1, -1, 1):
        x = gs.full((3,), sign)
        assert compiled(x).tolist() == function(gs.full((3,), sign)).tolist()
        assert x.tolist() == [sign] * 3


def test_constants_that_are_results_are_new_in_each_call() -> None:
    compiled = gs.compile(lambda x: (x * 2, gs.tensor([1.0, 2.0])))
    for _ in range(CALLS):
        _, found = compiled(gs.ones(2))
        assert found.tolist() == [1, 2]
        found.add_(1)


# ---- steps that differ in little


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x - 2.0) * (2.0 - x) + x / 3.0 - 3.0 / x,
        lambda x: (2.0 - x) * (x - 2.0) + 3.0 / x - x / 3.0,
        lambda x: x.sum(0) - x.sum(1) * 2 + x.sum(0),
        lambda x: x.sum(1) - x.sum(0) * 2 + x.sum(1),
        lambda x: gs.cat([x, x.T], 0)[:3] + gs.cat([x, x.T], 1)[:, 3:],
        lambda x: gs.stack([x, x + 1, x * 2], 0) - gs.stack([x, x + 1, x * 2], 1) + gs.stack([x, x, x], 2),
        lambda x: x.clamp(0.1, 0.5) + x.clamp(0.2, 0.5) + x.clamp(0.1, 0.6),
    ],
)
def test_the_same_op_in_another_way(function: Any) -> None:
    expect_alike(function, (3, 3))


PERMUTATIONS = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]


@pytest.mark.parametrize("order", PERMUTATIONS)
def test_sums_over_dimensions_in_any_order(order: tuple[int, ...]) -> None:
    def function(x: Any) -> Any:
        y = (x * 2).permute(order)
        sums = [y.sum(dim) for dim in (0, 1, 2, (0, 1), (1, 2), (0, 2))]
        return sums, [one.exp() for one in sums], y.sum((0, 2), keepdim=True)

    expect_alike(function, (2, 3, 4))


@pytest.mark.parametrize("n", [5, LONG])
def test_arrays_that_go_backwards(n: int) -> None:
    """Their strides are negative, as no tensor's of the package's own are."""
    compiled = gs.compile(lambda x: (x * 2 + 1).abs() * x)
    for seed in range(CALLS):
        array = np.random.default_rng(seed).standard_normal(n)[::-1]
        np.testing.assert_array_equal(compiled(gs.from_numpy(array)).numpy(), abs(array * 2 + 1) * array)


def test_products_of_what_goes_backwards() -> None:
    w = numbers(3, 3)
    compiled = gs.compile(lambda x, v: (x @ w, w @ x, v @ w, w @ v))
    for seed in range(CALLS):
        array, row = np.random.default_rng(seed).standard_normal((3, 3))[::-1], np.arange(3.0)[::-1]
        found = compiled(gs.from_numpy(array), gs.from_numpy(row))
        for one, other in zip(found, (array @ w.numpy(), w.numpy() @ array, row @ w.numpy(), w.numpy() @ row)):
            np.testing.assert_allclose(one.numpy(), other, 1e-14)


# ---- gradients of parts


def part_of(index: Any) -> Callable[[Any, Any], Any]:
    return lambda x, cotangent: func.vjp(lambda t: t[index], x)[1](cotangent)[0]


def test_gradients_of_parts_that_are_added_and_read_again() -> None:
    row = part_of(1)
    expect_alike(lambda x, c, o: (row(x, c) + o, row(x, c) * 2), (3, 4), (4,), (3, 4))

    def read_twice(x: Any, c: Any, o: Any) -> Any:
        g = row(x, c)
        return g + o, g + g, g

    expect_alike(read_twice, (3, 4), (4,), (3, 4))


def test_gradients_of_parts_that_are_added_to_another_order() -> None:
    row = part_of(1)
    expect_alike(lambda x, c, o: (row(x, c) + o.T * 2, o.T * 3 + row(x, c)), (3, 3), (3,), (3, 3))


@pytest.mark.parametrize("index", [slice(None), ..., (slice(None), slice(0, 4))])
def test_gradients_of_parts_that_are_all(index: Any) -> None:
    whole = part_of(index)
    expect_alike(lambda x, c, o: (whole(x, c) + o * 2, o * 3 + whole(x, c)), (3, 4), (3, 4), (3, 4))


def test_gradients_of_parts_whose_cotangent_changes() -> None:
    row = part_of(1)

    def function(x: Any, c: Any, o: Any) -> Any:
        cotangent = c * 1
        g = row(x, cotangent)
        cotangent.mul_(2)
        return g + o, cotangent

    expect_alike(function, (3, 4), (4,), (3, 4))


def test_gradients_of_parts_of_one_shape() -> None:
    first, second = part_of(slice(3)), part_of(slice(None, None, 2))
    expect_alike(lambda x, c: (first(x, c), second(x, c), first(x, c * 2) + second(x, c)), (6,), (3,))


# ---- loops


def products(w: Any, y: Any) -> Any:
    for _ in range(64):
        y = w @ y
    return y


def sequence(w: Any, y: Any) -> Any:
    a, b = y, y * 2
    for _ in range(40):
        a, b = b, a * 0.3 + b * 0.2
    return a, b


def of_three(w: Any, y: Any) -> Any:
    a, b, c = y, y * 2, y * 3
    for _ in range(40):
        a, b, c = b, c, (a * 0.3 + b * 0.2) * c
    return a, b, c


def from_a_part(w: Any, y: Any) -> Any:
    z = gs.cat([y, y * 2])[1 : 1 + len(y)]
    for _ in range(40):
        z = gs.tanh(z * y) + z
    return z


def from_a_column(w: Any, y: Any) -> Any:
    z = w[:, 0]
    for _ in range(40):
        z = gs.tanh(z * y) + z
    return z


def parts_of_the_last(w: Any, y: Any) -> Any:
    z = y * 2
    for _ in range(40):
        z = gs.cat([z[1:] * 0.9, (z[:1] + 0.1).sin()])
    return z


def old_and_new(w: Any, y: Any) -> Any:
    z = y
    for _ in range(40):
        new = gs.tanh(w @ z)
        z = new * z + new.sin() * z.cos()
    return z


def steps_that_vary(w: Any, y: Any) -> Any:
    for size in [0.1] * 20 + [0.2] + [0.1] * 19:
        y = y + size * gs.tanh(w @ y)
    return y


def first_of_all(w: Any, y: Any) -> Any:
    z = y * 1
    for _ in range(40):
        z = gs.sin(z) * y + w[0] * z
    return z, z + y


LOOPS = [products, sequence, of_three, from_a_part, from_a_column, parts_of_the_last, old_and_new, steps_that_vary,
         first_of_all]  # fmt: skip


@pytest.mark.parametrize("function", LOOPS)
def test_loops(function: Any) -> None:
    expect_alike(function, (4, 4), (4,))


@pytest.mark.parametrize("function", LOOPS)
def test_gradients_of_loops(function: Any) -> None:
    compiled = gs.compile(func.grad(lambda w, y: sum(one.sum() for one in leaves(function(w * 0.5, y))), (0, 1)))
    eager = func.grad(lambda w, y: sum(one.sum() for one in leaves(function(w * 0.5, y))), (0, 1))
    for seed in range(CALLS):
        w, y = numbers(4, 4, seed=seed), numbers(4, seed=seed + 10)
        for found, expected in zip(compiled(w, y), eager(w, y)):
            np.testing.assert_allclose(found.numpy(), expected.numpy(), 1e-12, 1e-14)
    assert len(compiled.programs) == 1


# ---- what a backward makes again


def test_what_is_made_of_memory_that_is_written_is_not_made_again() -> None:
    n = 2_000
    compiled, gradients = None, []

    def function(x: Any, buffer: Any) -> Any:
        y = (x + buffer).exp()
        buffer.add_(1)
        return y

    compiled = gs.compile(function, memory="min")
    for f in (compiled, compiled, function):
        x, buffer = numbers(n).requires_grad_(), numbers(n, seed=1)
        f(x, buffer).sum().backward()
        gradients.append(x.grad)
    assert all(gs.allclose(one, gradients[-1]) for one in gradients)
