"""Initial values: distributions, constants, matrices."""

import math

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import nn
from gradsmith.nn import init


def of_shape(*shape, dtype=gs.float32):
    return nn.Parameter(gs.zeros(shape, dtype=dtype))


def test_a_parameter_is_filled_and_returned():
    p = of_shape(3)
    version = p._version
    assert init.uniform_(p) is p and p.is_leaf and p.requires_grad and p._version > version
    assert init.constant_(p, 2.5) is p and p.eq(2.5).all()
    assert init.ones_(p).eq(1).all() and init.zeros_(p).eq(0).all()


FAN = (400, 100)  # outputs, inputs
DISTRIBUTIONS = {
    "uniform": (lambda w: init.uniform_(w, -1.0, 3.0), 1.0, 4 / math.sqrt(12), (-1.0, 3.0)),
    "normal": (lambda w: init.normal_(w, 2.0, 0.5), 2.0, 0.5, None),
    "Glorot's, uniform": (
        lambda w: init.xavier_uniform_(w, gain=2.0),
        0.0,
        2.0 * math.sqrt(2 / 500),
        (-2.0 * math.sqrt(6 / 500), 2.0 * math.sqrt(6 / 500)),
    ),
    "Glorot's, normal": (lambda w: init.xavier_normal_(w), 0.0, math.sqrt(2 / 500), None),
    "He's, uniform": (
        lambda w: init.kaiming_uniform_(w, a=math.sqrt(5)),
        0.0,
        0.1 / math.sqrt(3),
        (-0.1, 0.1),
    ),
    "He's, of outputs": (
        lambda w: init.kaiming_uniform_(w, mode="fan_out", nonlinearity="relu"),
        0.0,
        math.sqrt(2 / 400),
        (-math.sqrt(6 / 400), math.sqrt(6 / 400)),
    ),
    "He's, normal": (lambda w: init.kaiming_normal_(w, nonlinearity="relu"), 0.0, math.sqrt(2 / 100), None),
}


@pytest.mark.parametrize(("fill", "mean", "std", "bounds"), DISTRIBUTIONS.values(), ids=DISTRIBUTIONS)
def test_distributions(fill, mean, std, bounds):
    gs.manual_seed(0)
    values = fill(of_shape(*FAN)).detach().numpy()
    assert values.mean() == pytest.approx(mean, abs=0.02 * std * 2)
    assert values.std() == pytest.approx(std, rel=0.02)
    if bounds:
        assert bounds[0] <= values.min() < bounds[0] + 0.01 * std and bounds[1] - 0.01 * std < values.max() <= bounds[1]


@pytest.mark.parametrize(
    ("mean", "std", "a", "b"),
    [(0.0, 1.0, -2.0, 2.0), (1.0, 2.0, 0.0, 0.5), (0.0, 1.0, 1.5, 3.0), (0.5, 0.02, 0.0, 1.0)],
)
def test_normal_distributions_that_are_cut_off(mean, std, a, b):
    gs.manual_seed(0)
    values = init.trunc_normal_(of_shape(20_000), mean, std, a, b).detach().numpy().astype(float)
    assert a <= values.min() and values.max() <= b
    low, high = (a - mean) / std, (b - mean) / std
    share = (math.erf(high / math.sqrt(2)) - math.erf(low / math.sqrt(2))) / 2
    density = lambda x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi)  # noqa: E731
    expected = mean + std * (density(low) - density(high)) / share
    assert values.mean() == pytest.approx(expected, abs=0.02 * std)
    below = ((values < (a + b) / 2).mean(), (math.erf((low + high) / 2 / math.sqrt(2)) / 2 + 0.5))
    whole = math.erf(low / math.sqrt(2)) / 2 + 0.5
    assert below[0] == pytest.approx((below[1] - whole) / share, abs=0.02)


