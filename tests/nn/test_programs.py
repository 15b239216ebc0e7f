"""Modules together with gradients, transforms and training loops."""

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith import func, nn
from gradsmith.autograd import gradcheck
from gradsmith.nn.utils import parametrizations

RNG = np.random.default_rng(0)


def net():
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)).double()


X = gs.tensor(RNG.standard_normal((5, 3)))


def test_a_net_learns():
    gs.manual_seed(0)
    points = gs.tensor(RNG.uniform(-1, 1, (128, 2)).astype(np.float32))
    labels = (points[:, 0] * points[:, 1] > 0).long()
    model, loss = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2)), nn.CrossEntropyLoss()
    for _ in range(300):
        model.zero_grad()
        loss(model(points), labels).backward()
        with gs.no_grad():
            for parameter in model.parameters():
                parameter -= 0.5 * parameter.grad
    assert (model(points).argmax(1) == labels).float().mean().item() > 0.95


def test_a_convolutional_net_learns():
    gs.manual_seed(0)
    images = gs.randn(32, 1, 8, 8)
    labels = (images[:, 0, :4].sum((1, 2)) > images[:, 0, 4:].sum((1, 2))).long()
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.1),
        nn.Linear(64, 2),
    )  # fmt: skip
    before = nn.functional.cross_entropy(model.eval()(images), labels).item()
    model.train()
    for _ in range(60):
        model.zero_grad()
        F.cross_entropy(model(images), labels).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        with gs.no_grad():
            for parameter in model.parameters():
                parameter.sub_(parameter.grad, alpha=0.1)
    assert F.cross_entropy(model.eval()(images), labels).item() < 0.3 * before


def test_gradients_of_all_orders():
    model = net()
    assert gradcheck(lambda x, *parameters: func.functional_call(model, dict(zip(names(model), parameters)), x),
                     (X.clone().requires_grad_(), *model.parameters()))  # fmt: skip
    (first,) = gs.autograd.grad(model(X).square().sum(), model[0].weight, create_graph=True)
    (second,) = gs.autograd.grad(first.square().sum(), model[2].weight)
    assert second.shape == (2, 4) and second.any()


def names(model):
    return [name for name, _ in model.named_parameters()]


def test_functional_calls():
    model = net()
    state = {name: tensor.detach() * 2 for name, tensor in model.named_parameters()}
    expected = F.linear(F.linear(X, state["0.weight"], state["0.bias"]).tanh(), state["2.weight"], state["2.bias"])
    np.testing.assert_array_equal(func.functional_call(model, state, X), expected)
    with pytest.raises(RuntimeError, match="Error"):
        func.functional_call(model, {"0.weight": state["0.weight"]}, X, strict=True)
    gradients = func.grad(lambda p: func.functional_call(model, p, X).square().sum())(state)
    state["0.weight"].requires_grad_()
    loss = func.functional_call(model, state, X).square().sum()
    np.testing.assert_allclose(gradients["0.weight"], gs.autograd.grad(loss, state["0.weight"])[0])
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_functional_calls_of_buffers_and_parametrized_modules():
    norm = nn.BatchNorm1d(3).double().eval()
    shifted = func.functional_call(norm, {"running_mean": gs.ones(3, dtype=gs.float64)}, X)
    np.testing.assert_allclose(shifted.detach(), (X - 1) / np.sqrt(1 + 1e-5))
    layer = parametrizations.weight_norm(nn.Linear(3, 2).double())
    name = "parametrizations.weight.original0"
    doubled = func.functional_call(layer, {name: layer.get_parameter(name).detach() * 2}, X)
    np.testing.assert_allclose(doubled.detach() - layer.bias.detach(), 2 * (layer(X) - layer.bias).detach())


def test_gradients_of_each_sample():
    model = net()
    parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}

    def loss(parameters, x):
        return func.functional_call(model, parameters, x).square().sum()

    each = func.vmap(func.grad(loss), in_dims=(None, 0))(parameters, X)
    for row, gradient in zip(X, each["2.weight"]):
        model.zero_grad()
        model(row).square().sum().backward()
        np.testing.assert_allclose(gradient, model[2].weight.grad, rtol=1e-10)


def test_ensembles():
    models = [net() for _ in range(3)]
    parameters, buffers = func.stack_module_state(models)
    together = func.vmap(lambda p, b: func.functional_call(models[0], (p, b), X))(parameters, buffers)
    for model, output in zip(models, together):
        np.testing.assert_allclose(output.detach(), model(X).detach(), rtol=1e-12)
    with pytest.raises(RuntimeError, match="same training/eval mode"):
        func.stack_module_state([models[0], net().eval()])


def test_directional_derivatives():
    model = net()
    value, tangent = func.jvp(model, (X,), (gs.ones_like(X),))
    jacobian = func.jacrev(model)(X)
    np.testing.assert_allclose(tangent.detach(), jacobian.sum((2, 3)).detach(), rtol=1e-10)
    assert value.shape == (5, 2)


def test_layers_without_data():
    with gs.device("meta"):
        model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        assert model(gs.empty(4, 3, 32, 32)).shape == (4, 8)


def test_training_in_half_precision_storage():
    layer = nn.Sequential(nn.Hardtanh(), nn.Softsign()).half()
    assert layer(gs.ones(3, dtype=gs.float16)).dtype == gs.float16
