"""Ops that compute few elements in another way than many."""

import numpy as np
import pytest

import gradsmith as gs

SHAPES = [(3,), (4, 5), (2, 3, 4), (80, 90), (30, 20, 10)]
DTYPES = [np.float32, np.float64, np.int64, np.int8, np.float16]


def numbers(shape, dtype, seed=0):
    """With many equal elements, and a NaN in some rows."""
    rng = np.random.default_rng(seed)
    found = rng.integers(-9, 9, shape).astype(dtype)
    if found.dtype.kind == "f":
        found.ravel()[:: max(7, found.size // 5)] = np.nan
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["max", "min"])
def test_extrema_and_their_places(name, shape, dtype):
    for array in (
        numbers(shape, dtype),
        numbers(shape, dtype).T,
        numbers(shape, dtype)[::-1],
        numbers(shape, dtype)[1:],
    ):
        for dim in range(array.ndim):
            for keepdim in (False, True):
                found = getattr(gs.from_numpy(array), name)(dim, keepdim)
                places = getattr(np, f"arg{name}")(array, dim, keepdims=keepdim)
                assert found.indices.dtype == gs.int64 and found.values.dtype == array.dtype
                np.testing.assert_array_equal(found.indices.numpy(), places)
                np.testing.assert_array_equal(found.values.numpy(), getattr(np, name)(array, dim, keepdims=keepdim))


def test_extrema_of_elements_that_are_not_aligned():
    array = np.frombuffer(b"\0" + np.arange(6.0).tobytes(), np.uint8)[1:].view(np.float64).reshape(2, 3)
    assert gs.from_numpy(array.copy()).max(1).indices.tolist() == gs.tensor(array).max(1).indices.tolist() == [2, 2]


@pytest.mark.parametrize("count", [3, 3000])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_membership(count, dtype):
    elements, tests = numbers((2, 3), dtype, 1), numbers((count,), dtype, 2)[::2]
    for invert in (False, True):
        found = gs.isin(gs.from_numpy(elements), gs.from_numpy(tests.copy()), invert=invert)
        np.testing.assert_array_equal(found.numpy(), np.isin(elements, tests, invert=invert))


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3, 4)])
def test_reversed_order(shape):
    array = np.arange(float(np.prod(shape))).reshape(shape)
    for count in range(len(shape) + 1):
        dims = tuple(range(count))
        np.testing.assert_array_equal(gs.flip(gs.from_numpy(array), dims).numpy(), np.flip(array, dims))
    assert shape or gs.flip(gs.from_numpy(array), (0,)).item() == array
    result = gs.flip(gs.from_numpy(array), ())
    assert not len(shape) or not np.shares_memory(result.numpy(), array)


@pytest.mark.parametrize("size", [3, 9000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_running_products(size, dtype):
    array = np.where(np.arange(size) % 2, -1, 1).astype(dtype)
    np.testing.assert_array_equal(gs.from_numpy(array).cumprod(0).numpy(), np.cumprod(array))
    np.testing.assert_array_equal(
        gs.from_numpy(array).reshape(3, -1).cumprod(0).numpy(), np.cumprod(array.reshape(3, -1), 0)
    )


def test_equality():
    x = gs.arange(5000.0)
    y = x.clone()
    assert gs.equal(x, y) and gs.equal(x[:0], y[:0]) and gs.equal(x.reshape(50, 100).T, y.reshape(50, 100).T)
    y[4999] = 0
    assert not gs.equal(x, y) and not gs.equal(x * gs.nan, x * gs.nan)


@pytest.mark.parametrize("dim", [0, 1, -1, -2])
def test_cross_products_along_each_dimension(dim):
    a, b = (np.random.default_rng(seed).standard_normal((3, 3)) for seed in (0, 1))
    x = gs.tensor(a, requires_grad=True)
    found = gs.linalg.cross(x, gs.tensor(b), dim=dim)
    np.testing.assert_allclose(found.detach().numpy(), np.cross(a, b, axis=dim))
    assert gs.autograd.gradcheck(lambda x: gs.linalg.cross(x, gs.tensor(b), dim=dim), x)
