"""Running sums, products and recurrences of rows long enough for blocks, in both directions."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.generated import scan

SHAPES = ((2000,), (3, 700), (700, 3), (5, 600, 2), (1, 513), (9, 1), (0, 4), (4, 0), ())


def random(*shape):
    return np.random.default_rng(len(shape)).uniform(0.9, 1.1, shape)


def along(function, x, dim):
    return function(x, axis=dim) if x.ndim else x


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dim", [0, -1])
def test_sums_and_products_of_numpy(shape, dim):
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-5), (np.complex64, 1e-5), (np.complex128, 1e-12)):
        x = random(*shape).astype(dtype)
        np.testing.assert_allclose(gs.cumsum(gs.tensor(x), dim).numpy(), along(np.cumsum, x, dim), rtol=tolerance)
        wide = x.astype(np.result_type(dtype, np.float64))
        np.testing.assert_allclose(gs.cumprod(gs.tensor(x), dim).numpy(), along(np.cumprod, wide, dim), rtol=1e-3)
    x = np.random.default_rng(0).integers(-(2**62), 2**62, shape)
    np.testing.assert_array_equal(gs.cumsum(gs.tensor(x), dim).numpy(), along(np.cumsum, x, dim))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dim", [0, -1])
def test_gradients_by_the_adjoint_sums(shape, dim):
    x, given = gs.tensor(random(*shape), requires_grad=True), random(*shape) - 1
    gs.cumsum(x, dim).backward(gs.tensor(given))
    expected = np.flip(np.cumsum(np.flip(given, dim), dim), dim) if shape else given
    np.testing.assert_allclose(x.grad.numpy(), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
def test_gradient_of_a_long_product(dtype):
    """``d p[j] / d x[i] = p[j] / x[i]`` for all j from i on."""
    x = random(5, 300).astype(dtype)
    leaf = gs.tensor(x, requires_grad=True)
    gs.cumprod(leaf, 1).real.sum().backward()
    products = np.cumprod(x, 1)
    expected = np.flip(np.cumsum(np.flip(products, 1), 1), 1) / x
    np.testing.assert_allclose(leaf.grad.numpy(), expected.conj(), rtol=1e-9)


def test_gradient_of_a_product_with_zeros():
    x = gs.tensor([2.0, 0.0, 3.0, 0.0, 5.0], requires_grad=True)
    gs.cumprod(x, 0).sum().backward()
    assert x.grad.tolist() == [1, 8, 0, 0, 0]


@pytest.mark.parametrize("shape", [(600,), (6, 50), (50, 6), (3, 40, 2), (1,), (), (0, 2)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("dim", [0, -1])
def test_recurrences_step_by_step(shape, dtype, dim):
    a, weight = random(*shape).astype(dtype), (random(*shape) / 2).astype(dtype)
    forward, back = np.array(a), np.array(a)
    if shape:
        steps, before, weights = np.moveaxis(forward, dim, 0), np.moveaxis(back, dim, 0), np.moveaxis(weight, dim, 0)
        for k in range(1, len(steps)):
            steps[k] += weights[k] * steps[k - 1]
        for k in range(len(before) - 2, -1, -1):
            before[k] += weights[k + 1] * before[k + 1]
    given = gs.tensor(a), gs.tensor(weight)
    np.testing.assert_allclose(scan.recurrence(*given, dim).numpy(), forward, rtol=1e-5)
    np.testing.assert_allclose(scan.recurrence_reversed(*given, dim).numpy(), back, rtol=1e-5)


def test_a_block_may_overflow_where_the_whole_does_not():
    x = np.zeros(2048)
    x[:128], x[128:256] = -0.75e306, 1.5e306
    found = gs.cumsum(gs.tensor(x), 0).numpy()
    np.testing.assert_allclose(found, np.cumsum(x), rtol=1e-12)
    assert abs(found[-1] / 0.96e308 - 1) < 1e-9


@pytest.mark.parametrize("special", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_stays_behind_its_place(special):
    x = random(2048)
    x[700] = special
    found = gs.cumsum(gs.tensor(x), 0).numpy()
    np.testing.assert_allclose(found, np.cumsum(x))
    assert np.isfinite(found[:700]).all() and not np.isfinite(found[700:]).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_running_sums_of_numbers_without_sign_never_fall(dtype):
    x = np.random.default_rng(0).exponential(size=100_000).astype(dtype)
    x[::3] = 0
    assert (np.diff(gs.cumsum(gs.tensor(x), 0).numpy()) >= 0).all()


def test_single_precision_is_added_in_double():
    sums = gs.cumsum(gs.full((3_000_000,), 0.1, dtype=gs.float32), 0)
    assert abs(sums[-1].item() / (3_000_000 * float(np.float32(0.1))) - 1) < 1e-7


@pytest.mark.parametrize("shape", [(3000,), (6, 900), (900, 6)], ids=str)
def test_products_that_leave_the_range_of_doubles_and_come_back(shape):
    """As floats they are zero in between; a long double holds them all along."""
    axis = int(np.argmax(shape))
    x = np.random.default_rng(3).uniform(0.01, 0.1, shape).astype(np.float32)
    first, second = np.split(x, 2, axis)
    second[...] = -1 / first
    products = gs.cumprod(gs.tensor(x), axis).numpy()
    expected = np.cumprod(x.astype(np.longdouble), axis).astype(np.float32)
    assert (expected == 0).any() and (np.take(expected, -1, axis) != 0).any()
    np.testing.assert_allclose(products, expected, rtol=1e-6)


@pytest.mark.parametrize("special", [0, np.inf, np.nan])
def test_a_special_number_behind_a_product_below_the_range_of_doubles(special):
    x = np.full(200, 1e-10, np.float32)
    x[150] = special
    products = gs.cumprod(gs.tensor(x), 0).numpy()
    np.testing.assert_array_equal(products[:150], np.cumprod(x[:150].astype(np.longdouble)).astype(np.float32))
    np.testing.assert_array_equal(products[150:], np.full(50, special, np.float32))
