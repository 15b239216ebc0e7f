"""Arithmetic of many short rows, which loops of its own compute: the same bits as NumPy's, whatever is repeated."""

import array_testing as kernels
import numpy as np
import pytest
from operands import assert_same, reference, values

ARITHMETIC = ["ADD", "SUBTRACT", "MULTIPLY", "TRUE_DIVIDE"]
LENGTHS = [1, 2, 3, 7, 8, 16, 64, 65, 511, 512, 513]


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_of_every_length(name, dtype, length):
    plane, row, column = (np.abs(values(dtype, shape, seed)) for seed, shape in enumerate(shapes_of(length)))
    for a, b in [(plane, row), (row, plane), (plane, column), (column, plane), (row, column), (column, row)]:
        assert_same(kernels.apply_binary(name, a, b), reference(name, a, b))


def shapes_of(length):
    return (40, length), (length,), (40, 1)


@pytest.mark.parametrize("name", ARITHMETIC)
@pytest.mark.parametrize(
    "shapes",
    [
        ((64, 24), (10, 1, 24)),
        ((5, 1, 24), (1, 7, 24)),
        ((5, 7, 1), (1, 7, 24)),
        ((5, 1, 1, 24), (3, 7, 1)),
        ((0, 7, 24), (24,)),
        ((2, 3, 4, 5, 6), (3, 1, 5, 1)),
        ((9, 1), (9, 1, 1)),
    ],
)
def test_of_many_dimensions(name, shapes, threads):
    a, b = (values("float32", shape, seed) for seed, shape in enumerate(shapes))
    assert_same(kernels.apply_binary(name, a, b), reference(name, a, b))


@pytest.mark.parametrize("name", ARITHMETIC)
def test_divided_among_threads(name, threads):
    """Threads begin and end within a plane of rows."""
    a, b = values("float64", (97, 61, 33), 1), values("float64", (97, 1, 33), 2)
    assert_same(kernels.apply_binary(name, a, b), reference(name, a, b))


@pytest.mark.parametrize("name", ARITHMETIC)
def test_views(name):
    """Rows that lie apart, backwards or transposed, and rows of steps, which NumPy's loops compute."""
    base = values("float32", (60, 80), 3)
    row = values("float32", (40,), 4)
    for view in [base[:, 20:60], base[::-3, :40], base[:, 79:39:-1], base[:, ::2], base.T[:40, :40], base[:40, :40].T]:
        assert_same(kernels.apply_binary(name, view, row), reference(name, view, row))
        assert_same(kernels.apply_binary(name, row, view), reference(name, row, view))


@pytest.mark.parametrize("name", ARITHMETIC)
def test_special_values(name):
    plane = np.array([[0.0, -0.0, np.inf, -np.inf, np.nan, 1e308, 5e-324]] * 9)
    column = np.array([[0.0], [-0.0], [np.inf], [-np.inf], [np.nan], [1e308], [5e-324], [1.0], [-1.0]])
    result, expected = kernels.apply_binary(name, plane, column), reference(name, plane, column)
    assert_same(result, expected)
    numbers = ~np.isnan(expected)
    assert_same(np.signbit(result[numbers]), np.signbit(expected[numbers]))
