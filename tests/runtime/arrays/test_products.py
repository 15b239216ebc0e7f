"""Products of matrices of integers, and of the elements of rows, that kernels of their own multiply in lanes."""

import numpy as np
import pytest

import gradsmith as gs

INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
# Around the rows and columns of a tile, and the depth of a panel.
SIZES = [(1, 1, 1), (2, 3, 5), (4, 8, 64), (5, 7, 65), (9, 256, 8), (3, 257, 17), (8, 600, 33), (33, 16, 130)]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_matrices_of_integers_wrap_around(dtype, sizes):
    m, k, n = sizes
    a, b = integers(dtype, (m, k), 1), integers(dtype, (k, n), 2)
    x, y = gs.tensor(a), gs.tensor(b)
    for left in (x, gs.tensor(a.T.copy()).T, gs.tensor(np.repeat(a, 2, 1))[:, ::2]):
        for right in (y, gs.tensor(b.T.copy()).T):
            np.testing.assert_array_equal((left @ right).numpy(), a @ b)
    np.testing.assert_array_equal((x[0] @ y).numpy(), a[0] @ b)
    np.testing.assert_array_equal((x @ y[:, 0]).numpy(), a @ b[:, 0])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_batches_of_matrices_of_integers(dtype):
    a, b = integers(dtype, (3, 1, 5, 9), 3), integers(dtype, (4, 9, 6), 4)
    np.testing.assert_array_equal((gs.tensor(a) @ gs.tensor(b)).numpy(), a @ b)


@pytest.mark.parametrize("length", [0, 1, 2, 15, 16, 17, 31, 100, 1000])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "complex64", "complex128"])
def test_products_of_rows_and_columns(dtype, length):
    a = factors(dtype, (7, length, 3), 5)
    tolerance = 0 if a.dtype.kind in "iu" else 1e-4 if dtype == "complex64" else 1e-12
    wide = a.astype(np.int64 if a.dtype.kind in "iu" else np.complex128)
    for array, axis in ((a, 1), (a.transpose(0, 2, 1).copy(), 2), (a[0].T.copy(), 1)):
        exact = np.prod(array.astype(wide.dtype), axis=axis)
        np.testing.assert_allclose(gs.tensor(array).prod(axis).numpy(), exact, rtol=tolerance)
        running = np.cumprod(array.astype(wide.dtype), axis=axis)
        np.testing.assert_allclose(gs.tensor(array).cumprod(axis).numpy(), running, rtol=tolerance)


def test_a_complex_product_whose_lanes_leave_the_range():
    """The product of large and small numbers is within it."""
    a = np.where(np.arange(320) // 160 == np.arange(320) % 2, 1e6, 1e-6).astype(np.complex64) * np.complex64(1j)
    assert gs.tensor(a).prod().item() == pytest.approx(np.prod(a.astype(np.complex128)), rel=1e-4)


def test_complex_products_without_a_limit():
    zero = gs.tensor([1j, 0, 2, 3] * 20).prod()
    assert zero.item() == 0
    for last in (np.inf, np.nan):
        row = gs.tensor([1j, 0, 2, last] * 20)
        assert np.isnan(row.prod().numpy().real)
    assert not np.isfinite(gs.full((1000,), 1e10 + 1e10j).prod().numpy())
    assert gs.full((1000,), 1e-10 + 1e-10j).prod().item() == 0


def test_running_products_of_halves_below_their_range():
    """Each is rounded to zero at the end, which costs no more than other roundings."""
    a = np.full((3, 40), 0.5, np.float16)
    expected = np.cumprod(a.astype(np.float64), 1).astype(np.float16)
    np.testing.assert_array_equal(gs.tensor(a).cumprod(1).numpy(), expected)


def integers(dtype, shape, seed):
    limits = np.iinfo(dtype)
    return np.random.default_rng(seed).integers(limits.min, limits.max, shape, dtype, endpoint=True)


def factors(dtype, shape, seed):
    generator = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return generator.integers(1, 8, shape).astype(dtype)
    angles, sizes = generator.uniform(0, 6, shape), generator.uniform(0.95, 1.05, shape)
    return (sizes * np.exp(1j * angles)).astype(dtype)
