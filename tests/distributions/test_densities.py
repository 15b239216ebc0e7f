"""Densities against SciPy's, their integrals, and their derivatives against differences."""

import math

import numpy as np
import pytest

pytest.importorskip("scipy.stats")

from example_distributions import CLASSES, COUNTING, COVARIANCE, EXAMPLES, NAMES, OF_NUMBERS, made
from scipy import stats

import gradsmith as gs
import gradsmith.distributions as dist
from gradsmith.autograd import gradcheck, gradgradcheck

A = np.array
SCIPYS = {  # the distributions of SciPy that those of the examples are
    "Bernoulli": stats.bernoulli(A([0.3, 0.6])),
    "Beta": stats.beta(A([1.3, 2.4]), A([1.7, 3.1])),
    "Binomial": stats.binom(5, A([0.3, 0.6])),
    "Cauchy": stats.cauchy(A([0.5, -1.0]), A([1.3, 0.7])),
    "Chi2": stats.chi2(A([3.0, 4.5])),
    "Exponential": stats.expon(scale=1 / A([1.3, 0.7])),
    "FisherSnedecor": stats.f(A([3.0, 4.5]), A([9.5, 12.0])),
    "Gamma": stats.gamma(A([1.3, 2.4]), scale=1 / A([0.7, 3.1])),
    "GeneralizedPareto": stats.genpareto(A([0.1, -0.3]), A([0.5, -1.0]), A([1.3, 0.7])),
    "Geometric": stats.geom(A([0.3, 0.6]), loc=-1),
    "Gumbel": stats.gumbel_r(A([0.5, -1.0]), A([1.3, 0.7])),
    "HalfCauchy": stats.halfcauchy(scale=A([1.3, 0.7])),
    "HalfNormal": stats.halfnorm(scale=A([1.3, 0.7])),
    "InverseGamma": stats.invgamma(A([5.3, 6.4]), scale=A([0.7, 3.1])),
    "Laplace": stats.laplace(A([0.5, -1.0]), A([1.3, 0.7])),
    "LogNormal": stats.lognorm(A([0.4, 0.7]), scale=np.exp([0.5, -1.0])),
    "NegativeBinomial": stats.nbinom(A([1.5, 4.0]), 1 - A([0.3, 0.6])),
    "Normal": stats.norm(A([0.5, -1.0]), A([1.3, 0.7])),
    "Pareto": stats.pareto(A([5.5, 6.5]), scale=A([1.3, 0.7])),
    "Poisson": stats.poisson(A([1.3, 2.7])),
    "StudentT": stats.t(A([5.5, 9.0]), A([0.5, -1.0]), A([1.3, 0.7])),
    "Uniform": stats.uniform(A([0.5, -1.0]), A([0.8, 1.7])),
    "VonMises": stats.vonmises(A([1.3, 20.0]), A([0.5, -1.0])),
    "Weibull": stats.weibull_min(A([1.7, 3.1]), scale=A([1.3, 0.7])),
}


def close(found, expected, rtol=1e-9):
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=rtol, atol=1e-12)


def values_of(name, count=5):
    return made(name)[0].sample((count,))


@pytest.mark.parametrize("name", SCIPYS)
def test_log_densities(name):
    one, scipys = made(name)[0], SCIPYS[name]
    values = values_of(name)
    density = scipys.logpmf if name in COUNTING else scipys.logpdf
    close(one.log_prob(values), density(values.numpy()), 1e-6 if name == "Bernoulli" else 1e-9)


@pytest.mark.parametrize("name", SCIPYS)
def test_moments_and_entropies(name):
    one, scipys = made(name)[0], SCIPYS[name]
    if name not in ("Cauchy", "HalfCauchy", "VonMises"):
        close(one.mean, scipys.mean())
        close(one.variance, scipys.var())
        close(one.stddev, scipys.std())
    if name not in ("FisherSnedecor", "NegativeBinomial", "Poisson", "VonMises"):
        close(one.entropy(), scipys.entropy(), 1e-6)
        close(one.perplexity(), np.exp(scipys.entropy()), 1e-6)


