"""Muon against its rule over NumPy, and its iteration against singular values."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.optim.muon import COEFFICIENTS, orthogonalized


def newton_schulz(x, coefficients, steps, eps):
    if x.shape[0] > x.shape[1]:
        return newton_schulz(x.T, coefficients, steps, eps).T
    u, s, vh = np.linalg.svd(x / max(np.linalg.norm(x), eps), full_matrices=False)
    a, b, c = coefficients
    for _ in range(steps):
        s = a * s + b * s**3 + c * s**5
    return u * s @ vh


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4), (1, 3)])
@pytest.mark.parametrize(
    "settings",
    [{}, {"nesterov": False, "lr": 0.1}, {"adjust_lr_fn": "match_rms_adamw", "ns_steps": 3, "momentum": 0.5}],
)
def test_steps_follow_the_rule(shape, settings):
    rng = np.random.default_rng(0)
    expected, buffer = rng.normal(size=shape), np.zeros(shape)
    p = gs.tensor(expected, requires_grad=True)
    optimizer = gs.optim.Muon([p], **settings)
    lr, momentum = settings.get("lr", 1e-3), settings.get("momentum", 0.95)
    factor = 0.2 * max(shape) ** 0.5 if "adjust_lr_fn" in settings else max(1, shape[0] / shape[1]) ** 0.5
    for _ in range(5):
        g = rng.normal(size=shape)
        p.grad = gs.tensor(g)
        optimizer.step()
        buffer = momentum * buffer + (1 - momentum) * g
        x = momentum * buffer + (1 - momentum) * g if settings.get("nesterov", True) else buffer
        x = newton_schulz(x, COEFFICIENTS, settings.get("ns_steps", 5), 1e-7)
        expected = expected * (1 - lr * 0.1) - lr * factor * x
        np.testing.assert_allclose(p.detach().numpy(), expected, rtol=1e-10)


def test_singular_values_come_near_to_one():
    x = gs.tensor(np.random.default_rng(1).normal(size=(6, 4)))
    values = np.linalg.svd(orthogonalized(x, COEFFICIENTS, 6, 1e-7).numpy(), compute_uv=False)
    assert ((values > 0.5) & (values < 1.5)).all()
    assert orthogonalized(gs.zeros(2, 3), COEFFICIENTS, 5, 1e-7).tolist() == [[0.0] * 3] * 2


def test_a_loaded_optimizer_goes_on():
    p = gs.eye(3).requires_grad_()
    optimizer = gs.optim.Muon([p])
    p.grad = gs.ones(3, 3)
    optimizer.step()
    q = p.detach().clone().requires_grad_()
    other = gs.optim.Muon([q])
    other.load_state_dict(optimizer.state_dict())
    q.grad = gs.ones(3, 3)
    optimizer.step()
    other.step()
    assert p.tolist() == q.tolist() and str(optimizer) == str(other)


def test_what_is_refused():
    p = gs.eye(2).requires_grad_()
    for params, settings, message in (
        ([gs.ones(2)], {}, r"Muon only supports 2D parameters whereas we found a parameter with size: \[2\]"),
        ([p], {"momentum": -1}, "momentum should be >= 0 but is: -1"),
        ([p], {"weight_decay": -1}, "weight decay should be >= 0 but is: -1"),
        ([p], {"adjust_lr_fn": "x"}, "Adjust learning rate function x is not supported"),
    ):
        with pytest.raises(ValueError, match=message):
            gs.optim.Muon(params, **settings)
    p.grad = gs.ones(2, 2)
    for settings, message in (({"ns_steps": 100}, "less than 100"), ({"ns_coefficients": (1, 2)}, "exactly 3 values")):
        with pytest.raises(ValueError, match=message):
            gs.optim.Muon([p], **settings).step()
    c = gs.eye(2, dtype=gs.complex64).requires_grad_()
    c.grad = gs.eye(2, dtype=gs.complex64)
    optimizer = gs.optim.Muon([{"params": p}, {"params": c}])
    with pytest.raises(RuntimeError, match="does not support complex parameters"):
        optimizer.step()
    assert (p == gs.eye(2)).all() and not optimizer.state
