"""Adafactor against its rule over NumPy."""

import numpy as np
import pytest

import gradsmith as gs


def rms(x):
    return np.sqrt(np.mean(x**2))


def variance_of(kept, g, rest, eps):
    if g.ndim < 2:
        kept["v"] = kept.get("v", 0) * (1 - rest) + rest * g**2
        return kept["v"]
    kept["r"] = kept.get("r", 0) * (1 - rest) + rest * (g**2).mean(-1, keepdims=True)
    kept["c"] = kept.get("c", 0) * (1 - rest) + rest * (g**2).mean(-2, keepdims=True)
    return kept["r"] * kept["c"] / np.maximum(kept["r"].mean(-2, keepdims=True), eps)


@pytest.mark.parametrize(
    "settings", [{}, {"lr": 0.1, "weight_decay": 0.1}, {"maximize": True, "d": 2.0, "eps": (1e-3, 1e-2)}]
)
@pytest.mark.parametrize("shape", [(), (4,), (3, 5), (2, 3, 4)])
def test_steps_follow_the_rule(shape, settings):
    rng = np.random.default_rng(0)
    expected, kept = rng.normal(size=shape), {}
    p = gs.tensor(expected, requires_grad=True)
    optimizer = gs.optim.Adafactor([p], **settings)
    lr, eps, d = settings.get("lr", 0.01), settings.get("eps", (None, 1e-3)), settings.get("d", 1.0)
    eps1 = np.finfo(np.float64).eps if eps[0] is None else eps[0]
    for t in range(1, 8):
        g = rng.normal(size=shape)
        p.grad = gs.tensor(g)
        optimizer.step()
        g = -g if settings.get("maximize") else g
        update = g / np.sqrt(np.maximum(variance_of(kept, g, t**-0.8, eps1), eps1**2))
        rate = max(eps[1], rms(expected)) * min(lr, t**-0.5) / max(1.0, rms(update) / d)
        expected = expected * (1 - lr * settings.get("weight_decay", 0)) - rate * update
        np.testing.assert_allclose(p.detach().numpy(), expected, rtol=1e-12)


def test_a_matrix_takes_little_memory():
    p = gs.ones(100, 50).requires_grad_()
    p.grad = gs.ones(100, 50)
    optimizer = gs.optim.Adafactor([p])
    optimizer.step()
    assert {name: tuple(value.shape) for name, value in optimizer.state[p].items()} == {
        "step": (),
        "row_var": (100, 1),
        "col_var": (1, 50),
    }


def test_complex_parameters_are_refused():
    p = gs.tensor([1j], requires_grad=True)
    p.grad = gs.tensor([1j])
    with pytest.raises(RuntimeError, match="Adafactor does not support complex parameters"):
        gs.optim.Adafactor([p]).step()
