"""Gradients far from zero, where a formula that is merely right on paper overflows: closed forms say what they are."""

import math

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.nn import functional as F

FAR = [1e1, 1e2, 1e3, 1e4, 1e6, 1e12]
FARTHER = [1e15, 1e18]  # whose cubes float32 does not hold


def gradient(function: object, values: list[float], dtype: str) -> np.ndarray:
    x = gs.tensor(values, dtype=dtype, requires_grad=True)
    with np.errstate(all="raise", under="ignore", over="ignore"):
        function(x).sum().backward()  # type: ignore[operator]
    return x.grad.numpy()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "function",
    [F.silu, F.gelu, lambda x: F.gelu(x, approximate="tanh"), F.softplus, lambda x: F.softplus(x, threshold=1e30)],
    ids=["silu", "gelu", "gelu_tanh", "softplus", "softplus_without_threshold"],
)
def test_a_smooth_relu_is_a_relu_far_away(function: object, dtype: str) -> None:
    """The slope is one on the right, zero on the left."""
    far = FAR[1:] + FARTHER
    np.testing.assert_allclose(gradient(function, far, dtype), 1, rtol=1e-6)
    np.testing.assert_allclose(gradient(function, [-x for x in far], dtype), 0, atol=1e-30)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rsqrt(dtype: str) -> None:
    values = [1e-8, 1e-4, *FAR]
    wanted = [-0.5 * x**-1.5 for x in values]
    np.testing.assert_allclose(gradient(gs.rsqrt, values, dtype), wanted, rtol=1e-5 if dtype == "float32" else 1e-13)


def test_silu_near_the_left_end() -> None:
    """sigmoid(x) (1 + x (1 - sigmoid(x))), without cancellation, is exp(x) (1 + x) where exp(x) is tiny."""
    values = [-20.0, -50.0, -100.0, -500.0]
    np.testing.assert_allclose(gradient(F.silu, values, "float64"), [math.exp(x) * (1 + x) for x in values], rtol=1e-7)
