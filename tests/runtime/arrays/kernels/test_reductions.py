"""Sums, extremes and means over every choice of axes."""

import itertools

import array_testing as kernels
import numpy as np
import pytest
from operands import FLOATS, assert_close, assert_same, values

from gradsmith.runtime.arrays import array

SHAPES = [(), (5,), (3, 4), (0, 3), (2, 3, 4), (1, 3, 1, 2), (100, 3), (5000, 3), (3, 5000), (40000,), (2, 40000),
          (2000, 2, 3), (3, 2000, 5), (300, 700)]  # fmt: skip


def views(x):
    yield x
    yield x.T
    if x.ndim:
        yield x[::2]
        yield x[..., ::-1]
    if x.ndim > 1:
        yield np.moveaxis(x, 0, -1)


@pytest.mark.parametrize("dtype", [*FLOATS, "complex64", "int32", "bool", "float16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_sum(dtype, shape, threads):
    x = np.asarray(values(dtype, shape))
    wide = {"i": "int64", "b": "int64", "f": "float64", "c": "complex128"}[x.dtype.kind]
    result_type = wide if x.dtype.kind in "ib" else dtype
    rtol = {"float16": 2e-2, "float32": 2e-5, "complex64": 1e-4}.get(dtype, 1e-12)
    for y in views(x):
        for n in range(y.ndim + 1):
            for axes in itertools.combinations(range(y.ndim), n):
                for keepdims in (False, True):
                    result = kernels.apply_sum(y, axes or None, keepdims)
                    expected = y.astype(wide).sum(axis=axes or None, keepdims=keepdims)
                    assert result.dtype == result_type
                    assert_close(result, expected, rtol)


@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "bool"])
@pytest.mark.parametrize("shape", [s for s in SHAPES if 0 not in s])
def test_extremes(dtype, shape, threads):
    x = np.asarray(values(dtype, shape))
    for y in views(x):
        for axis in [None, *range(y.ndim)]:
            assert_same(kernels.apply_amax(y, axis), np.asarray(y.max(axis)))
            assert_same(kernels.apply_amin(y, axis, True), np.asarray(y.min(axis, keepdims=True)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("rows", [1, 2, 9, 300])
def test_extremes_of_short_rows(dtype, rows, threads):
    """Short rows are looked through together with the beginning of the next; NaN stays in its row, or column."""
    for n in (*range(1, 40), 63, 64, 65, 100, 255, 256, 257, 1023, 1024, 1025):
        x = values(dtype, (rows, n))
        x[::3, n // 2] = np.nan
        x[1::3, n - 1] = np.inf
        x[2::3, 0] = -np.inf
        assert_same(kernels.apply_amax(x, 1, False), x.max(1))
        assert_same(kernels.apply_amin(x, 1, False), x.min(1))
        for stacked in (np.stack([x, -x]), np.stack([x[:, ::-1], x])):
            assert_same(kernels.apply_amax(stacked, 1, False), stacked.max(1))
            assert_same(kernels.apply_amin(stacked, 1, False), stacked.min(1))


def test_extremes_of_nan_and_nothing():
    x = np.array([[1.0, np.nan], [2.0, 3.0]])
    np.testing.assert_array_equal(kernels.apply_amax(x, 1), [np.nan, 3])
    np.testing.assert_array_equal(kernels.apply_amin(x, 0), [1, np.nan])
    with pytest.raises(IndexError, match="amax.*non-zero size"):
        kernels.apply_amax(np.ones((0, 3)), 0)
    assert kernels.apply_amax(np.ones((0, 3)), 1).shape == (0,)


def test_mean():
    x = values("float32", (30, 40))
    assert_close(kernels.apply_mean(x, 1), x.mean(1), 1e-6)
    assert_close(kernels.apply_mean(values("complex128", 10)), values("complex128", 10).mean(), 1e-14)
    assert np.isnan(kernels.apply_mean(np.ones((0, 2)), 0)).all()
    with pytest.raises(RuntimeError, match="could not infer output dtype"):
        kernels.apply_mean(np.arange(3))


@pytest.mark.parametrize("function", [kernels.apply_sum, kernels.apply_amax, kernels.apply_logsumexp])
def test_bad_axes(function):
    x = np.ones((2, 3))
    with pytest.raises(IndexError, match=r"expected to be in range of \[-2, 1\], but got 2"):
        function(x, 2)
    with pytest.raises(RuntimeError, match="dim 1 appears multiple times"):
        function(x, (1, -1))
    with pytest.raises(TypeError):
        function(x, "1")
    assert function(x, ()).shape == ()


@pytest.mark.parametrize("shape", [(), (1,), (4,), (3, 4), (1, 4), (3, 1), (2, 3, 4), (2, 1, 4), (1, 1, 1)])
def test_sum_to(shape):
    x = values("float64", (2, 3, 4))
    result = kernels.apply_sum_to(x, shape)
    axes = tuple(range(3 - len(shape))) + tuple(i + 3 - len(shape) for i, n in enumerate(shape) if n == 1)
    assert_close(result, x.sum(axes, keepdims=True).reshape(shape), 1e-14)
    assert kernels.apply_sum_to(x, x.shape) is x
    with pytest.raises(RuntimeError, match=r"cannot sum an array of shape \[2, 3, 4\] to shape \[5\]"):
        kernels.apply_sum_to(x, (5,))


def test_sums_do_not_depend_on_threads():
    before = array.get_num_threads()
    results = []
    for n_threads in (1, 2, 5):
        array.set_num_threads(n_threads)
        results.append(
            [
                kernels.apply_sum(values("float32", shape), axis).tobytes()
                for shape, axis in [((1_000_000,), None), ((3000, 700), 0), ((3000, 700), 1), ((200_000, 3), 0)]
            ]
        )
    array.set_num_threads(before)
    assert results[0] == results[1] == results[2]


def test_sum_is_accurate():
    x = np.full(10_000_000, 0.1, "float32")
    exact = float(np.float32(0.1)) * x.size
    assert abs(float(kernels.apply_sum(x)) - exact) < exact * 1e-6
    assert abs(float(kernels.apply_sum(x.reshape(-1, 10), 0)[3]) - exact / 10) < exact * 1e-6
