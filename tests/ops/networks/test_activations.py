"""Activations against their definitions, at ordinary points and where their pieces meet."""

import math

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.autograd import grad

inf, nan = math.inf, math.nan
POINTS = [-1000.0, -6.0, -3.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 3.0, 6.0, 1000.0]


def sigmoid(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)), 1) / (1 + np.exp(-np.abs(x)))


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def exponential(x, alpha, scale):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0) / scale))


DEFINITIONS = {
    "relu6": (F.relu6, lambda x: np.clip(x, 0, 6)),
    "hardtanh": (F.hardtanh, lambda x: np.clip(x, -1, 1)),
    "hardtanh of bounds": (lambda x: F.hardtanh(x, -0.5, 3.0), lambda x: np.clip(x, -0.5, 3)),
    "hardsigmoid": (F.hardsigmoid, lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    "hardswish": (F.hardswish, lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    "elu": (lambda x: F.elu(x, 1.5), lambda x: exponential(x, 1.5, 1)),
    "celu": (lambda x: F.celu(x, 0.5), lambda x: exponential(x, 0.5, 0.5)),
    "selu": (F.selu, lambda x: 1.0507009873554805 * exponential(x, 1.6732632423543772, 1)),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.25), lambda x: np.where(x > 0, x, x / 4)),
    "threshold": (lambda x: F.threshold(x, 0.5, -2.0), lambda x: np.where(x > 0.5, x, -2)),
    "logsigmoid": (F.logsigmoid, lambda x: -softplus(-x)),
    "mish": (F.mish, lambda x: x * np.tanh(softplus(x))),
    "softsign": (F.softsign, lambda x: x / (1 + np.abs(x))),
    "tanhshrink": (F.tanhshrink, lambda x: x - np.tanh(x)),
    "softshrink": (F.softshrink, lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.5, 0)),
    "hardshrink": (F.hardshrink, lambda x: np.where(np.abs(x) > 0.5, x, 0)),
}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", DEFINITIONS)
def test_definitions(name, dtype):
    function, definition = DEFINITIONS[name]
    close = {"rtol": 1e-12 if dtype == "float64" else 2e-6, "atol": 1e-30}
    np.testing.assert_allclose(function(gs.tensor(POINTS, dtype=dtype)).numpy(), definition(np.array(POINTS)), **close)
    assert math.isnan(function(gs.tensor(nan, dtype=dtype)).item()) and function(gs.ones(0, dtype=dtype)).shape == (0,)
    grid = gs.tensor(np.array(POINTS, dtype).reshape(3, 4)).t()[::2]
    np.testing.assert_allclose(function(grid).numpy(), definition(grid.numpy().astype("float64")), **close)


def test_digits_of_the_error_function_of_floats():
    """Within 4 units in the last place everywhere, odd, never beyond 1, and NaN for NaN."""
    x = np.concatenate([np.linspace(0, 5, 20_001), np.logspace(-37, 0, 1000), [0.0, 1e30, inf]]).astype(np.float32)
    found, expected = gs.erf(gs.from_numpy(x)).numpy(), np.array([math.erf(number) for number in x])
    assert np.all(np.abs(found - expected) <= 4 * np.spacing(expected.astype(np.float32)))
    assert found.max() == 1 and np.array_equal(gs.erf(gs.from_numpy(-x)).numpy(), -found)
    assert math.copysign(1, gs.erf(gs.tensor(-0.0)).item()) == -1 and math.isnan(gs.erf(gs.tensor(nan)).item())


@pytest.mark.parametrize("name", DEFINITIONS)
def test_slopes(name):
    """Between the places where the pieces meet."""
    function, definition = DEFINITIONS[name]
    points = np.array([-5.1, -2.2, -0.8, -0.3, 0.2, 0.7, 2.4, 5.3, 7.1])
    x = gs.tensor(points, requires_grad=True)
    (found,) = grad(function(x).sum(), x)
    slopes = (definition(points + 1e-6) - definition(points - 1e-6)) / 2e-6
    np.testing.assert_allclose(found.numpy(), slopes, rtol=1e-7, atol=1e-8)


