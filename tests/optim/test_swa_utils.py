"""Averages of parameters, over modules that have what averages ask of them."""

import copy

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.optim import swa_utils


class Module:
    """As much of `nn.Module` as averages use."""

    def __init__(self, parameters=(), buffers=(), parts=()):
        self._tensors, self._buffers, self._parts = list(parameters), list(buffers), list(parts)
        self.training = True

    def __call__(self, *args):
        return self.forward(*args)

    def register_buffer(self, name, value):
        setattr(self, name, value)

    def modules(self):
        return [self, *(found for part in self._parts for found in part.modules())]

    def parameters(self):
        return [p for module in self.modules() for p in module._tensors]

    def buffers(self):
        return [b for module in self.modules() for b in module._buffers]

    def to(self, device):
        return self

    def train(self, mode=True):
        for module in self.modules():
            module.training = mode


class _BatchNorm(Module):
    momentum = 0.1

    def reset_running_stats(self):
        self.seen = []

    def forward(self, x):
        assert self.momentum is None and self.training
        self.seen.append(x.tolist())


@pytest.fixture
def averaged(monkeypatch):
    monkeypatch.setattr(gs.nn, "Module", Module, raising=False)
    return swa_utils._averaged_model()


def model_of(value, buffer=0.0):
    return Module([gs.full((2,), value).requires_grad_()], [gs.full((1,), buffer)])


@pytest.mark.parametrize(
    "settings, expected",
    [
        ({}, 7 / 3),
        ({"avg_fn": swa_utils.get_ema_avg_fn(0.75)}, (1 * 0.75 + 2 * 0.25) * 0.75 + 4 * 0.25),
        ({"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.75)}, (1 * 0.75 + 2 * 0.25) * 0.75 + 4 * 0.25),
        ({"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()}, 7 / 3),
        ({"avg_fn": lambda old, new, count: old * count + new}, (1 * 1 + 2) * 2 + 4),
    ],
)
@pytest.mark.parametrize("use_buffers", [False, True])
def test_averages(averaged, settings, expected, use_buffers):
    model = model_of(0.0)
    average = averaged(model, use_buffers=use_buffers, **settings)
    for value in (1.0, 2.0, 4.0):
        average.update_parameters(model_of(value, value))
    (p,), (b,) = average.module.parameters(), average.module.buffers()
    np.testing.assert_allclose(p.detach().numpy(), expected, rtol=1e-6)
    assert b.item() == pytest.approx(expected if use_buffers else 4.0)
    assert average.n_averaged.item() == 3 and model.parameters()[0].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("kind", ["avg_fn", "multi_avg_fn"])
def test_functions_of_averages_see_no_parameters(averaged, kind):
    seen = []

    def average(old, new, count):
        pairs = [(old, new)] if kind == "avg_fn" else zip(old, new)
        seen.extend(one for pair in pairs for one in pair)
        return old

    model = averaged(model_of(0.0), **{kind: average})
    for _ in range(2):
        model.update_parameters(model_of(1.0))
    assert len(seen) == 2 and not any(one.requires_grad for one in seen)


def test_an_averaged_model_computes_what_its_copy_does(averaged):
    model = model_of(3.0)
    model.forward = lambda x: x + 1
    assert averaged(copy.copy(model))(1) == 2
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn"):
        averaged(model, avg_fn=max, multi_avg_fn=max)


@pytest.mark.parametrize("make", [swa_utils.get_ema_avg_fn, swa_utils.get_ema_multi_avg_fn])
def test_decays_that_are_refused(make):
    with pytest.raises(ValueError, match=r"Invalid decay value 2 provided. Please provide a value in \[0,1\] range."):
        make(2)


def test_statistics_are_computed_anew():
    norm = _BatchNorm()
    model = Module(parts=[norm])
    model.forward = norm
    model.train(False)
    swa_utils.update_bn([gs.ones(1), (gs.zeros(1), "label"), [gs.full((1,), 2.0)]], model)
    assert norm.seen == [[1.0], [0.0], [2.0]] and norm.momentum == 0.1 and not norm.training
    model.forward = lambda x: 1 / 0
    with pytest.raises(ZeroDivisionError):
        swa_utils.update_bn([gs.ones(1)], model)
    assert norm.momentum == 0.1 and not norm.training
    swa_utils.update_bn([1], Module())
