"""Elementwise functions that NumPy has not, or has with other dtypes."""

import numpy as np
import pytest
from arrays import assert_near, assert_same, generator

from gradsmith.runtime.arrays.functions import pointwise


def test_where_promotes_like_arithmetic():
    condition = np.array([True, False])
    assert pointwise.where_of(condition, np.ones(2, np.float32), 2.0).dtype == np.float32
    assert pointwise.where_of(condition, np.ones(2, np.int64), 2.5).dtype == np.float32
    assert_same(pointwise.where_of(condition, np.ones(2), np.zeros((3, 1))), np.array([[1.0, 0.0]] * 3))
    with pytest.raises(RuntimeError, match="bool tensor"):
        pointwise.where_of(np.array([1, 0]), 1.0, 2.0)
    with pytest.raises(RuntimeError, match="do not broadcast"):
        pointwise.where_of(condition, np.ones(3), np.ones(2))


def test_erf():
    from math import erf

    array = generator.normal(size=(4, 3))[:, ::2]
    expected = np.vectorize(erf)(array)
    assert_near(pointwise.erf_of(array), expected)
    assert_near(pointwise.erf_of(array.astype(np.float32)), expected.astype(np.float32))
    assert pointwise.erf_of(np.arange(3)).dtype == np.float32
    assert pointwise.erf_of(array.astype(np.float16)).dtype == np.float16
    with pytest.raises(NotImplementedError, match="complex128"):
        pointwise.erf_of(array + 0j)


@pytest.mark.parametrize(("mode", "rounded"), [("floor", np.floor), ("trunc", np.trunc)])
@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float32, np.float64])
def test_rounded_division(mode, rounded, dtype):
    a, b = np.meshgrid(np.array([-7, -3, -1, 0, 2, 7], dtype), np.array([-3, -2, 2, 5], dtype))
    assert_same(pointwise.rounded_div_of(a, b, mode), rounded(a / b).astype(dtype))


def test_rounded_division_refuses():
    with pytest.raises(RuntimeError, match="'up'"):
        pointwise.rounded_div_of(np.ones(2), 1.0, "up")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        pointwise.rounded_div_of(np.arange(2), 0, "floor")
