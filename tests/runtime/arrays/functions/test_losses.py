"""Losses."""

import numpy as np
import pytest
from arrays import assert_near, generator

from gradsmith.runtime.arrays.functions import losses


def reference_nll(x, target, weight, ignored):
    """Loss and weight of every target, by the definition."""
    x, scale = np.moveaxis(x, 1, -1), np.ones(x.shape[1]) if weight is None else weight
    each, weights = np.zeros(target.shape), np.zeros(target.shape)
    for place in np.ndindex(target.shape):
        if target[place] != ignored:
            weights[place] = scale[target[place]]
            each[place] = -weights[place] * x[(*place, target[place])]
    return each, weights


@pytest.mark.parametrize("size", [(5, 3), (2, 3, 4), (2, 3, 2, 2), (0, 3)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nll_loss(size, weighted, dtype):
    x = generator.normal(size=size).astype(dtype)
    target = generator.integers(0, 3, size=(size[0], *size[2:]))
    weight = np.array([0.5, 1.0, 2.0], dtype) if weighted else None
    for ignored in (-100, 1):
        each, weights = reference_nll(x, target, weight, ignored)
        assert_near(losses.nll_loss_of(x, target, weight, ignored, "none"), each.astype(dtype))
        assert_near(losses.nll_loss_of(x, target, weight, ignored, "sum"), np.asarray(each.sum(), dtype))
        if weights.sum():
            mean = np.asarray(each.sum() / weights.sum(), dtype)
            assert_near(losses.nll_loss_of(x, target, weight, ignored, "mean"), mean)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_nll_loss_backward_is_the_transpose(reduction):
    x, target = generator.normal(size=(2, 3, 4)), generator.integers(0, 3, size=(2, 4))
    weight = np.array([0.5, 1.0, 2.0])
    value = losses.nll_loss_of(x, target, weight, 1, reduction)
    grad = generator.normal(size=value.shape)
    spread = losses.nll_loss_backward_of(np.asarray(grad), target, weight, (2, 3, 4), 1, reduction)
    np.testing.assert_allclose((spread * x).sum(), (grad * value).sum())


def test_mean_loss_of_no_targets_is_nan():
    assert np.isnan(losses.nll_loss_of(np.zeros((1, 3)), np.array([2]), None, 2, "mean"))


@pytest.mark.parametrize(
    ("target", "weight", "reduction", "error", "message"),
    [
        (np.array([0, 3]), None, "mean", IndexError, "Target 3 is out of bounds: there are 3 classes"),
        (
            np.array([0]),
            None,
            "mean",
            ValueError,
            r"Expected target size \[2\], got \[1\]: nll_loss\(\) takes this for an input of size \[2, 3\]",
        ),
        (np.array([0.0, 1.0]), None, "mean", RuntimeError, "float64"),
        (np.array([0, 1]), np.ones(2), "mean", RuntimeError, "either for all 3 classes"),
        (np.array([0, 1]), None, "all", ValueError, "'all' is not a valid value for reduction"),
    ],
)
def test_nll_loss_refuses(target, weight, reduction, error, message):
    with pytest.raises(error, match=message):
        losses.nll_loss_of(np.zeros((2, 3)), target, weight, -100, reduction)


def test_mse_loss():
    a, b = generator.normal(size=(3, 4)), generator.normal(size=4)
    assert_near(losses.mse_loss_of(a, b, "none"), (a - b) ** 2)
    assert_near(losses.mse_loss_of(a, b, "mean"), np.asarray(((a - b) ** 2).mean()))
    c, d = (generator.normal(size=10_001).astype(np.float32) for _ in range(2))
    assert_near(losses.mse_loss_of(c[::2], d[::2], "sum"), np.sum((c[::2] - d[::2]) ** 2, dtype=np.float32))
    with pytest.raises(RuntimeError, match=r"\[3, 4\] of the input and \[3\] of the target"):
        losses.mse_loss_of(a, np.zeros(3), "sum")
