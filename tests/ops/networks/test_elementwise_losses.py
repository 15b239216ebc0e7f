"""Losses of pairs of elements against their definitions, with every reduction."""

import math
from functools import partial

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.autograd import grad

X = np.array([[-2.0, -0.5, 0.0], [0.25, 1.5, 3.0]])
T = np.array([[1.0, -1.0, -1.0], [-1.0, 1.0, -1.0]])
P = np.array([[0.0, 1.0, 0.25], [0.5, 0.75, 1.0]])
W = np.array([[1.0, 2.0, 0.5], [0.25, 1.0, 3.0]])

LOSSES = {
    "l1": (F.l1_loss, X, T, {}, np.abs(X - T)),
    "smooth_l1": (F.smooth_l1_loss, X, T, {}, np.where(abs(X - T) < 1, (X - T) ** 2 / 2, abs(X - T) - 0.5)),
    "smooth_l1 of 2": (
        F.smooth_l1_loss, X, T, {"beta": 2.0}, np.where(abs(X - T) < 2, (X - T) ** 2 / 4, abs(X - T) - 1),
    ),
    "smooth_l1 of 0": (F.smooth_l1_loss, X, T, {"beta": 0.0}, np.abs(X - T)),
    "huber of 2": (
        F.huber_loss, X, T, {"delta": 2.0}, np.where(abs(X - T) <= 2, (X - T) ** 2 / 2, 2 * (abs(X - T) - 1)),
    ),
    "huber with weights": (
        F.huber_loss, X, T, {"weight": gs.tensor(W)},
        W * np.where(abs(X - T) <= 1, (X - T) ** 2 / 2, abs(X - T) - 0.5),
    ),
    "soft_margin": (F.soft_margin_loss, X, T, {}, np.log1p(np.exp(-X * T))),
    "hinge_embedding": (
        F.hinge_embedding_loss, X, T, {"margin": 2.0}, np.where(T == 1, X, np.maximum(0, 2 - X)),
    ),
    "logits": (
        F.binary_cross_entropy_with_logits, X, P, {}, P * np.log1p(np.exp(-X)) + (1 - P) * np.log1p(np.exp(X)),
    ),
    "logits with weights": (
        F.binary_cross_entropy_with_logits, X, P, {"weight": gs.tensor(W), "pos_weight": gs.tensor([2.0, 0.5, 1.0])},
        W * (np.array([2, 0.5, 1]) * P * np.log1p(np.exp(-X)) + (1 - P) * np.log1p(np.exp(X))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_definitions(name):
    function, x, target, options, expected = LOSSES[name]
    x, target = gs.tensor(x), gs.tensor(target)
    np.testing.assert_allclose(function(x, target, reduction="none", **options).numpy(), expected, rtol=1e-13)
    np.testing.assert_allclose(function(x, target, reduction="sum", **options).item(), expected.sum(), rtol=1e-13)
    np.testing.assert_allclose(function(x, target, **options).item(), expected.mean(), rtol=1e-13)
    with pytest.raises(ValueError, match="'average' is not a valid value for reduction"):
        function(x, target, reduction="average", **options)
    if not options:
        assert math.isnan(function(x[:0], target[:0]).item())
        assert function(x[:0], target[:0], reduction="sum").item() == 0
        assert function(x[0, 0], target[0, 0]).shape == ()


def test_the_mean_of_l1_loss_is_weighted():
    found = F.l1_loss(gs.tensor(X), gs.tensor(T), weight=gs.tensor(W)).item()
    np.testing.assert_allclose(found, (W * abs(X - T)).sum() / W.sum())


def test_logits_far_away():
    x = gs.tensor([1e4, -1e4, 1e4, -1e4], requires_grad=True)
    loss = F.binary_cross_entropy_with_logits(x, gs.tensor([1.0, 0.0, 0.0, 1.0]), reduction="none")
    assert loss.tolist() == [0.0, 0.0, 1e4, 1e4]
    (first,) = grad(loss.sum(), x, create_graph=True)
    assert first.tolist() == [0.0, 0.0, 1.0, -1.0]
    assert grad(first.sum(), x)[0].tolist() == [0.0] * 4


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_logits_of_another_dtype_than_the_target(reduction):
    """As in PyTorch the loss is of the target's dtype, and weights do not count."""
    wide, narrow, half = (gs.full((3,), 0.5, dtype=dtype) for dtype in (gs.float64, gs.float32, gs.float16))
    loss = partial(F.binary_cross_entropy_with_logits, reduction=reduction)
    for x in (wide, narrow, half):
        for target in (wide, narrow, half):
            assert loss(x, target).dtype == target.dtype
            assert loss(x, x, weight=target).dtype == loss(x, x, pos_weight=target).dtype == x.dtype
        assert loss(x, gs.ones(3, dtype=gs.int64)).dtype == x.dtype
    x, target = wide.clone().requires_grad_(), narrow.clone().requires_grad_()
    assert [one.dtype for one in grad(loss(x, target).sum(), (x, target))] == [gs.float64, gs.float32]


@pytest.mark.parametrize(
    ("error", "call"),
    [
        (RuntimeError, lambda x: F.smooth_l1_loss(x, x, beta=-1.0)),
        (RuntimeError, lambda x: F.huber_loss(x, x, delta=0.0)),
        (ValueError, lambda x: F.binary_cross_entropy_with_logits(x, x[:1])),
        (NotImplementedError, lambda x: F.smooth_l1_loss(x.long(), x.long())),
    ],
)
def test_wrong_arguments(error, call):
    with pytest.raises(error):
        call(gs.ones(3))
