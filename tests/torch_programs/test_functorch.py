"""functorch, which comes with PyTorch: modules as functions, for the transforms of `gradsmith.func`."""

import sys

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import nn
from gradsmith.compat import functorch


def test_it_is_imported_beside_torch():
    with gs.compat.as_torch():
        import functorch as found
        from functorch import vmap
    assert found is functorch and vmap is gs.func.vmap
    assert "functorch" not in sys.modules


def test_a_module_is_a_function_of_its_parameters():
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    function, parameters = functorch.make_functional(model)
    x = gs.randn(4, 2)
    assert gs.equal(function(parameters, x), model(x)) and all(isinstance(p, nn.Parameter) for p in parameters)
    assert gs.equal(
        function([2 * p for p in parameters], x),
        gs.func.functional_call(model, {name: 2 * p for name, p in model.named_parameters()}, x),
    )
    gradients = functorch.grad(lambda parameters: function(parameters, x).sum())(parameters)
    model(x).sum().backward()
    for gradient, parameter in zip(gradients, model.parameters()):
        np.testing.assert_allclose(gradient.detach().numpy(), parameter.grad.numpy(), rtol=1e-5)
    assert not any(p.requires_grad for p in functorch.make_functional(model, disable_autograd_tracking=True)[1])
    with pytest.raises(RuntimeError, match="make_functional_with_buffers"):
        functorch.make_functional(nn.BatchNorm1d(2))


def test_buffers_are_those_that_are_given():
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
    function, parameters, buffers = functorch.make_functional_with_buffers(model)
    function.eval()
    x = gs.randn(4, 2)
    mean, variance, count = buffers
    found = function(parameters, (mean + 1, variance, count), x)
    expected = (model[0](x) - 1) / (1 + 1e-5) ** 0.5
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-5, atol=1e-6)
    function.train()
    function(parameters, buffers, x)
    assert buffers[2].item() == 1 and model[1].num_batches_tracked.item() == 0


def test_an_ensemble():
    models = [nn.Linear(2, 3) for _ in range(4)]
    function, parameters, buffers = functorch.combine_state_for_ensemble(models)
    x = gs.randn(5, 2)
    assert [p.shape for p in parameters] == [(4, 3, 2), (4, 3)] and buffers == () and not parameters[0].requires_grad
    found = functorch.vmap(function, (0, 0, None))(parameters, buffers, x)
    np.testing.assert_allclose(found.numpy(), np.stack([m(x).detach().numpy() for m in models]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "models, problem",
    [
        ([], "at least one model"),
        ([nn.ReLU(), nn.Tanh()], "same class"),
        ([nn.ReLU(), nn.ReLU().eval()], "same training/eval mode"),
    ],
)
def test_modules_that_are_no_ensemble(models, problem):
    with pytest.raises(RuntimeError, match=problem):
        functorch.combine_state_for_ensemble(models)
