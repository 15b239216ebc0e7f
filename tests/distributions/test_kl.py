"""Divergences against integrals and sums, and how the function for a pair is found."""

import math
import warnings
from collections.abc import Hashable

import numpy as np
import pytest

pytest.importorskip("scipy.special")

from example_distributions import CLASSES, COVARIANCE

import gradsmith as gs
import gradsmith.distributions as dist
from gradsmith.distributions import kl_divergence, register_kl
from gradsmith.distributions.kl import _KL_REGISTRY


def number(value):
    return gs.tensor(value, dtype=gs.float64).requires_grad_()


OF_NUMBERS = {  # two of each class: the second one, as q, has all values of the bounded ones
    "Beta": ({"concentration1": 2.3, "concentration0": 3.1}, {"concentration1": 1.7, "concentration0": 1.2}),
    "Cauchy": ({"loc": 0.3, "scale": 1.2}, {"loc": -0.5, "scale": 0.8}),
    "ContinuousBernoulli": ({"probs": 0.3}, {"probs": 0.7}),
    "Exponential": ({"rate": 1.7}, {"rate": 0.6}),
    "Gamma": ({"concentration": 2.5, "rate": 1.7}, {"concentration": 1.4, "rate": 0.6}),
    "Gumbel": ({"loc": 0.3, "scale": 1.2}, {"loc": -0.5, "scale": 1.8}),
    "HalfNormal": ({"scale": 1.3}, {"scale": 0.7}),
    "Laplace": ({"loc": 0.3, "scale": 1.2}, {"loc": -0.5, "scale": 0.8}),
    "Normal": ({"loc": 0.3, "scale": 1.2}, {"loc": -0.5, "scale": 0.8}),
    "Pareto": ({"scale": 1.3, "alpha": 6.5}, {"scale": 0.2, "alpha": 1.5}),
    "Uniform": ({"low": 0.3, "high": 0.9}, {"low": -0.5, "high": 1.5}),
    "LogNormal": ({"loc": 0.3, "scale": 0.4}, {"loc": -0.5, "scale": 0.8}),
}
PAIRS = [(p.__name__, q.__name__) for p, q in _KL_REGISTRY if p.__name__ in OF_NUMBERS and q.__name__ in OF_NUMBERS]


def of_numbers(name, which):
    parameters = {key: number(value) for key, value in OF_NUMBERS[name][which].items()}
    return getattr(dist, name)(**parameters), list(parameters.values())


def points(p, count=200_000):
    """Points, and weights of a sum that approximates the expectation of a function under p."""
    if isinstance(p.support, type(dist.constraints.unit_interval)):
        low, high = float(p.support.lower_bound), float(p.support.upper_bound)
    else:
        drawn = p.sample((2000,)).numpy()
        width = drawn.max() - drawn.min()
        low, high = drawn.min() - 3 * width, drawn.max() + 30 * width
        low = max(low, float(getattr(p.support, "lower_bound", low)))
    steps = (np.arange(count) + 0.5) / count
    x = gs.tensor(low + (high - low) * steps**3 * (10 - 15 * steps + 6 * steps**2))
    return x, gs.tensor((high - low) * 30 * steps**2 * (1 - steps) ** 2 / count)