@pytest.mark.parametrize("name", sorted(SCIPYS.keys() - {*COUNTING, "FisherSnedecor", "StudentT", "Beta", "VonMises"}))
def test_cumulative_functions_and_quantiles(name):
    one, scipys = made(name)[0], SCIPYS[name]
    values = values_of(name)
    close(one.cdf(values), scipys.cdf(values.numpy()))
    q = np.array([[0.05], [0.5], [0.9]])
    if name in ("Chi2", "Gamma", "InverseGamma"):
        with pytest.raises(NotImplementedError, match="icdf"):
            one.icdf(gs.tensor(q))
        return
    close(one.icdf(gs.tensor(q)), scipys.ppf(q))


@pytest.mark.parametrize("name", [name for name in OF_NUMBERS if name not in ("Cauchy", "HalfCauchy")])
def test_densities_have_the_integral_one(name):
    """And the mean and entropy that they say, by the midpoint rule over what is almost all of the support."""
    one, _ = made(name)
    low, high = integration_bounds(name, one)
    steps = (np.arange(100_000) + 0.5)[:, None] / 100_000
    # a cubic map gathers points at the ends, where densities may be steep
    x = gs.tensor(low + (high - low) * steps**3 * (10 - 15 * steps + 6 * steps**2))
    weight = gs.tensor((high - low) * 30 * steps**2 * (1 - steps) ** 2 / 100_000)
    logarithm = one.log_prob(x)
    density = logarithm.exp() * weight
    close(density.sum(0), np.ones(2), 1e-5)
    if name != "VonMises":
        try:
            close((density * x).sum(0), one.mean.detach().numpy(), 1e-4)
        except NotImplementedError:
            assert name == "RelaxedBernoulli"
    try:
        close(-(density * logarithm).nansum(0), one.entropy().detach().numpy(), 1e-4)
    except NotImplementedError:
        assert name in ("FisherSnedecor", "VonMises", "RelaxedBernoulli")


def integration_bounds(name, one):
    drawn = one.sample((1000,)).numpy()
    low, high = drawn.min(0), drawn.max(0)
    width = high - low
    low, high = low - 3 * width, high + 40 * width
    if name == "VonMises":
        return np.full(2, -math.pi), np.full(2, math.pi)
    lower, upper = (
        gs.as_tensor(getattr(one.support, end, math.inf)).detach().numpy() for end in ("lower_bound", "upper_bound")
    )
    return np.where(np.isfinite(lower), lower, low), np.where(np.isfinite(upper), upper, high)


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_of_log_densities(name):
    one, parameters = made(name)
    values = values_of(name, 2)
    keys = [key for key, value in EXAMPLES[name].items() if not isinstance(value, (int, float))]
    fixed = {key: value for key, value in EXAMPLES[name].items() if isinstance(value, (int, float))}

    def density(*given):
        given = [symmetric(key, value) for key, value in zip(keys, given)]
        return type(one)(**fixed, **dict(zip(keys, given)), validate_args=False).log_prob(values)

    assert gradcheck(density, parameters, check_forward_ad=True)
    if name not in ("Wishart", "LKJCholesky"):
        assert gradgradcheck(density, parameters)


def symmetric(key, value):
    return (value + value.mT) / 2 if key == "covariance_matrix" else value


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_derivatives_in_values(name):
    one, _ = made(name)
    inside = values_of(name, 2).requires_grad_()
    one._validate_args = False
    assert gradcheck(one.log_prob, [inside])