def test_prelu():
    x, weight = np.array([[[-1.0, 2.0], [-3.0, -4.0]]]), np.array([0.5, 0.25])
    a, b = gs.tensor(x, requires_grad=True), gs.tensor(weight, requires_grad=True)
    y = F.prelu(a, b)
    assert y.tolist() == [[[-0.5, 2.0], [-0.75, -1.0]]] and a.prelu(b).tolist() == y.tolist()
    of_x, of_weight = grad(y.sum(), (a, b))
    assert of_x.tolist() == [[[0.5, 1.0], [0.25, 0.25]]] and of_weight.tolist() == [-1.0, -7.0]
    assert F.prelu(gs.tensor(-2.0), gs.tensor([0.5])).tolist() == -1.0
    for shape, count in (((2, 3), 2), ((3,), 3), ((), 2)):
        with pytest.raises(RuntimeError, match=r"prelu\(\)"):
            F.prelu(gs.ones(shape), gs.ones(count))
    with pytest.raises(RuntimeError, match="one dtype"):
        F.prelu(gs.ones(2, 3), gs.ones(3, dtype=gs.float64))


def test_glu_and_softmin():
    x = np.array([[1.0, -2.0, 0.5, 3.0]])
    np.testing.assert_allclose(F.glu(gs.tensor(x)).numpy(), x[:, :2] * sigmoid(x[:, 2:]))
    np.testing.assert_allclose(F.glu(gs.tensor(x.T), 0).numpy(), (x[:, :2] * sigmoid(x[:, 2:])).T)
    exponentials = np.exp(-x)
    np.testing.assert_allclose(F.softmin(gs.tensor(x), 1).numpy(), exponentials / exponentials.sum())
    for wrong in (gs.ones(()), gs.ones(3)):
        with pytest.raises(RuntimeError, match=r"glu\(\)"):
            F.glu(wrong)


def test_small_results_of_tanhshrink_keep_their_digits():
    x = np.array([1e-4, 1e-2, 0.1])
    expected = x**3 / 3 - 2 * x**5 / 15 + 17 * x**7 / 315 - 62 * x**9 / 2835 + 1382 * x**11 / 155925
    np.testing.assert_allclose(F.tanhshrink(gs.tensor(x)).numpy(), expected, rtol=1e-11)
    np.testing.assert_allclose(F.tanhshrink(gs.tensor(x, dtype=gs.float32)).numpy(), expected, rtol=1e-6)
    border = np.array([-0.2501, -0.2499, 0.2499, 0.2501])
    np.testing.assert_allclose(F.tanhshrink(gs.tensor(border)).numpy(), border - np.tanh(border), rtol=1e-13)


@pytest.mark.parametrize(
    "function", [F.elu, F.celu, F.selu, F.mish, F.logsigmoid, F.hardswish, F.softsign, F.tanhshrink]
)
def test_second_derivatives_far_away_vanish(function):
    x = gs.tensor([-1e4, -800.0, 800.0, 1e4], requires_grad=True)
    (first,) = grad(function(x).sum(), x, create_graph=True)
    (second,) = grad(first.sum(), x)
    np.testing.assert_allclose(second.numpy(), 0, atol=1e-8)


IN_PLACE = {
    "relu_": (), "elu_": (0.5,), "celu_": (0.5,), "selu_": (), "leaky_relu_": (0.25,), "hardtanh_": (-0.5, 2.0),
    "threshold_": (0.5, 2.0),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name):
    arguments = IN_PLACE[name]
    leaf = gs.tensor([-1.0, 0.25, 3.0], requires_grad=True)
    expected = getattr(F, name[:-1])(leaf, *arguments)
    (slopes,) = grad(expected.sum(), leaf)
    for change in (
        lambda x: getattr(F, name)(x, *arguments),
        lambda x: getattr(F, name[:-1])(x, *arguments, inplace=True),
    ):
        x = leaf * 1
        y = change(x)
        assert y is x and y.tolist() == expected.tolist()
        (found,) = grad(y.sum(), leaf)
        assert found.tolist() == slopes.tolist()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: F.celu(x, 0.0),
        lambda x: F.softshrink(x, -0.5),
        lambda x: gs.hardtanh(x, 1.0, -1.0),
    ],
)
def test_wrong_numbers(wrong):
    with pytest.raises(RuntimeError):
        wrong(gs.ones(2))