@pytest.mark.parametrize(("one", "other"), [*PAIRS, ("LogNormal", "LogNormal")])
def test_divergences_of_numbers(one, other):
    """The value by an integral, and derivatives by differences."""
    (p, own), (q, others) = of_numbers(one, 0), of_numbers(other, 1)
    found = kl_divergence(p, q)
    p._validate_args = q._validate_args = False
    x, weights = points(p)
    if found.isinf():
        drawn = p.sample((2000,))
        assert not q.support.check(drawn).all()
        return
    if one == "Cauchy":  # the integral is that of a tail which no grid reaches
        assert kl_divergence(p, p).abs() < 1e-12 and found > 0
    else:
        p_logarithm = p.log_prob(x)
        terms = gs.where(p_logarithm > -700, p_logarithm.exp() * weights * (p_logarithm - q.log_prob(x)), 0.0)
        assert found.item() == pytest.approx(terms.sum().item(), rel=1e-4, abs=1e-5)
    keys = list(OF_NUMBERS[one][0]), list(OF_NUMBERS[other][1])

    def divergence(*values):
        first, second = values[: len(own)], values[len(own) :]
        return kl_divergence(type(p)(**dict(zip(keys[0], first))), type(q)(**dict(zip(keys[1], second))))

    assert gs.autograd.gradcheck(divergence, [*own, *others])


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (dist.Bernoulli(number(0.3)), dist.Bernoulli(logits=number(0.8))),
        (dist.Binomial(5, number(0.3)), dist.Binomial(5, number(0.6))),
        (dist.Categorical(number(CLASSES[0])), dist.Categorical(number(CLASSES[1]))),
        (dist.OneHotCategorical(number(CLASSES[0])), dist.OneHotCategorical(number(CLASSES[1]))),
    ],
    ids=lambda one: type(one).__name__,
)
def test_divergences_of_what_can_be_enumerated(p, q):
    values = p.enumerate_support()
    expected = (p.log_prob(values).exp() * (p.log_prob(values) - q.log_prob(values))).sum(0)
    assert kl_divergence(p, q).item() == pytest.approx(expected.item(), rel=1e-6)


@pytest.mark.parametrize(
    ("p", "q"),
    [
        (dist.Poisson(number(2.3)), dist.Poisson(number(1.1))),
        (dist.Geometric(number(0.3)), dist.Geometric(number(0.6))),
        (dist.Bernoulli(number(0.3)), dist.Poisson(number(1.1))),
    ],
    ids=lambda one: type(one).__name__,
)
def test_divergences_of_counts(p, q):
    counts = gs.arange(2 if isinstance(p, dist.Bernoulli) else 200, dtype=gs.float64)
    expected = (p.log_prob(counts).exp() * (p.log_prob(counts) - q.log_prob(counts))).sum()
    assert kl_divergence(p, q).item() == pytest.approx(expected.item(), rel=1e-6)


def test_outcomes_that_are_impossible():
    certain, fair = dist.Bernoulli(gs.tensor([0.0, 1.0])), dist.Bernoulli(gs.tensor([0.5, 0.5]))
    assert kl_divergence(certain, fair).tolist() == pytest.approx([math.log(2)] * 2, rel=1e-5)
    assert kl_divergence(fair, certain).isinf().all()
    some, all_ = dist.Categorical(gs.tensor([0.0, 0.5, 0.5])), dist.Categorical(gs.ones(3))
    assert kl_divergence(some, all_).item() == pytest.approx(math.log(1.5), rel=1e-5)
    assert kl_divergence(all_, some).isinf()
    assert kl_divergence(dist.Uniform(0.0, 2.0), dist.Uniform(0.0, 1.0)).isinf()
    assert kl_divergence(dist.Poisson(gs.ones(2)), dist.Bernoulli(0.5)).tolist() == [math.inf] * 2
    with pytest.raises(NotImplementedError, match="q.total_count > p.total_count"):
        kl_divergence(dist.Binomial(2, 0.5), dist.Binomial(3, 0.5))
    assert kl_divergence(dist.Binomial(3, 0.5), dist.Binomial(2, 0.5)).isinf()


def test_gradients_where_a_divergence_is_infinite_are_zero():
    low = gs.tensor([-1.0, 0.2], requires_grad=True)
    alpha = gs.tensor([0.5, 3.0], requires_grad=True)
    one = kl_divergence(dist.Uniform(low, 0.8), dist.Beta(2.0, 2.0))
    other = kl_divergence(dist.Pareto(1.0, alpha), dist.Normal(0.0, 1.0))
    assert one.isinf().tolist() == other.isinf().tolist() == [True, False]
    for value, parameter in ((one, low), (other, alpha)):
        (gradient,) = gs.autograd.grad(value[1], parameter)
        assert gradient[0] == 0 and gradient[1] != 0 and gradient.isfinite().all()