def test_vectors():
    x = np.random.default_rng(0).normal(size=(4, 2))
    normal = stats.multivariate_normal([0.5, -1.0], COVARIANCE)
    precision = np.linalg.inv(COVARIANCE)
    matrices = {
        "covariance_matrix": COVARIANCE,
        "precision_matrix": precision,
        "scale_tril": np.linalg.cholesky(COVARIANCE),
    }
    for name, matrix in matrices.items():
        one = dist.MultivariateNormal(gs.tensor([0.5, -1.0], dtype=gs.float64), **{name: gs.tensor(matrix)})
        close(one.log_prob(gs.tensor(x)), normal.logpdf(x))
        close(one.entropy(), normal.entropy())
        close(one.covariance_matrix, COVARIANCE)
        close(one.precision_matrix, precision)
        close(one.scale_tril, np.linalg.cholesky(COVARIANCE))
        close(one.variance, np.diag(COVARIANCE))
    factor, diagonal = np.array([[1.0], [0.5]]), np.array([0.7, 1.2])
    covariance = factor @ factor.T + np.diag(diagonal)
    low_rank = dist.LowRankMultivariateNormal(gs.zeros(2, dtype=gs.float64), gs.tensor(factor), gs.tensor(diagonal))
    expected = stats.multivariate_normal([0.0, 0.0], covariance)
    close(low_rank.log_prob(gs.tensor(x)), expected.logpdf(x))
    close(low_rank.entropy(), expected.entropy())
    close(low_rank.covariance_matrix, covariance)
    close(low_rank.precision_matrix, np.linalg.inv(covariance))
    close(low_rank.scale_tril, np.linalg.cholesky(covariance))


def test_simplexes_and_counts():
    one = dist.Dirichlet(gs.tensor(CLASSES[0] * 5))
    x = one.sample((3,))
    close(one.log_prob(x), [stats.dirichlet.logpdf(v / v.sum(), CLASSES[0] * 5) for v in x.numpy()], 1e-7)
    close(one.entropy(), stats.dirichlet.entropy(CLASSES[0] * 5))
    several = dist.Multinomial(4, gs.tensor(CLASSES))
    drawn = several.sample((3,))
    close(several.log_prob(drawn), stats.multinomial.logpmf(drawn.numpy(), 4, CLASSES), 1e-7)
    close(several.entropy(), [float(stats.multinomial.entropy(4, row)) for row in CLASSES], 1e-7)


def test_matrices():
    one = dist.Wishart(gs.tensor(4.5, dtype=gs.float64), gs.tensor(COVARIANCE))
    drawn = one.sample((3,))
    expected = stats.wishart(4.5, COVARIANCE)
    close(one.log_prob(drawn), [expected.logpdf(matrix) for matrix in drawn.numpy()])
    close(one.entropy(), expected.entropy())
    close(one.mean, expected.mean())
    close(one.variance, expected.var())
    close(one.mode, expected.mode())


def test_densities_of_correlation_factors_have_the_integral_one():
    """Factors of two rows are an angle: the row is its sine and its cosine."""
    one = dist.LKJCholesky(2, gs.tensor(1.7, dtype=gs.float64))
    steps = (np.arange(20000) + 0.5) / 20000 * 2 - 1
    below = gs.tensor(steps)
    rows = gs.stack([below, (1 - below * below).sqrt()], -1)
    first = gs.tensor([1.0, 0.0], dtype=gs.float64).expand(rows.shape)
    density = one.log_prob(gs.stack([first, rows], -2)).exp()
    assert density.mean().item() * 2 == pytest.approx(1, abs=1e-4)


def test_mixtures():
    weights = gs.tensor([0.3, 0.7], dtype=gs.float64, requires_grad=True)
    locs = gs.tensor([-1.0, 2.0], dtype=gs.float64, requires_grad=True)
    x = np.linspace(-3, 4, 5)

    def mixture(weights, locs):
        return dist.MixtureSameFamily(dist.Categorical(weights), dist.Normal(locs, 1.5))

    one = mixture(weights, locs)
    parts = [stats.norm(-1, 1.5), stats.norm(2, 1.5)]
    close(one.log_prob(gs.tensor(x)), np.log(0.3 * parts[0].pdf(x) + 0.7 * parts[1].pdf(x)))
    close(one.cdf(gs.tensor(x)), 0.3 * parts[0].cdf(x) + 0.7 * parts[1].cdf(x))
    assert one.mean.item() == pytest.approx(1.1)
    assert one.variance.item() == pytest.approx(1.5**2 + 0.3 * 0.7 * 9)
    assert gradcheck(lambda w, m: mixture(w, m).log_prob(gs.tensor(x)), [weights, locs])
    drawn = one.sample((20000,)).numpy()
    assert abs(drawn.mean() - 1.1) < 5 * math.sqrt(one.variance.item() / 20000)


