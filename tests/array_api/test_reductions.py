"""Reductions, running sums and differences, against NumPy's."""

import itertools

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.array_api as xp
from tests.array_api.samples import ALL, FLOATS, INEXACT, NUMERIC, REAL, agrees, sample

REDUCTIONS = {
    "sum": NUMERIC, "prod": NUMERIC, "max": REAL, "min": REAL, "mean": INEXACT, "std": FLOATS, "var": FLOATS,
    "all": ALL, "any": ALL, "count_nonzero": ALL,
}  # fmt: skip
AXES = [None, 0, -1, (0,), (0, 2), (), (-1, 0, 1)]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    for dtype, axis, keepdims in itertools.product(REDUCTIONS[name], AXES, [False, True]):
        agrees(name, sample(dtype, (2, 3, 4)), axis=axis, keepdims=keepdims, tolerance=1e-3)
    for dtype in REDUCTIONS[name]:
        agrees(name, sample(dtype, ()))


@pytest.mark.parametrize("name", ["sum", "prod", "all", "any", "count_nonzero"])
def test_of_nothing(name):
    for dtype in REDUCTIONS[name]:
        agrees(name, sample(dtype, (0, 3)), axis=0)
        agrees(name, sample(dtype, (0, 3)))


@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
def test_another_dtype(name):
    for dtype in (np.dtype(np.float32), np.dtype(np.int16), np.dtype(np.complex128)):
        agrees(name, sample("int8", (5,)), dtype=dtype)


@pytest.mark.parametrize("correction", [0, 1, 0.5])
def test_spread(correction):
    for axis in (0, None, (0, 1)):
        agrees("std", sample("float64"), axis=axis, correction=correction)
        agrees("var", sample("float64"), axis=axis, correction=correction, keepdims=True)


def test_spread_by_nothing():
    assert xp.all(xp.var(xp.asarray(sample("float64")), axis=0, correction=4) == xp.inf)


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_so_far(name):
    for dtype, axis, initial in itertools.product(NUMERIC, [0, 1, -1], [False, True]):
        agrees(name, sample(dtype, (2, 3)), axis=axis, include_initial=initial, tolerance=1e-3)
    for dtype in NUMERIC:
        agrees(name, sample(dtype, (5,)), tolerance=1e-3)
    with pytest.raises(ValueError, match=rf"^{name}\(\): axis must be given for a tensor of 2 dimensions"):
        getattr(xp, name)(xp.ones((2, 2)))


def test_differences():
    for dtype in NUMERIC:
        array = sample(dtype, (2, 3))
        agrees("diff", array, n=2)
        agrees("diff", array, axis=0, prepend=array, append=array)
        agrees("diff", array, n=0)


def test_axes_that_are_not_there():
    x = xp.ones((2, 3))
    for name in ("sum", "max", "any", "std"):
        with pytest.raises(IndexError, match=rf"^{name}\(\): axis 2 is out of range for a tensor of 2 dimensions"):
            getattr(xp, name)(x, axis=2)
        with pytest.raises(ValueError, match=rf"^{name}\(\): an axis is named twice"):
            getattr(xp, name)(x, axis=(0, -2))


def test_nan_is_passed_on():
    x = xp.asarray([1.0, float("nan"), 3.0])
    assert xp.isnan(xp.max(x)) and xp.isnan(xp.min(x)) and xp.isnan(xp.sum(x))


def test_gradients_flow():
    x = gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True, dtype=gs.float64)
    for function in (
        lambda x: xp.prod(x, axis=(0, 1)),
        lambda x: xp.var(x, axis=0, correction=1),
        lambda x: xp.cumulative_sum(x, axis=1, include_initial=True),
        lambda x: xp.diff(x, axis=0, prepend=x),
        lambda x: xp.max(x, axis=()),
        lambda x: xp.mean(x, keepdims=True),
    ):
        assert gs.autograd.gradcheck(function, (x,))
