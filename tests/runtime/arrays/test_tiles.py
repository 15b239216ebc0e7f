"""Elementwise functions of many short rows: what is broadcast or lies apart is gathered in tiles."""

import numpy as np
import pytest

import gradsmith as gs

DTYPES = ["bool", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]
LENGTHS = [2, 3, 5, 7, 8, 13, 16, 24, 31, 64, 100, 255, 256, 257]
# Pairs that broadcast, of rows of n elements.
SHAPES = {
    "a row for all": lambda n: ((40, n), (n,)),
    "one of each row": lambda n: ((40, n), (40, 1)),
    "rows and planes": lambda n: ((6, 1, n), (1, 7, n)),
    "across": lambda n: ((3, 1, 5, n), (4, 1, 1)),
    "a plane for all": lambda n: ((2, 3, 4, n), (3, 1, n)),
}


@pytest.mark.parametrize("shapes", SHAPES.values(), ids=list(SHAPES))
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_broadcast(dtype, length, shapes):
    a, b = (some(dtype, shape, seed) for seed, shape in enumerate(shapes(length)))
    assert_same(gs.eq(gs.tensor(a), gs.tensor(b)), a == b)
    assert_same(gs.logical_or(gs.tensor(b), gs.tensor(a)), np.logical_or(b, a))


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions(dtype, length):
    a, column = some(dtype, (40, length), 1), some(dtype, (40, 1), 2)
    x, y = gs.tensor(a), gs.tensor(column)
    assert_same(gs.maximum(x, y), np.maximum(a, column))
    assert_same(gs.where(x > y, x, y), np.where(a > column, a, column))
    assert_same(gs.addcmul(x, x, y), a + a * column)
    np.testing.assert_allclose(gs.atan2(y, x).numpy(), np.arctan2(column, a), rtol=1e-6)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_layouts(dtype, length):
    """Operands that are transposed, have gaps, or both."""
    base, row = some(dtype, (2 * length, 60), 3), some(dtype, (length,), 4)
    for view in (base[:length].T, base[::2].T, base[length:, ::3].T, base.reshape(60, -1)[::2, 1::2]):
        assert_same(gs.ne(gs.from_numpy(view), gs.tensor(row)), view != row)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_tiles_of_many_threads(n_threads):
    before = gs.get_num_threads()
    gs.set_num_threads(n_threads)
    try:
        a, b = some("float32", (70_001, 3), 5), some("float32", (70_001, 1), 6)
        assert_same(gs.tensor(a) > gs.tensor(b), a > b)
        assert_same(gs.fmin(gs.tensor(a), gs.tensor(b)), np.fmin(a, b))
    finally:
        gs.set_num_threads(before)


def test_in_place():
    """Each element is read before the result takes its place."""
    a, row = some("float64", (50, 5), 7), some("float64", (5,), 8)
    x = gs.tensor(a)
    x.fmod_(gs.tensor(row))
    assert_same(x, np.fmod(a, row))
    x = gs.tensor(a)
    gs.maximum(gs.tensor(row), x, out=x)
    assert_same(x, np.maximum(row, a))


def some(dtype, shape, seed):
    numbers = np.random.default_rng(seed).integers(-3 if dtype != "bool" else 0, 4, shape)
    return np.where(numbers == 0, 1, numbers).astype(dtype) if dtype != "bool" else numbers > 1


def assert_same(tensor, array):
    assert tensor.numpy().dtype == array.dtype
    np.testing.assert_array_equal(tensor.numpy(), array)
