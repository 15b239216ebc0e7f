"""Dtypes of results. The outcomes are PyTorch's."""

import array_testing as kernels
import numpy as np
import pytest
from operands import assert_close, assert_near, assert_same, values

from gradsmith.runtime.arrays import array


@pytest.mark.parametrize(
    "a, b, expected",
    [
        ("float32", "float64", "float64"),
        ("int64", "float32", "float32"),
        ("bool", "int8", "int8"),
        ("int8", "uint8", "int16"),
        ("float64", "complex64", "complex128"),
        ("int64", "complex64", "complex64"),
        ("float16", "float32", "float32"),
        ("bool", "bool", "bool"),
    ],
)
def test_promotion_of_equals(a, b, expected):
    x, y = values(a, 3, 1), values(b, 3, 2)
    assert kernels.apply_binary("ADD", x, y).dtype == expected
    assert kernels.apply_binary("ADD", y, x).dtype == expected


@pytest.mark.parametrize(
    "dimensioned, zero_dim, expected",
    [
        ("float32", "float64", "float32"),
        ("float32", "complex128", "complex64"),
        ("int8", "int64", "int8"),
        ("int64", "float64", "float64"),
        ("int64", "float32", "float32"),
        ("bool", "int8", "int8"),
        ("float32", "int64", "float32"),
        ("float64", "complex64", "complex128"),
    ],
)
def test_zero_dim_arrays_are_weak(dimensioned, zero_dim, expected):
    x, y = values(dimensioned, 3, 1), values(zero_dim, (), 2)
    result = kernels.apply_binary("MULTIPLY", x, y)
    assert result.dtype == expected
    assert_close(result, x * y, 1e-5)
    assert kernels.apply_binary("MULTIPLY", y, x).dtype == expected


@pytest.mark.parametrize(
    "dtype, number, expected",
    [
        ("float32", 2.5, "float32"),
        ("float32", 2, "float32"),
        ("float32", True, "float32"),
        ("float32", 1j, "complex64"),
        ("float64", 1j, "complex128"),
        ("int64", 2, "int64"),
        ("int64", 2.5, "float32"),
        ("int8", 2, "int8"),
        ("bool", 2, "int64"),
        ("bool", 2.5, "float32"),
        ("bool", True, "bool"),
        ("int64", 1j, "complex64"),
        ("complex64", 2.5, "complex64"),
        ("float32", np.float64(2.5), "float32"),
        ("float32", np.int8(2), "float32"),
        ("int8", np.bool_(True), "int8"),
    ],
)
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("shape", [(3,), ()])
def test_numbers_are_weakest(dtype, number, expected, first, shape):
    x = values(dtype, shape)
    result = kernels.apply_scalar("MULTIPLY", x, number, first)
    assert result.dtype == expected
    assert_close(result, (x * number), 1e-5)


def test_default_dtype():
    x = values("int64", 3)
    assert array.get_default_dtype() == np.float32
    assert kernels.apply_unary("SIN", x).dtype == "float32"
    array.set_default_dtype(np.float64)
    try:
        assert kernels.apply_unary("SIN", x).dtype == "float64"
        assert kernels.apply_binary("TRUE_DIVIDE", x, x).dtype == "float64"
        assert kernels.apply_scalar("ADD", x, 0.5).dtype == "float64"
        assert kernels.apply_scalar("ADD", x, 1j).dtype == "complex128"
    finally:
        array.set_default_dtype(np.float32)
    with pytest.raises(TypeError, match="only float32, float64 and float16"):
        array.set_default_dtype(np.int64)


def test_integers_in_float_functions():
    x = values("int64", 5)
    assert_near(kernels.apply_unary("EXP", x), np.exp(x.astype("float32")))
    assert_same(kernels.apply_binary("TRUE_DIVIDE", x, x[::-1]), x.astype("float32") / x[::-1].astype("float32"))
    assert_same(kernels.apply_unary("FLOOR", x), x)
    assert_same(kernels.apply_unary("CONJUGATE", x), x)
    assert kernels.apply_unary("FLOOR", x) is not x
    assert_same(kernels.apply_unary("SQUARE", np.array([True, False])), np.array([1, 0]))
