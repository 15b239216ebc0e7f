"""Parametrized tensors of modules."""

import copy
import pickle

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import nn
from gradsmith.nn.utils import parametrizations, parametrize


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).T


class Scaled(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.factor

    def right_inverse(self, y):
        return y / self.factor


class Product(nn.Module):
    def forward(self, a, b):
        return a * b

    def right_inverse(self, y):
        return y, gs.ones_like(y)


def square():
    return nn.Linear(3, 3).double()


def test_the_original_is_learned():
    layer = square()
    original = layer.weight
    assert parametrize.register_parametrization(layer, "weight", Symmetric()) is layer
    assert type(layer).__name__ == "ParametrizedLinear" and isinstance(layer, nn.Linear)
    np.testing.assert_array_equal(layer.weight.detach(), layer.weight.T.detach())
    assert layer.parametrizations.weight.original is original
    assert [name for name, _ in layer.named_parameters()] == ["bias", "parametrizations.weight.original"]
    layer(gs.ones(1, 3, dtype=gs.float64)).sum().backward()
    assert original.grad is not None and not original.grad.tril(-1).any()
    assert parametrize.is_parametrized(layer, "weight") and not parametrize.is_parametrized(layer, "bias")
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    with pytest.raises(RuntimeError, match="parametrization Symmetric does not implement right_inverse"):
        layer.weight = gs.ones(3, 3, dtype=gs.float64)


def test_inverses_and_chains():
    layer = square()
    value = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Scaled(4.0))
    np.testing.assert_allclose(layer.weight.detach(), value)
    np.testing.assert_allclose(layer.parametrizations.weight.original.detach(), value / 4)
    parametrize.register_parametrization(layer, "weight", Scaled(2.0))
    np.testing.assert_allclose(layer.weight.detach(), value * 2)
    layer.weight = value
    np.testing.assert_allclose(layer.weight.detach(), value)
    np.testing.assert_allclose(layer.parametrizations.weight.original.detach(), value / 8)
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and isinstance(layer.weight, nn.Parameter)
    np.testing.assert_allclose(layer.weight.detach(), value)


def test_several_originals():
    layer = square()
    value = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Product())
    names = [name for name, _ in layer.named_parameters()]
    assert names == ["bias", "parametrizations.weight.original0", "parametrizations.weight.original1"]
    layer.weight = value * 3
    np.testing.assert_allclose(layer.parametrizations.weight.original0.detach(), value * 3)
    with pytest.raises(ValueError, match="Cannot leave unparametrized"):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    parametrize.remove_parametrizations(layer, "weight")
    np.testing.assert_allclose(layer.weight.detach(), value * 3)


def test_what_is_removed_may_keep_the_original():
    layer = square()
    original = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Symmetric())
    parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    np.testing.assert_array_equal(layer.weight.detach(), original)


def test_originals_are_parametrized_too():
    layer = square()
    value = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Scaled(4.0))
    chain = layer.parametrizations.weight
    assert not parametrize.is_parametrized(chain, "original")
    parametrize.register_parametrization(chain, "original", Scaled(2.0))
    parametrize.register_parametrization(layer, "weight", Scaled(1.0))
    assert parametrize.is_parametrized(chain, "original") and [type(one) for one in chain] == [Scaled, Scaled]
    assert "(parametrizations): ModuleDict" in repr(chain)
    np.testing.assert_allclose(layer.weight.detach(), value)
    layer.weight = value * 3
    np.testing.assert_allclose(layer.weight.detach(), value * 3)
    np.testing.assert_allclose(chain.parametrizations.original.original.detach(), value * 3 / 8)
    parametrize.remove_parametrizations(chain, "original", leave_parametrized=False)
    assert type(chain) is parametrize.ParametrizationList and not hasattr(chain, "parametrizations")
    np.testing.assert_allclose(layer.weight.detach(), value * 3 / 2)
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer) is nn.Linear and isinstance(layer.weight, nn.Parameter)


def test_what_computes_from_parametrized_originals_becomes_a_parameter():
    layer = square()
    value = layer.weight.detach().clone()
    parametrize.register_parametrization(layer, "weight", Scaled(4.0))
    parametrize.register_parametrization(layer.parametrizations.weight, "original", Scaled(2.0))
    parametrize.remove_parametrizations(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter)
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight"]
    np.testing.assert_allclose(layer.weight.detach(), value)


