"""Sums, means, extremes, products, and the softmax family."""

import itertools

import numpy as np
import pytest
from arrays import DTYPES, LAYOUTS, assert_near, assert_same, axes_of, generator

from gradsmith.runtime.arrays.functions import reductions


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("array", LAYOUTS, ids=str)
def test_sum(array, dtype):
    array = array.astype(dtype)
    wide = dtype if array.dtype.kind in "fc" else np.int64
    for axes, keep in itertools.product(axes_of(array), (False, True)):
        expected = np.asarray(array.sum(axis=axes or None, keepdims=keep, dtype=wide))
        assert_near(reductions.sum_of(array, axes, keep, None), expected)


def test_sum_in_another_dtype():
    assert reductions.sum_of(np.ones(3, np.float32), None, False, np.dtype(np.float64)).dtype == np.float64
    assert_same(reductions.sum_of(np.array([1.9, 1.9]), None, False, np.dtype(np.int64)), np.array(2))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("array", LAYOUTS, ids=str)
def test_mean_var_and_std(array, dtype):
    array = array.astype(dtype)
    for axes, keep, correction in itertools.product(axes_of(array), (False, True), (0, 1)):
        options = {"axis": axes or None, "keepdims": keep}
        variance = np.asarray(array.var(ddof=correction, **options))
        assert_near(reductions.mean_of(array, axes, keep, None), np.asarray(array.mean(**options)))
        assert_near(reductions.var_of(array, axes, correction, keep), variance)
        assert_near(reductions.std_of(array, axes, correction, keep), np.sqrt(variance, dtype=variance.dtype))


def test_mean_of_integers_is_refused():
    with pytest.raises(RuntimeError, match=r"dtype=gradsmith\.float32"):
        reductions.mean_of(np.arange(3), None, False, None)
    with pytest.raises(RuntimeError, match="int64"):
        reductions.var_of(np.arange(3), None, 1, False)
    assert reductions.mean_of(np.arange(3), None, False, np.dtype(np.float32)) == 1


@pytest.mark.parametrize("array", [a for a in LAYOUTS if a.size], ids=str)
def test_extrema(array):
    for axes, keep in itertools.product(axes_of(array), (False, True)):
        options = {"axis": axes or None, "keepdims": keep}
        assert_same(reductions.amax_of(array, axes or (), keep), np.asarray(array.max(**options)))
        assert_same(reductions.amin_of(array, axes or (), keep), np.asarray(array.min(**options)))
    for dim, keep in itertools.product(range(-array.ndim, array.ndim), (False, True)):
        values, indices = reductions.max_of(array, dim, keep)
        assert_same(values, array.max(dim, keepdims=keep))
        assert_same(indices, np.argmax(array, dim, keepdims=keep))
        assert_same(reductions.argmin_of(array, dim, keep), np.argmin(array, dim, keepdims=keep))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda a: reductions.amax_of(a, (), False), RuntimeError),
        (lambda a: reductions.amax_of(a, (0,), False), IndexError),
        (lambda a: reductions.max_of(a, 0, False), IndexError),
        (lambda a: reductions.argmax_of(a, None, False), IndexError),
        (lambda a: reductions.argmax_of(a, 0, False), IndexError),
    ],
)
def test_there_is_no_extremum_of_nothing(call, error):
    with pytest.raises(error, match=r"\[0, 3\]"):
        call(np.zeros((0, 3)))


def test_extrema_along_what_is_left_of_nothing():
    assert reductions.amax_of(np.zeros((0, 3)), (1,), False).shape == (0,)


def test_nan_is_the_extremum():
    array = np.array([1.0, np.nan, 3.0])
    assert np.isnan(reductions.amax_of(array, (), False))
    values, indices = reductions.min_of(array, 0, False)
    assert np.isnan(values)
    assert indices == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_prod_and_cumsum(dtype):
    array = (generator.normal(size=(3, 4)) * 3).astype(dtype)
    wide = dtype if array.dtype.kind in "fc" else np.int64
    assert_near(reductions.prod_of(array, (1,), False, None), np.prod(array, 1, dtype=wide))
    for dim in (0, -1):
        assert_near(reductions.cumsum_of(array, dim, None), np.cumsum(array, dim, dtype=wide))
    assert_near(reductions.prod_of(array, None, True, None), np.prod(array, keepdims=True, dtype=wide))