FACTOR, DIAGONAL = np.array([[1.0], [0.5]]), np.array([0.7, 1.2])


def normals():
    loc, other = gs.tensor([0.5, -1.0], dtype=gs.float64), gs.tensor([[0.0, 0.3], [1.0, 1.0]], dtype=gs.float64)
    full = dist.MultivariateNormal(loc, gs.tensor(COVARIANCE))
    wide = dist.MultivariateNormal(other, gs.tensor(np.stack([COVARIANCE, np.eye(2)])))
    low = dist.LowRankMultivariateNormal(other, gs.tensor(FACTOR), gs.tensor(DIAGONAL))
    lower = dist.LowRankMultivariateNormal(loc, gs.tensor(np.stack([FACTOR, -2 * FACTOR])), gs.tensor(DIAGONAL))
    return [full, wide, low, lower]


@pytest.mark.parametrize("p", range(4))
@pytest.mark.parametrize("q", range(4))
def test_divergences_of_normal_vectors(p, q):
    p, q = normals()[p], normals()[q]
    found = kl_divergence(p, q).numpy()
    precision, covariance = q.precision_matrix.numpy(), p.covariance_matrix.numpy()
    difference = (q.loc - p.loc).numpy()
    expected = (
        np.trace(precision @ covariance, axis1=-2, axis2=-1)
        + np.einsum("...i,...ij,...j", difference, precision, difference)
        - 2
        - np.linalg.slogdet(precision)[1]
        - np.linalg.slogdet(covariance)[1]
    ) / 2
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_normal_vectors_of_different_sizes():
    with pytest.raises(ValueError, match="different event shapes"):
        kl_divergence(dist.MultivariateNormal(gs.zeros(2), gs.eye(2)), dist.MultivariateNormal(gs.zeros(3), gs.eye(3)))


@pytest.mark.parametrize("name", ["Dirichlet", "Wishart", "Chi2"])
def test_divergences_of_exponential_families_by_samples(name):
    """Within five standard errors."""
    p, q = {
        "Dirichlet": lambda: (dist.Dirichlet(number(CLASSES[0] * 6)), dist.Dirichlet(number(CLASSES[1] * 4))),
        "Wishart": lambda: (
            dist.Wishart(number(5.5), number(COVARIANCE)),
            dist.Wishart(number(4.0), gs.eye(2).double()),
        ),
        "Chi2": lambda: (dist.Chi2(number(3.5)), dist.Chi2(number(5.0))),
    }[name]()
    drawn = p.sample((20000,))
    terms = (p.log_prob(drawn) - q.log_prob(drawn)).detach()
    assert abs(kl_divergence(p, q) - terms.mean()) < 5 * terms.std() / math.sqrt(20000)
    if name != "Chi2":
        general = _KL_REGISTRY[dist.ExponentialFamily, dist.ExponentialFamily](p, q)
        assert general.item() == pytest.approx(kl_divergence(p, q).item(), rel=1e-9)


def test_the_general_divergence_has_gradients_in_both():
    """Of two exponential families, whose own function is left out."""
    general = _KL_REGISTRY[dist.ExponentialFamily, dist.ExponentialFamily]

    def divergence(a, b, c, d):
        return general(dist.Gamma(a, b), dist.Gamma(c, d))

    assert gs.autograd.gradcheck(divergence, [number(2.0), number(3.0), number(1.5), number(0.7)])
    with pytest.raises(NotImplementedError, match="Beta and Gamma"):
        general(dist.Beta(1.0, 1.0), dist.Gamma(1.0, 1.0))


