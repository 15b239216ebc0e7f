"""Distributions of `gs.random` against SciPy's, their gradients against closed forms and differences of quantiles."""

import math

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import grad, gradgradcheck
from gradsmith.generated.sampling import log_gamma_quantile

stats = pytest.importorskip("scipy.stats")
MANY = 4000
CONTINUOUS = {  # name -> parameters, SciPy's distribution
    "normal": ((1.0, 2.0), stats.norm(1, 2)),
    "laplace": ((1.0, 2.0), stats.laplace(1, 2)),
    "logistic": ((1.0, 2.0), stats.logistic(1, 2)),
    "gumbel": ((1.0, 2.0), stats.gumbel_r(1, 2)),
    "uniform": ((1.0, 3.0), stats.uniform(1, 2)),
    "lognormal": ((0.5, 0.7), stats.lognorm(0.7, scale=math.exp(0.5))),
    "exponential": ((2.0,), stats.expon(scale=2)),
    "rayleigh": ((2.0,), stats.rayleigh(scale=2)),
    "weibull": ((1.7,), stats.weibull_min(1.7)),
    "pareto": ((3.0,), stats.lomax(3)),
    "power": ((3.0,), stats.powerlaw(3)),
    "triangular": ((0.0, 1.0, 4.0), stats.triang(0.25, 0, 4)),
    "vonmises": ((0.5, 2.0), stats.vonmises(2, loc=0.5)),
    "wald": ((1.5, 2.0), stats.invgauss(0.75, scale=2)),
    "standard_gamma": ((0.3,), stats.gamma(0.3)),
    "gamma": ((3.0, 2.0), stats.gamma(3, scale=2)),
    "chisquare": ((3.0,), stats.chi2(3)),
    "standard_t": ((3.0,), stats.t(3)),
    "f": ((3.0, 5.0), stats.f(3, 5)),
    "beta": ((0.3, 0.7), stats.beta(0.3, 0.7)),
    "noncentral_chisquare": ((3.0, 2.0), stats.ncx2(3, 2)),
    "noncentral_f": ((3.0, 5.0, 2.0), stats.ncf(3, 5, 2)),
    "standard_cauchy": ((), stats.cauchy()),
    "standard_normal": ((), stats.norm()),
    "standard_exponential": ((), stats.expon()),
    "random": ((), stats.uniform()),
}
COUNTS = {
    "poisson": ((3.5,), stats.poisson(3.5)),
    "binomial": ((9, 0.3), stats.binom(9, 0.3)),
    "negative_binomial": ((4, 0.3), stats.nbinom(4, 0.3)),
    "geometric": ((0.3,), stats.geom(0.3)),
    "hypergeometric": ((7, 5, 6), stats.hypergeom(12, 7, 6)),
    "logseries": ((0.6,), stats.logser(0.6)),
    "zipf": ((3.0,), stats.zipf(3.0)),
}


def source(seed=1):
    return gs.Generator().manual_seed(seed)


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("as_tensors", [False, True])
def test_distribution(name, as_tensors):
    given, expected = CONTINUOUS[name]
    if as_tensors:
        given = [gs.tensor(value, dtype=gs.float64) for value in given]
    found = getattr(gs.random, name)(*given, size=MANY, dtype=gs.float64, generator=source())
    assert found.shape == (MANY,) and found.dtype == gs.float64
    assert stats.kstest(found.numpy(), expected.cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    "name, given",
    [
        *((name, ()) for name in ("exponential", "gumbel", "laplace", "logistic", "lognormal", "normal", "poisson")),
        *((name, ()) for name in ("rayleigh", "uniform")),
        *((name, (2.5,)) for name in ("gamma", "gumbel", "laplace", "logistic", "lognormal", "normal")),
        ("uniform", (-1.5,)),
    ],
)
def test_parameters_that_are_left_out_are_those_of_numpy(name, given):
    options = {} if name == "poisson" else {"dtype": gs.float64}
    found = getattr(gs.random, name)(*given, size=20, generator=source(3), **options)
    np.testing.assert_allclose(found.numpy(), getattr(source(3).numpy, name)(*given, size=20), rtol=1e-12)


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    given, expected = COUNTS[name]
    found = getattr(gs.random, name)(*given, size=MANY, generator=source())
    assert found.dtype == gs.int64 and not found.requires_grad
    low, high = int(expected.ppf(0.02)), int(expected.ppf(0.98))
    for value in range(low, high + 1):
        chance = expected.cdf(value)
        part = (found.numpy() <= value).mean()
        assert abs(part - chance) < 5 * (chance * (1 - chance) / MANY) ** 0.5 + 1e-12


