"""Samples: their moments and distribution, and the gradients of those that are reparameterised."""

import math

import numpy as np
import pytest

pytest.importorskip("scipy.special")

from example_distributions import COUNTING, EXAMPLES, NAMES, OF_NUMBERS, made

import gradsmith as gs
import gradsmith.distributions as dist

MANY = 20000
WITHOUT_MEAN = ("Cauchy", "HalfCauchy", "Categorical", "LKJCholesky", "LogisticNormal", "RelaxedBernoulli")
WITHOUT_MEAN += ("RelaxedOneHotCategorical",)


@pytest.mark.parametrize("name", NAMES)
def test_samples_have_the_shape_and_are_in_the_support(name):
    one, _ = made(name)
    for shape in ((), (3,), (2, 0), (4, 3)):
        drawn = one.sample(shape)
        assert drawn.shape == (*shape, *one.batch_shape, *one.event_shape) and not drawn.requires_grad
        assert one.support.check(drawn).all()
        assert one.log_prob(drawn).shape == (*shape, *one.batch_shape)
    assert one.expand((5, 2)).sample((4,)).shape == (4, 5, 2, *one.event_shape)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT_MEAN])
def test_means_and_variances_of_samples(name):
    """Within five standard errors; that of the variance by the fourth moment of the sample."""
    one, _ = made(name)
    drawn = one.sample((MANY,)).numpy()
    mean, variance = one.mean.detach().numpy(), one.variance.detach().numpy()
    if name == "VonMises":  # of angles, the mean of the cosine counts
        drawn = mean - np.sin(drawn - mean) + (1 - np.cos(drawn - mean) - variance)
        variance = drawn.var(0)
    error = np.sqrt(np.var((drawn - mean) ** 2, 0) / MANY)
    assert (np.abs(((drawn - mean) ** 2).mean(0) - variance) <= 5 * error + 1e-12).all()
    assert (np.abs(drawn.mean(0) - mean) <= 5 * np.sqrt(variance / MANY) + 1e-12).all()


@pytest.mark.parametrize("name", [name for name in OF_NUMBERS if name not in ("VonMises", "RelaxedBernoulli")])
def test_samples_are_distributed_as_cdf_says(name):
    """By the distance of Kolmogorov and Smirnov, which is above 2 / sqrt(n) with probability 0.0007."""
    one, _ = made(name)
    drawn = one.sample((MANY,))
    try:
        found = np.sort(one.cdf(drawn).detach().numpy(), 0)
    except NotImplementedError:
        assert name in ("FisherSnedecor", "StudentT", "Beta")
        return
    expected = (np.arange(MANY) + 0.5)[:, None] / MANY
    assert np.abs(found - expected).max() < 2 / math.sqrt(MANY)


@pytest.mark.parametrize("name", [name for name in COUNTING if name != "Bernoulli"] + ["Categorical"])
def test_frequencies_of_counts(name):
    one, _ = made(name)
    drawn = one.sample((MANY,)).numpy()
    for value in range(5 if name != "Categorical" else 3):
        given = gs.full((2,), value, dtype=gs.int64 if name == "Categorical" else gs.float64)
        chance = one.log_prob(given).exp().detach().numpy()
        assert (np.abs((drawn == value).mean(0) - chance) < 5 * np.sqrt(chance * (1 - chance) / MANY)).all()


REPARAMETERISED = [name for name in NAMES if made(name)[0].has_rsample and name not in WITHOUT_MEAN]


@pytest.mark.parametrize("name", REPARAMETERISED)
def test_gradients_of_samples_are_those_of_the_mean(name):
    """The expectation of the gradient of samples is the gradient of the expectation, within five standard errors."""
    one, parameters = made(name)
    weights = gs.tensor(np.cos(np.arange(one.mean.numel()))).reshape(one.mean.shape)
    expected = gs.autograd.grad((one.mean * weights).sum(), parameters, allow_unused=True)
    groups = [gradients_of_samples(name, weights) for _ in range(40)]
    for number, right in enumerate(expected):
        parts = np.array([group[number].numpy() for group in groups])
        right = np.zeros(parts.shape[1:]) if right is None else right.numpy()
        if parts.shape[-1] == parts.shape[-2] and name in ("MultivariateNormal", "Wishart"):
            parts, right = parts + np.swapaxes(parts, -1, -2), right + right.T  # of a symmetric matrix
        error = parts.std(0) / math.sqrt(len(parts))
        assert (np.abs(parts.mean(0) - right) <= 5 * error + 1e-9).all()