@pytest.mark.parametrize("logit", [-40.0, -3.0, -1e-3, 0.0, 1e-3, 2e-2, 3.0, 40.0])
def test_continuous_bernoulli_at_all_logits(logit):
    """Between its series and formulas there is no step, and nothing overflows."""
    t = gs.tensor(logit, dtype=gs.float64, requires_grad=True)
    one = dist.ContinuousBernoulli(logits=t)
    steps = (np.arange(200_000) + 0.5) / 200_000
    density = one.log_prob(gs.tensor(steps)).exp().detach().numpy()
    rtol = 1e-5 if abs(logit) > 10 else 1e-7
    assert density.mean() == pytest.approx(1, rel=rtol)
    assert one.mean.item() == pytest.approx((density * steps).mean(), rel=rtol)
    assert one.variance.item() == pytest.approx((density * (steps - one.mean.item()) ** 2).mean(), rel=max(rtol, 1e-6))
    q = gs.tensor([0.1, 0.5, 0.9], dtype=gs.float64)
    close(one.cdf(one.icdf(q)), q.numpy(), 1e-6)
    (gradient,) = gs.autograd.grad(one.mean + one.cdf(q).sum() + one.icdf(q).sum() + one.entropy(), t)
    assert gradient.isfinite()


@pytest.mark.parametrize("failures", [0.0, 1.0, 4.0])
@pytest.mark.parametrize("logit", [-200.0, -3.0, 0.5, 20.0, 200.0])
def test_geometric_of_logits_whose_probability_rounds_to_one(logit, failures):
    given = gs.tensor(logit, requires_grad=True)
    found = dist.Geometric(logits=given).expand((2,)).log_prob(gs.tensor(failures)).sum() / 2
    # log p = -log(1 + exp(-x)), and log(1 - p) = -log(1 + exp(x))
    expected = -np.logaddexp(0, -logit) - failures * np.logaddexp(0, logit)
    np.testing.assert_allclose(found.item(), expected, rtol=1e-6, atol=1e-8)
    found.backward()
    p = stats.logistic.cdf(logit)
    np.testing.assert_allclose(given.grad.item(), stats.logistic.sf(logit) - failures * p, rtol=1e-6, atol=1e-8)


def test_geometric_that_never_fails_has_a_gradient():
    certain = gs.tensor(1.0, requires_grad=True)
    never = dist.Geometric(certain)
    assert never.log_prob(gs.tensor([0.0, 3.0])).tolist() == [0, -math.inf]
    never.log_prob(gs.tensor(0.0)).backward()
    assert certain.grad == 1


@pytest.mark.parametrize("logit", [-1e30, 1e30])
def test_gradients_of_continuous_bernoulli_at_huge_logits(logit):
    given = gs.tensor(logit, requires_grad=True)
    dist.ContinuousBernoulli(logits=given).log_prob(gs.tensor(0.25)).backward()
    assert given.grad.item() == pytest.approx(0.25 if logit < 0 else -0.75)


@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
@pytest.mark.parametrize("p", [1e-30, 1e-9, 1e-3, 0.3, 0.999, 1.0])
def test_entropy_of_geometric_at_all_probabilities(p, dtype):
    kept = float(np.asarray(p, dtype))
    rest = (1 - kept) * math.log1p(-kept) / kept if kept < 1 else 0.0
    given = {"probs": gs.tensor(p, dtype=dtype, requires_grad=True)}
    if p < 1:
        given["logits"] = gs.tensor(math.log(p) - math.log1p(-p), dtype=dtype, requires_grad=True)
    for name, parameter in given.items():
        found = dist.Geometric(**{name: parameter}).entropy()
        np.testing.assert_allclose(found.item(), -math.log(kept) - rest, rtol=1e-4 if p == 0.999 else 1e-5)
        found.backward()
        assert parameter.grad.isfinite()
        if kept < 1:  # log(1 - p) / p^2, and p (1 - p) times it
            slope = math.log1p(-kept) / kept**2 * (1 if name == "probs" else kept * (1 - kept))
            np.testing.assert_allclose(parameter.grad.item(), slope, rtol=1e-3)
