"""Clipping, vectors of parameters, fused layers, and norms of weights by hooks."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import nn
from gradsmith.nn import utils

X = np.random.default_rng(0).standard_normal((3, 4))


def with_gradients(*arrays):
    parameters = [nn.Parameter(gs.zeros(np.shape(array), dtype=gs.float64)) for array in arrays]
    for parameter, array in zip(parameters, arrays):
        parameter.grad = gs.tensor(array, dtype=gs.float64)
    return parameters


# ---- gradients


@pytest.mark.parametrize(("norm_type", "norm"), [(2.0, 13.0), (1.0, 19.0), (float("inf"), 12.0), ("inf", 12.0)])
def test_gradients_are_shortened_together(norm_type, norm):
    parameters = with_gradients([3.0, 4.0], [[12.0]])
    parameters.append(nn.Parameter(gs.ones(1)))  # without a gradient
    assert utils.clip_grad_norm_(parameters, 2.0, norm_type).item() == pytest.approx(norm)
    np.testing.assert_allclose(parameters[0].grad, np.array([3.0, 4.0]) * 2.0 / norm, rtol=1e-6)
    np.testing.assert_allclose(parameters[1].grad, [[12.0 * 2.0 / norm]], rtol=1e-6)
    np.testing.assert_allclose(utils.clip_grad_norm_(parameters, 1e9, norm_type).item(), 2.0, rtol=1e-6)


def test_one_tensor_none_and_generators():
    (p,) = with_gradients([3.0, 4.0])
    assert utils.clip_grad_norm_(p, 1.0).item() == pytest.approx(5.0)
    assert utils.clip_grad_norm_([], 1.0).item() == 0.0 == utils.get_total_norm([]).item()
    assert utils.clip_grad_norm_((q for q in [p]), 1.0).item() == pytest.approx(1.0)
    with pytest.warns(UserWarning, match="is an empty generator"):
        utils.clip_grad_norm_((q for q in ()), 1.0)
    with pytest.warns(FutureWarning, match="clip_grad_norm_"):
        utils.clip_grad_norm(p, 1.0)


def test_gradients_of_frozen_parameters_count_too():
    """As in PyTorch: a gradient that is there is shortened, whether or not another one will come."""
    parameters = with_gradients([3.0, 4.0], [[12.0]])
    parameters[1].requires_grad_(False)
    assert utils.clip_grad_norm_(parameters, 6.5).item() == pytest.approx(13.0)
    np.testing.assert_allclose(parameters[1].grad, [[6.0]], rtol=1e-6)
    utils.clip_grad_value_(parameters, 2.0)
    assert [p.grad.max().item() for p in parameters] == [pytest.approx(2.0), 2.0]


def test_infinite_gradients():
    (p,) = with_gradients([np.inf, 1.0])
    with pytest.raises(RuntimeError, match="is non-finite, so it cannot be clipped"):
        utils.clip_grad_norm_(p, 1.0, error_if_nonfinite=True)
    assert p.grad[1].item() == 1.0
    assert np.isinf(utils.clip_grad_norm_(p, 1.0).item()) and p.grad[1].item() == 0.0


def test_elements_are_limited():
    parameters = with_gradients([3.0, -4.0, 0.5])
    utils.clip_grad_value_(parameters, 1)
    np.testing.assert_array_equal(parameters[0].grad, [1.0, -1.0, 0.5])


# ---- vectors


def test_parameters_as_a_vector():
    net = nn.Linear(2, 3).double()
    vector = utils.parameters_to_vector(net.parameters())
    assert vector.shape == (9,) and vector.requires_grad
    utils.vector_to_parameters(gs.arange(9.0, dtype=gs.float64), net.parameters())
    np.testing.assert_array_equal(net.weight.detach(), np.arange(6.0).reshape(3, 2))
    assert net.weight.is_leaf and net.weight.requires_grad
    with pytest.raises(TypeError, match="expected gradsmith.Tensor, but got: list"):
        utils.vector_to_parameters([1.0], net.parameters())
    with pytest.raises(RuntimeError, match="'vec' has 7 elements, less than the parameters need"):
        utils.vector_to_parameters(gs.zeros(7, dtype=gs.float64), net.parameters())
    assert net.weight[2, 1].item() == 5.0


# ---- fused layers


def statistics(layer):
    layer.running_mean.normal_()
    layer.running_var.uniform_(0.5, 2.0)
    layer.weight.data.normal_()
    layer.bias.data.normal_()
    return layer.double().eval()


@pytest.mark.parametrize("bias", [True, False])
def test_layers_are_fused(bias):
    gs.manual_seed(0)
    images, rows = gs.randn(2, 4, 5, 5, dtype=gs.float64), gs.randn(2, 4, dtype=gs.float64)
    conv, transposed = (make(4, 3, 2, bias=bias).double().eval() for make in (nn.Conv2d, nn.ConvTranspose2d))
    norm, flat = statistics(nn.BatchNorm2d(3)), statistics(nn.BatchNorm1d(3))
    for layer, transpose in ((conv, False), (transposed, True)):
        fused = utils.fuse_conv_bn_eval(layer, norm, transpose)
        np.testing.assert_allclose(fused(images).detach(), norm(layer(images)).detach(), atol=1e-12)
    linear = nn.Linear(4, 3, bias=bias).double().eval()
    np.testing.assert_allclose(utils.fuse_linear_bn_eval(linear, flat)(rows).detach(), flat(linear(rows)).detach())
    with pytest.raises(AssertionError, match="Fusion only for eval!"):
        utils.fuse_conv_bn_eval(conv.train(), norm)
    with pytest.raises(AssertionError, match="To fuse, linear.out_features == bn.num_features"):
        utils.fuse_linear_bn_eval(nn.Linear(4, 5).eval(), flat)


def test_modules_without_values():
    layer = utils.skip_init(nn.Linear, 2, 3, bias=False)
    assert layer.weight.shape == (3, 2) and not layer.weight.is_meta and layer.bias is None
    with pytest.raises(RuntimeError, match="Expected a Module"):
        utils.skip_init(dict)
    with pytest.raises(RuntimeError, match="must support a 'device' arg"):
        utils.skip_init(nn.ReLU)


# ---- norms of weights, by hooks


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated:FutureWarning")
@pytest.mark.parametrize(("dim", "shape"), [(0, (5, 1)), (1, (1, 4)), (None, ())])
def test_weights_of_length_and_direction(dim, shape):
    layer = nn.Linear(4, 5).double()
    before = layer.weight.detach().numpy().copy()
    assert utils.weight_norm(layer, dim=dim) is layer
    assert sorted(name for name, _ in layer.named_parameters()) == ["bias", "weight_g", "weight_v"]
    assert layer.weight_g.shape == shape
    layer.weight_g.data.mul_(2.0)
    layer.weight_v.data.mul_(3.0)  # only its direction counts
    layer(gs.tensor(X)).sum().backward()
    np.testing.assert_allclose(layer.weight.detach(), 2.0 * before)
    assert layer.weight_g.grad is not None and layer.weight_v.grad is not None
    with pytest.raises(RuntimeError, match="Cannot register two weight_norm hooks"):
        utils.weight_norm(layer, dim=dim)
    assert utils.remove_weight_norm(layer) is layer and isinstance(layer.weight, nn.Parameter)
    np.testing.assert_allclose(layer.weight.detach(), 2.0 * before)
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
        utils.remove_weight_norm(layer)


def largest(weight):
    return np.linalg.svd(weight.detach().numpy().reshape(weight.shape[0], -1), compute_uv=False)[0]


def test_weights_of_spectral_norm_one():
    layer = utils.spectral_norm(nn.Linear(4, 5).double(), n_power_iterations=50)
    layer(gs.tensor(X)).sum().backward()
    assert largest(layer.weight) == pytest.approx(1.0, abs=1e-6) and layer.weight_orig.grad is not None
    weight = layer.weight.detach().numpy().copy()
    layer.eval()(gs.tensor(X))
    np.testing.assert_allclose(layer.weight.detach(), weight)  # no iteration in use
    other = utils.spectral_norm(nn.Linear(4, 5).double())
    other.load_state_dict(layer.state_dict())
    np.testing.assert_allclose(other.eval()(gs.tensor(X)).detach(), layer(gs.tensor(X)).detach())
    with pytest.raises(RuntimeError, match="Cannot register two spectral_norm hooks"):
        utils.spectral_norm(layer)
    utils.remove_spectral_norm(layer)
    assert list(layer.state_dict()) == ["bias", "weight"] and not layer._state_dict_hooks
    with pytest.raises(ValueError, match="spectral_norm of 'weight' not found"):
        utils.remove_spectral_norm(layer)
    with pytest.raises(ValueError, match="Expected n_power_iterations to be positive"):
        utils.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)
    assert utils.spectral_norm(nn.ConvTranspose1d(2, 3, 4)).weight_u.shape == (3,)


def test_older_states_of_spectral_norms():
    layer = utils.spectral_norm(nn.Linear(4, 5).double(), n_power_iterations=100)
    layer(gs.tensor(X))
    state = dict(layer.state_dict())
    old = {**state, "weight": layer.weight.detach()}
    del old["weight_v"]
    other = utils.spectral_norm(nn.Linear(4, 5).double())
    other.load_state_dict(old)
    np.testing.assert_allclose(other.weight_v, state["weight_v"], atol=1e-6)
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "weight", "weight_u", "weight_v"'):
        layer.load_state_dict({"weight_orig": state["weight_orig"], "bias": state["bias"]})


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated:FutureWarning")
def test_what_has_no_shape_yet_is_refused():
    for apply in (utils.weight_norm, utils.spectral_norm):
        with pytest.raises(ValueError, match="can't have uninitialized parameters"):
            apply(nn.LazyLinear(3))


def test_names():
    assert callable(utils.weight_norm) and callable(utils.spectral_norm)
    assert all(hasattr(utils, name) for name in utils.__all__ if name != "rnn")
