"""Random programs with transforms inside of transforms, `vmap` among them, against loops and finite differences."""

import gc
import weakref

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func
from gradsmith.runtime.batching.levels import open_levels
from tests.func import programs

STEP = 1e-5

pytestmark = pytest.mark.filterwarnings("ignore:vmap calls")  # of as_strided(), once for each slice


def vectors(seed):
    random_numbers = np.random.default_rng(seed)
    return [gs.tensor(random_numbers.normal(size=3) * 0.6) for _ in range(3)]


def looped(f, in_dims=0, out_dims=0):
    """`vmap` by a loop over slices."""

    def mapped(*args):
        dims = in_dims if isinstance(in_dims, tuple) else (in_dims,) * len(args)
        count = next(x.shape[dim] for x, dim in zip(args, dims) if dim is not None)
        slices = [f(*(x if dim is None else x.select(dim, n) for x, dim in zip(args, dims))) for n in range(count)]
        return gs.stack(slices, out_dims)

    return mapped


def by_rows(f):
    """The Jacobian in reverse mode, one row after the other."""

    def jacobian(x):
        value, pull = func.vjp(f, x)
        rows = [pull(unit.reshape(value.shape))[0] for unit in gs.eye(value.numel(), dtype=x.dtype)]
        return gs.stack(rows).reshape((*value.shape, *x.shape))

    return jacobian


def hessian_by_rows(f):
    return by_rows(by_rows(f))


BATCHED = programs.Library(gs, func)
LOOPED = programs.Library(gs, func, vmap=looped, jacrev=by_rows, jacfwd=by_rows, hessian=hessian_by_rows)


def check_against_loops(seed, depth):
    program = programs.random_program(seed, depth)
    x, *captured = vectors(seed)
    found, expected = (programs.run(library, program, x, captured).numpy() for library in (BATCHED, LOOPED))
    assert found.shape == expected.shape
    finite = np.isfinite(expected)
    scale = max([1.0, *abs(expected[finite]).tolist()])
    alike = np.allclose(found[finite], expected[finite], rtol=1e-7, atol=1e-9 * scale)
    assert alike, f"seed {seed}, depth {depth}: {program}"
    assert open_levels() == ()


def check_against_differences(seed, depth):
    program = programs.random_program(seed, depth)
    if any("detach" in str(step) or "where" in str(step) or "amax" in str(step) for step in program):
        return  # a constant for derivatives, or no derivative at some points
    x, *captured = vectors(seed)
    f = lambda x: programs.run(BATCHED, program, x, captured)  # noqa: E731
    columns = [(f(x + STEP * unit) - f(x - STEP * unit)) / (2 * STEP) for unit in gs.eye(3, dtype=x.dtype)]
    expected = gs.stack(columns, 1)
    if not (expected.isfinite().all() and f(x).isfinite().all()):
        return
    scale = max(1.0, abs(expected).max().item(), abs(f(x)).max().item())
    for jacobian in (func.jacrev(f)(x), func.jacfwd(f)(x)):
        assert np.allclose(jacobian, expected, atol=1e-4 * scale, equal_nan=True), (
            f"seed {seed}, depth {depth}: {program}"
        )


@pytest.mark.parametrize("depth", range(1, 5))
def test_batches_are_loops(depth):
    for seed in range(25):
        check_against_loops(seed, depth)


@pytest.mark.parametrize("depth", range(4))
def test_derivatives_of_transforms_are_differences(depth):
    for seed in range(100, 115):
        check_against_differences(seed, depth)


@pytest.mark.long
@pytest.mark.parametrize("seed", [92321, *range(10_000, 50_000, 1_000)])
def test_many_programs(seed):
    for depth in range(1, 5):
        for offset in range(10):
            check_against_loops(seed + offset, depth)
            check_against_differences(seed + offset, depth - 1)


def test_a_tangent_of_a_gradient_keeps_the_history_of_its_batch():
    """Its own graph ends with the transform; that of the data goes on."""
    x = gs.tensor([[0.3, -0.5], [0.7, 0.2]], dtype=gs.float64)

    def gradient(y):
        z = y * 1.0
        z.mul_(y)
        return func.vjp(lambda y: (y * 1.0).mul_(y) ** 2, y)[1](z)[0]

    f = func.vmap(lambda y: func.jvp(gradient, (y,), (y * 0.5,))[1])
    assert np.allclose(func.jacrev(f)(x), func.jacfwd(f)(x))


@pytest.mark.parametrize("transform", ["vmap", "hessian", "jacfwd", "jacrev"])
def test_nothing_keeps_a_batch_alive(transform):
    x, *captured = vectors(3)
    programs.run(BATCHED, [(transform, 3, programs.random_program(3, 2))], x, captured)
    arguments = [weakref.ref(tensor) for tensor in (x, *captured)]
    del x, captured
    gc.collect()
    assert [reference() for reference in arguments] == [None] * 3