def test_a_call_draws_the_same_for_the_same_state():
    for name, (given, _) in {**CONTINUOUS, **COUNTS}.items():
        first, second = (getattr(gs.random, name)(*given, size=5, generator=source()) for _ in range(2))
        assert gs.equal(first, second), name


# ---- gradients


GRADIENTS = {  # name -> parameters, derivative of a number in each of them, given the number
    "normal": ((1.0, 2.0), lambda x, loc, scale: (1, (x - loc) / scale)),
    "laplace": ((1.0, 2.0), lambda x, loc, scale: (1, (x - loc) / scale)),
    "logistic": ((1.0, 2.0), lambda x, loc, scale: (1, (x - loc) / scale)),
    "gumbel": ((1.0, 2.0), lambda x, loc, scale: (1, (x - loc) / scale)),
    "uniform": ((1.0, 3.0), lambda x, low, high: ((high - x) / (high - low), (x - low) / (high - low))),
    "lognormal": ((0.5, 0.7), lambda x, mean, sigma: (x, x * (np.log(x) - mean) / sigma)),
    "exponential": ((2.0,), lambda x, scale: (x / scale,)),
    "rayleigh": ((2.0,), lambda x, scale: (x / scale,)),
    "weibull": ((1.7,), lambda x, a: (-x * np.log(x) / a,)),
    "pareto": ((3.0,), lambda x, a: (-(1 + x) * np.log1p(x) / a,)),
    "power": ((3.0,), lambda x, a: (-x * np.log(x) / a,)),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_in_closed_form(name):
    given, expected = GRADIENTS[name]
    tensors = [gs.tensor(np.full(50, value), requires_grad=True) for value in given]
    x = getattr(gs.random, name)(*tensors, generator=source())
    found = grad(x.sum(), tensors)
    for one, other in zip(found, expected(x.detach().numpy(), *given), strict=True):
        np.testing.assert_allclose(one.numpy(), np.broadcast_to(other, 50), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", ["triangular", "standard_gamma", "chisquare", "weibull"])
def test_gradients_keep_the_probability(name):
    """Of any number, the derivative is that of the quantile of its probability."""
    given, make = {
        "triangular": ((0.0, 1.0, 4.0), lambda a, b, c: stats.triang((b - a) / (c - a), a, c - a)),
        "standard_gamma": ((2.5,), stats.gamma),
        "chisquare": ((5.0,), stats.chi2),
        "weibull": ((1.7,), stats.weibull_min),
    }[name]
    tensors = [gs.tensor(np.full(30, value), requires_grad=True) for value in given]
    x = getattr(gs.random, name)(*tensors, generator=source())
    gradients = grad(x.sum(), tensors)
    level = make(*given).cdf(x.detach().numpy())
    for place, found in enumerate(gradients):
        ends = [make(*(v + (i == place) * step for i, v in enumerate(given))).ppf(level) for step in (-1e-5, 1e-5)]
        np.testing.assert_allclose(found.numpy(), (ends[1] - ends[0]) / 2e-5, rtol=2e-6, atol=1e-8)


@pytest.mark.parametrize("a", [1e-3, 0.04, 0.7, 1.0, 3.3, 12.0, 49.0, 51.0, 400.0, 1e5])
def test_gamma_gradients_by_differences_of_quantiles(a):
    special = pytest.importorskip("scipy.special")
    parameter = gs.tensor(np.full(40, a), requires_grad=True)
    x = gs.random.standard_gamma(parameter, generator=source(3))
    (found,) = grad(x.sum(), parameter)
    numbers, step = x.detach().numpy(), 1e-5 * a
    lower, upper = special.gammainc(a, numbers), special.gammaincc(a, numbers)

    def quantile(a):
        return np.where(lower < 0.5, special.gammaincinv(a, lower), special.gammainccinv(a, upper))

    is_seen = numbers > 1e-280
    expected = (quantile(a + step) - quantile(a - step)) / (2 * step)
    scale = np.maximum(np.abs(expected), 1e-3)
    assert (np.abs(found.numpy() - expected) < 2e-6 * scale)[is_seen].all()


def test_gamma_of_the_smallest_parameters():
    a = gs.full((2000,), 1e-4, dtype=gs.float64, requires_grad=True)
    x = gs.random.standard_gamma(a, generator=source())
    assert (x > 0).all()
    (found,) = grad(x.sum(), a)
    assert np.isfinite(found.numpy()).all()
    halves = gs.random.beta(a.detach(), a.detach(), generator=source()).numpy()
    assert abs((halves > 0.5).mean() - 0.5) < 0.06 and ((halves < 1e-9) | (halves > 1 - 1e-9)).mean() > 0.95


def test_gamma_in_second_order_and_forward_mode():
    a = gs.tensor([0.4, 2.0, 30.0, 80.0], dtype=gs.float64, requires_grad=True)
    base = a.detach().clone()
    drawn = gs.random.standard_gamma(base, generator=source()).log()
    assert gradgradcheck(lambda a: log_gamma_quantile(a, drawn, base), a, rtol=1e-4)
    tangents = gs.func.jvp(lambda a: gs.random.gamma(a, 2.0, generator=source()), (base,), (gs.ones_like(base),))[1]
    (expected,) = grad(gs.random.gamma(a, 2.0, generator=source()).sum(), a)
    np.testing.assert_allclose(tangents.numpy(), expected.numpy(), rtol=1e-12)


def test_means_of_gradients():
    """The gradient of a mean is the derivative of the mean."""
    a, b = (gs.tensor(value, dtype=gs.float64, requires_grad=True) for value in (1.5, 2.5))
    found = grad(gs.random.beta(a, b, 40_000, generator=source()).mean(), (a, b))
    np.testing.assert_allclose([x.item() for x in found], [2.5 / 16, -1.5 / 16], rtol=0.04)
    mean, scale = (gs.tensor(value, dtype=gs.float64, requires_grad=True) for value in (1.5, 2.0))
    (found,) = grad(gs.random.wald(mean, scale.detach(), 40_000, generator=source()).mean(), mean)
    alpha = gs.tensor([0.5, 1.0, 2.5], dtype=gs.float64, requires_grad=True)
    parts = gs.random.dirichlet(alpha, 40_000, generator=source())
    np.testing.assert_allclose(parts.sum(1).detach().numpy(), 1, rtol=1e-12)
    np.testing.assert_allclose(parts.mean(0).detach().numpy(), [0.125, 0.25, 0.625], rtol=0.03)
    (found,) = grad(parts[:, 0].mean(), alpha)
    np.testing.assert_allclose(found.numpy(), [3.5 / 16, -0.5 / 16, -0.5 / 16], rtol=0.06)


# ---- vmap, sizes, dtypes, refusals


@pytest.mark.filterwarnings("ignore:vmap calls")
@pytest.mark.parametrize("name", ["normal", "triangular", "gamma", "beta", "poisson", "wald"])
def test_in_batches(name):
    given = {"triangular": (0.0, 1.0, 2.0), "poisson": (2.0,)}.get(name, (1.0, 2.0))
    stacked = [gs.full((5, 30), value, dtype=gs.float64) for value in given]

    def drawn(*values):
        return getattr(gs.random, name)(*values)

    with pytest.raises(RuntimeError, match="randomness"):
        gs.vmap(drawn)(*stacked)
    same = gs.vmap(drawn, randomness="same")(*stacked).numpy()
    different = gs.vmap(drawn, randomness="different")(*stacked).numpy()
    assert same.shape == different.shape == (5, 30)
    np.testing.assert_allclose(same, np.broadcast_to(same[:1], same.shape), rtol=1e-14)
    assert not (different == different[:1]).all()


def test_sizes_and_dtypes():
    mean = gs.zeros(3, dtype=gs.float32)
    assert gs.random.normal(mean).shape == (3,) and gs.random.normal(mean).dtype == gs.float32
    assert gs.random.normal(mean, gs.ones(2, 1)).shape == (2, 3)
    assert gs.random.gamma(2.0, size=(2, 0)).shape == (2, 0)
    assert gs.random.normal().shape == () and gs.random.normal(0.0, 1.0).dtype == gs.get_default_dtype()
    assert gs.random.gamma(mean + 1, dtype=gs.float64).dtype == gs.float64
    with pytest.raises(RuntimeError, match="do not broadcast to size"):
        gs.random.normal(mean, 1.0, (2, 2))
    with pytest.raises(RuntimeError, match="floating-point"):
        gs.random.normal(0.0, 1.0, dtype=gs.int64)


REFUSED = {
    "normal": (0.0, -1.0), "uniform": (1.0, 0.0), "weibull": (0.0,), "triangular": (1.0, 0.0, 2.0), "gamma": (0.0, 1.0),
    "beta": (1.0, -1.0), "wald": (1.0, 0.0), "vonmises": (0.0, -1.0), "standard_t": (0.0,), "poisson": (-1.0,),
    "binomial": (3, 1.5), "geometric": (0.0,), "zipf": (1.0,), "logseries": (1.0,), "chisquare": (-1.0,),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_parameters_out_of_range(name):
    with pytest.raises(ValueError, match=name):
        getattr(gs.random, name)(*REFUSED[name])
    with pytest.raises(ValueError, match=name):
        getattr(gs.random, name)(*(gs.tensor([value, value]) for value in REFUSED[name]))
    with pytest.raises(TypeError):
        getattr(gs.random, name)(*(["a"] * len(REFUSED[name])))


class TestSeveralOutcomes:
    """multinomial and multivariate_hypergeometric, which give a vector for each draw, and bytes."""

    def test_shapes_and_sums(self):
        found = gs.random.multinomial(gs.tensor([3, 40]), [[0.2, 0.8], [0.5, 0.5]], (5, 2))
        assert found.dtype == np.int64 and found.shape == (5, 2, 2)
        assert found.sum(-1).tolist() == [[3, 40]] * 5
        assert gs.random.multinomial(7, gs.softmax(gs.randn(4, 3), -1)).sum(-1).tolist() == [7] * 4
        assert gs.random.multinomial(9, [0.25, 0.0]).tolist()[1] > 0  # the last probability is what is left
        found = gs.random.multivariate_hypergeometric([16, 8, 4], 12, (3, 2))
        assert found.shape == (3, 2, 3) and bool((found.sum(-1) == 12).all())
        assert bool((found <= gs.tensor([16, 8, 4])).all())

    def test_means(self):
        gs.manual_seed(1)
        chances = np.array([0.1, 0.3, 0.6])
        counts = gs.random.multinomial(10, chances, 4000).double().mean(0)
        np.testing.assert_allclose(counts, 10 * chances, atol=0.15)
        for method in ("marginals", "count"):
            taken = gs.random.multivariate_hypergeometric([16, 8, 4], 7, 4000, method).double().mean(0)
            np.testing.assert_allclose(taken, [4, 2, 1], atol=0.15)

    def test_generators_and_slices(self):
        draws = [gs.random.multinomial(20, [0.5, 0.5], 3, generator=gs.Generator().manual_seed(4)) for _ in range(2)]
        assert gs.equal(*draws)
        first, second = (gs.random.bytes(8, generator=gs.Generator().manual_seed(4)) for _ in range(2))
        assert first == second and len(first) == 8 and isinstance(first, bytes)
        mapped = gs.vmap(lambda x: x + gs.random.multinomial(1000, [0.5, 0.5]), randomness="different")(gs.zeros(4, 1))
        assert mapped.shape == (4, 2) and len({tuple(row) for row in mapped.tolist()}) > 1

    @pytest.mark.parametrize(
        "call, kind, message",
        [
            (lambda: gs.random.multinomial(-1, [1.0]), ValueError, "n < 0"),
            (lambda: gs.random.multinomial(1, [0.7, 0.7, 0.1]), ValueError, r"sum\(pvals\[:-1\]\) > 1"),
            (lambda: gs.random.multinomial(1, [np.nan]), ValueError, "contains NaNs"),
            (lambda: gs.random.multinomial(1, []), ValueError, "last dimension"),
            (lambda: gs.random.multinomial(1.5, [1.0]), TypeError, "n must consist of integers"),
            (lambda: gs.random.multinomial(1, None), TypeError, "pvals must consist of real numbers"),
            (lambda: gs.random.multivariate_hypergeometric([3, 4], 8), ValueError, "nsample is not from 0"),
            (lambda: gs.random.multivariate_hypergeometric([[3]], 1), ValueError, "one dimension"),
            (lambda: gs.random.multivariate_hypergeometric([3], 1, method="x"), ValueError, "method must be"),
            (lambda: gs.random.bytes(-1), ValueError, "length is not"),
            (lambda: gs.random.bytes("a"), TypeError, "must consist of integers"),
        ],
    )
    def test_errors(self, call, kind, message):
        with pytest.raises(kind, match=message):
            call()