def gradients_of_samples(name, weights):
    one, parameters = made(name)
    drawn = one.rsample((MANY // 40,))
    return gs.autograd.grad((drawn * weights).sum() / (MANY // 40), parameters)


@pytest.mark.parametrize("name", ["RelaxedBernoulli", "RelaxedOneHotCategorical", "LogisticNormal", "HalfCauchy"])
def test_gradients_of_samples_are_those_of_the_same_noise(name):
    one, parameters = made(name)
    keys = [key for key, value in EXAMPLES[name].items() if not isinstance(value, float)]
    fixed = {key: value for key, value in EXAMPLES[name].items() if isinstance(value, float)}

    def drawn(*values):
        gs.manual_seed(3)
        return type(one)(**fixed, **dict(zip(keys, values))).rsample((3,))

    dist.Distribution.set_default_validate_args(False)  # probabilities are moved alone
    try:
        assert gs.autograd.gradcheck(drawn, parameters)
    finally:
        dist.Distribution.set_default_validate_args(True)


def test_straight_through_gradients():
    probs = gs.tensor([[0.2, 0.8]], dtype=gs.float64, requires_grad=True)
    one = dist.OneHotCategoricalStraightThrough(probs)
    drawn = one.rsample((4,))
    assert ((drawn == 0) | (drawn == 1)).all()
    (gradient,) = gs.autograd.grad((drawn * gs.tensor([1.0, 3.0])).sum(), probs)
    # the normalised probabilities have the Jacobian matrix 1 - p
    np.testing.assert_allclose(gradient.numpy(), 4 * (np.array([[1.0, 3.0]]) - (0.2 + 2.4)))


def test_samples_of_correlation_factors():
    """The elements of a correlation matrix have the variance 1 / (2 concentration + dim - 1)."""
    concentration, dim = gs.tensor(2.0), 3
    factors = dist.LKJCholesky(dim, concentration).sample((MANY,))
    found = (factors @ factors.mT)[:, 0, 1:].numpy()
    variance = 1 / (2 * 2.0 + dim - 1)
    assert (np.abs(found.mean(0)) < 5 * math.sqrt(variance / MANY)).all()
    assert (np.abs(found.var(0) - variance) < 5 * variance * math.sqrt(2 / MANY)).all()


def test_draws_follow_the_seed():
    one = dist.Gamma(gs.tensor([0.5, 3.0]), 1.0)
    gs.manual_seed(7)
    first = one.sample((3,))
    gs.manual_seed(7)
    assert gs.equal(first, one.sample((3,)))


def test_slices_of_vmap_draw_different_numbers():
    rates = gs.ones(4)
    drawn = gs.vmap(lambda rate: dist.Exponential(rate).sample((2,)), randomness="different")(rates)
    assert drawn.shape == (4, 2) and len(set(drawn.flatten().tolist())) == 8
    same = gs.vmap(lambda rate: dist.Normal(0.0, rate).sample((2,)), randomness="same")(rates)
    assert gs.equal(same[0], same[3])


@pytest.mark.parametrize("dtype", [gs.float16, gs.float32])
def test_uniform_numbers_are_below_the_end_in_every_dtype(dtype):
    """A number of few digits is 1 for one double in 2^12 or 2^25, unless it is kept from it."""
    drawn = dist.Uniform(gs.zeros(1, dtype=dtype), gs.ones(1, dtype=dtype)).sample((200_000,))
    assert drawn.dtype == dtype and drawn.max() < 1 and drawn.min() >= 0


@pytest.mark.parametrize("name", ["Normal", "Laplace", "Gumbel", "Exponential", "Cauchy", "Bernoulli"])
def test_half_precision(name):
    arguments = 1 if name in ("Exponential", "Bernoulli") else 2
    one = getattr(dist, name)(*[gs.full((3,), 0.5, dtype=gs.float16)] * arguments)
    drawn = one.sample((5,))
    assert drawn.dtype == gs.float16 and drawn.isfinite().all()
    assert one.log_prob(drawn).dtype == gs.float16 and one.log_prob(drawn).isfinite().all()