def test_buffers_are_parametrized_too():
    norm = nn.BatchNorm1d(2)
    parametrize.register_parametrization(norm, "running_mean", Scaled(2.0))
    assert "parametrizations.running_mean.original" in norm.state_dict()
    assert [name for name, _ in norm.named_buffers()][-1] == "parametrizations.running_mean.original"


def test_cached_values():
    layer = square()
    scaled = Scaled(2.0)
    parametrize.register_parametrization(layer, "weight", scaled)
    start = scaled.calls
    with parametrize.cached():
        with parametrize.cached():
            assert layer.weight is layer.weight
        assert layer.weight is layer.weight
    assert scaled.calls == start + 1 and layer.weight is not layer.weight


def test_copies_and_states():
    layer = square()
    parametrize.register_parametrization(layer, "weight", Scaled(2.0))
    twin = copy.deepcopy(layer)
    twin.parametrizations.weight.original.data.zero_()
    assert layer.weight.any() and not twin.weight.any()
    twin.load_state_dict(layer.state_dict())
    np.testing.assert_array_equal(twin.weight.detach(), layer.weight.detach())
    with pytest.raises(
        RuntimeError, match="Serialization of parametrized modules is only supported through state_dict"
    ):
        pickle.dumps(layer)
    other = square()
    parametrize.transfer_parametrizations_and_params(layer, other)
    assert other.parametrizations.weight.original is layer.parametrizations.weight.original


class Wrong(nn.Module):
    def __init__(self, change, inverse=None):
        super().__init__()
        self.change = change
        if inverse is not None:
            self.right_inverse = inverse

    def forward(self, x):
        return self.change(x)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Wrong(lambda x: 3), "A parametrization must return a tensor. Got int"),
        (Wrong(lambda x: x.float()), "may not change the dtype"),
        (Wrong(lambda x: x[:2]), "may not change the shape"),
        (Wrong(lambda x: x, lambda y: 3), "'right_inverse' must return a Tensor or a Sequence of tensors"),
        (Wrong(lambda x: x, lambda y: [y, 3]), "Got element 1 of the sequence with type int"),
        (Wrong(lambda x: x, lambda y: y.float()), "it may not change the dtype"),
    ],
)
def test_parametrizations_that_do_not_fit(wrong, message):
    with pytest.raises(ValueError, match=message):
        parametrize.register_parametrization(square(), "weight", wrong)


def test_other_errors():
    layer = square()
    with pytest.raises(
        ValueError, match="does not have a parameter, a buffer, or a parametrized element with name 'w'"
    ):
        parametrize.register_parametrization(layer, "w", Symmetric())
    with pytest.raises(ValueError, match="does not have a parametrization on weight"):
        parametrize.remove_parametrizations(layer, "weight")
    with pytest.raises(ValueError, match="requires one or more modules"):
        parametrize.ParametrizationList([], layer.weight)
    parametrize.register_parametrization(layer, "weight", Scaled(2.0))
    with pytest.raises(ValueError, match="may not change the shape"):
        parametrize.register_parametrization(layer, "weight", Wrong(lambda x: x[:2]))
    parametrize.register_parametrization(layer, "weight", Wrong(lambda x: x[:2]), unsafe=True)
    assert layer.weight.shape == (2, 3)


# ---- orthogonal, of given lengths, of spectral norm one


@pytest.mark.parametrize("orthogonal_map", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (3, 5)], ids=str)
def test_orthogonal(shape, orthogonal_map):
    gs.manual_seed(0)
    layer = nn.Linear(*reversed(shape)).double()
    parametrizations.orthogonal(layer, orthogonal_map=orthogonal_map)

    def gram():
        w = layer.weight.detach().numpy()
        return w.T @ w if shape[0] >= shape[1] else w @ w.T

    np.testing.assert_allclose(gram(), np.eye(min(shape)), atol=1e-12)
    wanted = np.linalg.qr(np.random.default_rng(1).standard_normal((max(shape), min(shape))))[0]
    layer.weight = gs.tensor((wanted if shape[0] >= shape[1] else wanted.T).copy())
    np.testing.assert_allclose(layer.weight.detach(), wanted if shape[0] >= shape[1] else wanted.T, atol=1e-12)
    (layer.weight * gs.randn(shape, dtype=gs.float64)).sum().backward()
    original = layer.parametrizations.weight.original
    original.data.sub_(original.grad, alpha=0.1)
    assert original.grad.any()
    np.testing.assert_allclose(gram(), np.eye(min(shape)), atol=1e-12)


