"""Operands that lie across the result: their tiles are walked a part of each row at a time, as they lie in memory."""

from collections.abc import Callable

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import Tensor

# Long rows of which some do not end with a tile; few rows and many; more dimensions around them.
SHAPES = [(2, 1024), (3, 1025), (3, 5003), (11, 2111), (70, 1500), (3, 4, 1300), (2, 5, 1, 2049)]

LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "by rows": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "every third": lambda x: np.repeat(x, 3, -1)[..., ::3],
    "part of wider columns": lambda x: np.repeat(x.T, 2, -1)[..., ::2].T,
    "last two turned": lambda x: np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2),
}


def normal(shape: tuple[int, ...], seed: int, dtype: type) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def laid_out(layout: Callable[[np.ndarray], np.ndarray], array: np.ndarray, **options: bool) -> Tensor:
    tensor = gs.from_numpy(layout(array))
    return tensor.requires_grad_(**options) if options else tensor


shapes = pytest.mark.parametrize("shape", SHAPES, ids=str)
layouts = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@shapes
@layouts
@dtypes
def test_binary(shape: tuple[int, ...], layout: Callable[[np.ndarray], np.ndarray], dtype: type) -> None:
    a, b = normal(shape, 0, dtype), normal(shape, 1, dtype)
    assert np.array_equal(gs.tensor(a) + laid_out(layout, b), a + b)
    assert np.array_equal(laid_out(layout, a) * gs.tensor(b), a * b)
    total = gs.tensor(a)
    total += laid_out(layout, b)
    assert np.array_equal(total, a + b)


@shapes
@layouts
@dtypes
def test_loops_of_formulas(shape: tuple[int, ...], layout: Callable[[np.ndarray], np.ndarray], dtype: type) -> None:
    """The gradient lies by rows, and what it is multiplied by does not."""
    a, b, gradient = (normal(shape, seed, dtype) for seed in range(3))
    x = gs.tensor(a, requires_grad=True)
    (found,) = gs.autograd.grad(x * laid_out(layout, b), x, gs.tensor(gradient))
    assert np.array_equal(found, gradient * b)


@shapes
@layouts
def test_broadcast_loops_of_formulas(shape: tuple[int, ...], layout: Callable[[np.ndarray], np.ndarray]) -> None:
    a, b, gradient = (normal(shape, seed, np.float64) for seed in range(3))
    row, number = normal(shape[-1:], 3, np.float64), gs.tensor(2.0, dtype=gs.float64, requires_grad=True)
    x = gs.tensor(a, requires_grad=True)
    (found,) = gs.autograd.grad(x * gs.tensor(row) * laid_out(layout, b), x, gs.tensor(gradient))
    assert np.array_equal(found, gradient * b * row)
    (found,) = gs.autograd.grad(laid_out(layout, b) / number, number, gs.tensor(gradient))
    assert np.allclose(found, -(gradient * b).sum() / 4)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_nothing(threads: int) -> None:
    before = gs.get_num_threads()
    gs.set_num_threads(threads)
    try:
        a, b = normal((5, 40_001), 0, np.float64), normal((5, 40_001), 1, np.float64)
        x = gs.tensor(a, requires_grad=True)
        y = x * laid_out(np.asfortranarray, b)
        assert np.array_equal(y, a * b)
        assert np.array_equal(gs.autograd.grad(y.sum(), x)[0], b)
    finally:
        gs.set_num_threads(before)