def test_cumsum_without_dimensions():
    assert_same(reductions.cumsum_of(np.array(2.0), -1, None), np.array(2.0))


def test_truth():
    array = np.array([[True, False], [True, True]])
    assert_same(reductions.all_of(array, (1,), False), np.array([False, True]))
    assert_same(reductions.any_of(array, None, True), np.array([[True]]))
    assert reductions.all_of(array.astype(np.uint8), None, False).dtype == np.uint8
    assert reductions.all_of(array.astype(np.float32), None, False).dtype == np.bool_


def test_softmax_family():
    array = generator.normal(size=(2, 3, 4)) * 50
    for dim in range(-3, 3):
        shifted = array - array.max(dim, keepdims=True)
        log_total = np.log(np.exp(shifted).sum(dim, keepdims=True))
        assert_near(reductions.log_softmax_of(array, dim, None), shifted - log_total)
        assert_near(reductions.softmax_of(array, dim, None), np.exp(shifted - log_total))
        assert_near(reductions.logsumexp_of(array, (dim,), True), log_total + array.max(dim, keepdims=True))


def test_softmax_of_one_number():
    assert_same(reductions.softmax_of(np.array(5.0), 0, None), np.array(1.0))
    assert_same(reductions.log_softmax_of(np.array(5.0), -1, None), np.array(0.0))
    assert np.isnan(reductions.softmax_of(np.array(np.nan), 0, None))


def test_softmax_of_integers_wants_a_dtype():
    with pytest.raises(NotImplementedError, match=r"dtype=gradsmith\.float32"):
        reductions.softmax_of(np.arange(3), 0, None)
    assert reductions.softmax_of(np.arange(3), 0, np.dtype(np.float64)).dtype == np.float64


def test_logsumexp_of_complex_and_infinite_numbers():
    array = generator.normal(size=(3, 4)) + 1j * generator.normal(size=(3, 4))
    assert_near(reductions.logsumexp_of(array, (0,), False), np.log(np.exp(array).sum(0)))
    assert reductions.logsumexp_of(np.array([-np.inf, -np.inf]), (0,), False) == -np.inf
    assert reductions.logsumexp_of(np.array([1000.0, np.inf]), (0,), False) == np.inf


def test_sum_to():
    array = generator.normal(size=(2, 3, 4))
    assert_near(reductions.sum_to_of(array, (3, 1)), array.sum((0, 2)).reshape(3, 1))
    same = reductions.sum_to_of(array, (2, 3, 4))
    assert_same(same, array)
    assert not np.shares_memory(same, array)
    with pytest.raises(RuntimeError, match="does not broadcast"):
        reductions.sum_to_of(array, (2, 4))


# ---- products of a few elements, which NumPy is not asked for


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 1, 2, 5, 63, 64])
def test_products_have_the_bits_of_numpys(size, dtype):
    array = np.random.default_rng(size).uniform(0.5, 1.5, size).astype(dtype)
    found = reductions.prod_of(array, None, False, None)
    assert found.shape == () and found.dtype == dtype
    assert found.tobytes() == np.prod(array).tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [65, 200, 5000])
def test_products_by_lanes_are_numpys_up_to_rounding(size, dtype):
    array = np.exp(np.random.default_rng(size).uniform(-0.5, 0.5, size)).astype(dtype)
    found = reductions.prod_of(array, None, False, None)
    assert found.shape == () and found.dtype == dtype
    np.testing.assert_allclose(found, np.prod(array), rtol=size * np.finfo(dtype).eps)


@pytest.mark.parametrize("array", [[1e38, 1e38], [np.inf, 0.0], [-0.0, 2.0], [np.nan, 0.0]])
def test_products_without_a_finite_value_are_quiet(array):
    values = np.asarray(array, np.float32)
    with np.errstate(all="ignore"):
        expected = np.prod(values)
    np.testing.assert_array_equal(reductions.prod_of(values, None, False, None), expected)
    np.testing.assert_array_equal(reductions.prod_of(values[::-1], None, False, None), expected)
    assert reductions.prod_of(values.reshape(2, 1), None, True, None).shape == (1, 1)
