"""NaN-safe mode: zeros that come into an elementwise op go out as zeros, and nothing else changes."""

import math

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import grad, nan_safe

nan, inf = math.nan, math.inf


def root(x):
    return gs.where(x > 0, x.sqrt(), 0 * x)


MASKED = {  # a function whose other branch has no derivative, the point, the gradient
    "sqrt": (root, [0.0, 4.0, -1.0, nan], [0.0, 0.25, 0.0, 0.0]),
    "log": (lambda x: gs.where(x > 0, x.log(), 0.0), [0.0, 4.0], [0.0, 0.25]),
    "quotient": (lambda x: gs.where(x == 0, 1.0, x.sin() / x), [0.0, math.pi], [0.0, -1 / math.pi]),
    "power": (lambda x: gs.where(x > 0, x**0.5, 0.0), [0.0, 4.0], [0.0, 0.25]),
    "masked": (lambda x: x.sqrt().masked_fill(x <= 0, 0.0), [0.0, 4.0], [0.0, 0.25]),
    "chain": (lambda x: gs.where(x > 0, (x.log() * 0.5).exp(), 0.0), [0.0, 4.0], [0.0, 0.25]),
}


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", MASKED)
def test_the_branch_not_taken(name, dtype, create_graph):
    function, point, expected = MASKED[name]
    x = gs.tensor(point, dtype=dtype, requires_grad=True)
    (plain,) = grad(function(x).sum(), x)
    with nan_safe():
        (safe,) = grad(function(x).sum(), x, create_graph=create_graph)
    assert plain.isnan().any() and safe.dtype == x.dtype
    np.testing.assert_allclose(safe.detach().numpy(), expected, rtol=1e-2 if dtype == "float16" else 1e-6, atol=1e-6)


def test_what_is_broadcast_is_summed_afterwards():
    x = gs.tensor([0.0, 4.0], requires_grad=True)
    b = gs.tensor([[1.0], [2.0]], requires_grad=True)
    with nan_safe():
        found = grad(gs.where(x > 0, b / x, 0.0).sum(), (x, b))
    assert found[0].tolist() == [0.0, -0.1875] and found[1].tolist() == [[0.25], [0.25]]


def test_second_gradients():
    x = gs.tensor([0.0, 4.0], dtype="float64", requires_grad=True)
    with nan_safe():
        (first,) = grad(root(x).sum(), x, create_graph=True)
        (second,) = grad(first.sum(), x)
    np.testing.assert_allclose(second.numpy(), [0.0, -(4.0**-1.5) / 4])


def test_only_nan_at_zeros_changes():
    x = gs.tensor([0.0, 1.0], requires_grad=True)
    with nan_safe():
        assert grad((x - 1).sqrt().sum(), x)[0].tolist()[1] == inf
        assert math.isnan(grad((x - 1).sqrt().sum(), x)[0][0].item())  # the gradient that comes in is one
        assert math.isnan(grad((x * nan).cumsum(0)[1], x)[0][0].item())


def test_derivatives_by_zero_gradients_are_not_cut():
    x = gs.tensor([4.0], dtype="float64", requires_grad=True)
    v = gs.zeros(1, dtype="float64", requires_grad=True)
    with nan_safe():
        (first,) = grad(x.sqrt(), x, v, create_graph=True)
        assert grad(first.sum(), v)[0].tolist() == [0.25]


def test_batches():
    slope = gs.func.grad(lambda v: gs.where(v > 0, v.sqrt(), 0.0))
    with nan_safe():
        assert gs.vmap(slope)(gs.tensor([0.0, 4.0])).tolist() == [0.0, 0.25]


def test_hooks_and_graphs_that_are_kept():
    x = gs.tensor([0.0, 4.0], requires_grad=True)
    y = x.sqrt()
    seen = []
    y.register_hook(seen.append)
    with nan_safe():
        gs.where(x > 0, y, 0.0).sum().backward()
    assert x.grad.tolist() == [0.0, 0.25] and len(seen) == 1


def test_the_mode_ends_with_the_block():
    x = gs.tensor([0.0], requires_grad=True)
    with nan_safe():
        with nan_safe(False):
            assert not gs.autograd.is_nan_safe_enabled()
        assert gs.autograd.is_nan_safe_enabled()
    assert not gs.autograd.is_nan_safe_enabled()
    assert grad(root(x).sum(), x)[0].isnan().all()


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
@pytest.mark.filterwarnings("ignore:Error detected")
def test_anomaly_mode_names_the_branch():
    x = gs.tensor([0.0, 4.0], requires_grad=True)
    with gs.autograd.detect_anomaly():
        with pytest.raises(RuntimeError, match=r"'SqrtBackward0' returned nan .* first at index \[0\].*nan_safe"):
            root(x).sum().backward()
        with nan_safe():
            (found,) = grad(gs.where(x > 0, (x + (x <= 0)).sqrt(), 0 * x).sum(), x)
    assert found.tolist() == [0.0, 0.25]