def test_combinations():
    p, q = (dist.Normal(gs.tensor([0.0, 1.0]), scale) for scale in (1.0, 2.0))
    each = kl_divergence(p, q)
    assert kl_divergence(dist.Independent(p, 1), dist.Independent(q, 1)).item() == pytest.approx(each.sum().item())
    exp = dist.transforms.ExpTransform()
    moved = (dist.TransformedDistribution(one, exp) for one in (p, q))
    assert gs.allclose(kl_divergence(*moved), each)
    with pytest.raises(NotImplementedError):
        kl_divergence(dist.Independent(p, 1), dist.Independent(dist.Normal(gs.zeros(2, 2), 1.0), 2))
    with pytest.raises(NotImplementedError):
        kl_divergence(dist.TransformedDistribution(p, exp), dist.TransformedDistribution(q, [exp, exp]))


# ---- which function


def test_pairs_without_a_function():
    with pytest.raises(NotImplementedError, match="p type Normal and q type Cauchy"):
        kl_divergence(dist.Normal(0.0, 1.0), dist.Cauchy(0.0, 1.0))
    with pytest.raises(TypeError, match="Expected type_p to be a class of distributions"):
        register_kl(3, dist.Normal)


def test_classes_beside_distributions(registry):
    """As in Pyro, whose distributions have a base of its own besides."""

    class Mixin:
        pass

    class Own(Mixin, dist.Normal):
        pass

    register_kl(dist.Cauchy, Mixin)(lambda p, q: gs.tensor(3.0))
    assert kl_divergence(dist.Cauchy(0.0, 1.0), Own(0.0, 1.0)).item() == 3.0


@pytest.fixture
def registry():
    kept = dict(_KL_REGISTRY)
    yield
    _KL_REGISTRY.clear()
    _KL_REGISTRY.update(kept)
    register_kl(dist.Normal, dist.Normal)(kept[dist.Normal, dist.Normal])  # forgets what was found


class Base(dist.Distribution):
    arg_constraints = {}  # noqa: RUF012


class Derived(Base):
    pass


@pytest.mark.parametrize(
    "low, high, expected", [(0.0, 1.0, 2.0), (1.0, 2.0, 2.0), (0.0, 2.0, 1.0), (-0.1, 1.0, math.inf)]
)
def test_a_uniform_distribution_may_end_where_another_does(low, high, expected):
    found = kl_divergence(dist.Uniform(low, high), dist.Uniform(0.0, 2.0))
    assert found.item() == pytest.approx(math.log(expected))


@pytest.mark.usefixtures("registry")
def test_functions_of_base_classes_are_found():
    register_kl(Base, Base)(lambda p, q: "base")
    assert kl_divergence(Derived(), Derived()) == "base"
    register_kl(Derived, Derived)(lambda p, q: "derived")
    assert kl_divergence(Derived(), Derived()) == "derived"
    assert kl_divergence(Base(), Derived()) == "base"


@pytest.mark.usefixtures("registry")
def test_functions_of_any_class_are_found():
    """As PyTorch takes them: a function for one distribution and all others."""
    register_kl(Base, object)(lambda p, q: "any")
    register_kl(Base, Hashable)(lambda p, q: "abstract")
    assert kl_divergence(Base(), dist.Normal(0.0, 1.0)) == "any"
    register_kl(Base, dist.Distribution)(lambda p, q: "distribution")
    assert kl_divergence(Derived(), dist.Normal(0.0, 1.0)) == "distribution"
    assert kl_divergence(dist.Normal(0.0, 1.0), dist.Normal(0.0, 1.0)).item() == 0.0


@pytest.mark.usefixtures("registry")
def test_ambiguous_functions_warn():
    register_kl(Base, Derived)(lambda p, q: "right")
    register_kl(Derived, Base)(lambda p, q: "left")
    with pytest.warns(RuntimeWarning, match=r"Please register_kl\(Derived, Derived\)"):
        assert kl_divergence(Derived(), Derived()) == "left"
    register_kl(Derived, Derived)(lambda p, q: "both")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kl_divergence(Derived(), Derived()) == "both"