def test_orthogonal_without_a_base():
    layer = nn.Linear(3, 5).double()
    wanted = nn.init.orthogonal_(layer.weight).detach().clone()
    parametrizations.orthogonal(layer, use_trivialization=False)
    np.testing.assert_allclose(layer.weight.detach(), wanted, atol=1e-12)
    other = parametrizations.orthogonal(nn.Linear(3, 3), orthogonal_map="cayley", use_trivialization=False)
    with pytest.raises(
        NotImplementedError, match="It is not possible to assign to the matrix exponential or the Cayley"
    ):
        other.weight = gs.eye(3)


def test_orthogonal_complex():
    holder = nn.Module()
    holder.weight = nn.Parameter(gs.complex(gs.randn(3, 3, dtype=gs.float64), gs.randn(3, 3, dtype=gs.float64)))
    parametrizations.orthogonal(holder)
    w = holder.weight.detach().numpy()
    other = nn.Module()
    other.weight = nn.Parameter(holder.weight.detach())
    np.testing.assert_allclose(w.conj().T @ w, np.eye(3), atol=1e-12)
    with pytest.raises(ValueError, match="householder parametrization does not support complex"):
        parametrizations.orthogonal(other, orthogonal_map="householder")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda: parametrizations.orthogonal(nn.Linear(2, 2), "bias"), "Expected a matrix or batch of matrices"),
        (lambda: parametrizations.orthogonal(nn.Linear(2, 2), "x"), "has no parameter or buffer with name 'x'"),
        (lambda: parametrizations.orthogonal(nn.Linear(2, 2), orthogonal_map="x"), "orthogonal_map has to be one of"),
        (lambda: parametrizations.spectral_norm(nn.Linear(2, 2), "x"), "has no parameter or buffer with name 'x'"),
        (lambda: parametrizations.spectral_norm(nn.Linear(2, 2), n_power_iterations=0), "to be positive"),
    ],
)
def test_parametrizations_refuse(change, message):
    with pytest.raises(ValueError, match=message):
        change()


def test_weights_of_length_and_direction():
    layer = nn.Linear(4, 5).double()
    value = layer.weight.detach().clone()
    parametrizations.weight_norm(layer)
    np.testing.assert_allclose(layer.weight.detach(), value)
    length = layer.parametrizations.weight.original0
    np.testing.assert_allclose(length.detach()[:, 0], np.linalg.norm(value.numpy(), axis=1))
    layer.load_state_dict({"bias": layer.bias, "weight_g": length.detach() * 2, "weight_v": value})
    np.testing.assert_allclose(layer.weight.detach(), 2 * value)


def test_weights_of_spectral_norm_one():
    layer = parametrizations.spectral_norm(nn.Conv2d(2, 3, 2).double(), n_power_iterations=50)
    weight = layer.weight.detach().numpy().reshape(3, -1)
    assert np.linalg.svd(weight, compute_uv=False)[0] == pytest.approx(1.0, abs=1e-6)
    layer.eval()
    np.testing.assert_array_equal(layer.weight.detach(), layer.weight.detach())
    vector = parametrizations.spectral_norm(nn.Linear(3, 3), "bias")
    assert vector.bias.norm().item() == pytest.approx(1.0)
    with pytest.raises(IndexError, match="Dimension out of range"):
        parametrizations.spectral_norm(nn.Linear(2, 2), dim=2)


def test_a_spectral_norm_is_good_from_the_start():
    """Without a step of training: fifteen steps of the power method were done."""
    values = np.array([3.0, 2.0, 1.0, 0.5])
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    for seed in range(5):
        gs.manual_seed(seed)
        layer = gs.nn.Linear(4, 4, bias=False, dtype=gs.float64)
        layer.weight = gs.nn.Parameter(gs.tensor(basis * values @ basis.T))
        layer = gs.nn.utils.parametrizations.spectral_norm(layer).eval()
        assert np.linalg.norm(layer.weight.detach().numpy(), 2) == pytest.approx(1.0, rel=1e-4)