def test_a_cut_far_from_the_mean_is_a_warning():
    with pytest.warns(UserWarning, match="mean is more than 2 std from"):
        assert init.trunc_normal_(of_shape(10), mean=5.0).ge(-2).all()
    assert init.trunc_normal_(of_shape(3, dtype=gs.float16)).dtype == gs.float16
    assert init.trunc_normal_(gs.empty(3, device="meta")).is_meta


def test_generators_decide():
    for fill in (
        init.uniform_,
        init.normal_,
        init.xavier_normal_,
        init.kaiming_uniform_,
        init.orthogonal_,
        init.trunc_normal_,
    ):
        first, second = (
            fill(of_shape(4, 3), generator=gs.Generator().manual_seed(7)).detach().numpy() for _ in range(2)
        )
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4), (3, 2, 2)])
def test_orthogonal_matrices(shape):
    w = init.orthogonal_(of_shape(*shape, dtype=gs.float64), gain=2.0).detach().numpy().reshape(shape[0], -1)
    gram = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
    np.testing.assert_allclose(gram, 4.0 * np.eye(min(w.shape)), atol=1e-12)


def test_identities():
    np.testing.assert_array_equal(init.eye_(of_shape(2, 3)).detach(), np.eye(2, 3))
    w = init.dirac_(of_shape(4, 2, 3), groups=2)
    x = gs.arange(20.0).reshape(1, 4, 5)
    conv = nn.Conv1d(4, 4, 3, padding=1, groups=2, bias=False)
    conv.load_state_dict({"weight": w.detach()})
    np.testing.assert_array_equal(conv(x).detach(), x)
    assert (
        init.dirac_(of_shape(2, 2, 3, 3)).sum().item() == 2 and init.dirac_(of_shape(2, 2, 3, 3, 3)).sum().item() == 2
    )


def test_sparse_columns():
    w = init.sparse_(of_shape(10, 4), sparsity=0.25)
    assert (w == 0).sum(0).tolist() == [3, 3, 3, 3]


def test_gains():
    gains = {"linear": 1, "conv2d": 1, "sigmoid": 1, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 0.75}
    assert {name: init.calculate_gain(name) for name in gains} == gains
    assert init.calculate_gain("leaky_relu", 2.0) == math.sqrt(2 / 5)
    assert init.calculate_gain("leaky_relu") == math.sqrt(2 / (1 + 1e-4))


@pytest.mark.parametrize(
    ("fill", "message"),
    [
        (lambda: init.calculate_gain("softmax"), "Unsupported nonlinearity softmax"),
        (lambda: init.calculate_gain("leaky_relu", True), "negative_slope True not a valid number"),
        (lambda: init.xavier_uniform_(of_shape(3)), "fewer than 2 dimensions"),
        (lambda: init.kaiming_normal_(of_shape(3, 3), mode="fan"), "Mode fan not supported"),
        (lambda: init.eye_(of_shape(3)), "Only tensors with 2 dimensions are supported"),
        (lambda: init.dirac_(of_shape(3, 3)), "Only tensors with 3, 4, or 5 dimensions are supported"),
        (lambda: init.dirac_(of_shape(3, 3, 3), groups=2), "dim 0 must be divisible by groups"),
        (lambda: init.orthogonal_(of_shape(3)), "Only tensors with 2 or more dimensions are supported"),
        (lambda: init.sparse_(of_shape(3), 0.5), "Only tensors with 2 dimensions are supported"),
    ],
)
def test_what_is_refused(fill, message):
    with pytest.raises(ValueError, match=message):
        fill()


def test_nothing_to_fill():
    with pytest.warns(UserWarning, match="Initializing zero-element tensors is a no-op"):
        assert init.kaiming_uniform_(of_shape(0, 3)).numel() == 0
    assert init.orthogonal_(of_shape(0, 3)).numel() == 0


def test_old_names():
    with pytest.warns(FutureWarning, match="`nn.init.uniform` is now deprecated in favor of `nn.init.uniform_`"):
        assert init.uniform(of_shape(2)).shape == (2,)
    assert {name + "_" for name in init.__all__ if hasattr(init, name + "_")} <= set(init.__all__)
