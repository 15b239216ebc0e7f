"""Distributions of numbers against SciPy's, and their derivatives against differences."""

import inspect
import itertools

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import gradcheck

stats = pytest.importorskip("scipy.stats")

CONTINUOUS = {  # name -> shapes
    "beta": (1.7, 0.6),
    "cauchy": (),
    "chi2": (3.3,),
    "expon": (),
    "f": (3.0, 5.5),
    "gamma": (2.5,),
    "gumbel_r": (),
    "halfcauchy": (),
    "halfnorm": (),
    "invgamma": (4.5,),
    "laplace": (),
    "logistic": (),
    "lognorm": (0.7,),
    "norm": (),
    "pareto": (2.6,),
    "skewnorm": (1.5,),
    "t": (4.5,),
    "truncnorm": (-0.5, 1.5),
    "uniform": (),
    "vonmises": (2.0,),
    "weibull_min": (1.7,),
}
COUNTS = {
    "bernoulli": (0.3,),
    "binom": (7, 0.3),
    "geom": (0.3,),
    "nbinom": (4.5, 0.3),
    "poisson": (3.5,),
}
PROBABILITIES = np.array([0.01, 0.2, 0.5, 0.8, 0.99])
LOC, SCALE = 0.25, 1.5
WITHOUT_QUANTILE = {"skewnorm", "vonmises"}
INVERSES = {"beta", "chi2", "f", "gamma", "invgamma", "t"}  # of incomplete gamma and beta functions


def pair(name):
    return getattr(gs.stats, name), getattr(stats, name)


def close(found, expected, rtol=1e-9):
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=rtol, atol=1e-13)


@pytest.mark.parametrize("name", CONTINUOUS)
@pytest.mark.parametrize("function", ["logpdf", "pdf", "cdf", "sf", "logcdf", "logsf"])
def test_functions_of_values(name, function):
    own, scipys = pair(name)
    if name == "vonmises" and "pdf" not in function:
        with pytest.raises(NotImplementedError, match=r"vonmises has no differentiable cdf\(\)"):
            getattr(own, function)(0.5, 2.0)
        return
    shapes = CONTINUOUS[name]
    values = scipys.ppf(PROBABILITIES, *shapes, loc=LOC, scale=SCALE)
    found = getattr(own, function)(values, *shapes, loc=LOC, scale=SCALE)
    assert found.dtype == gs.float64
    close(found, getattr(scipys, function)(values, *shapes, loc=LOC, scale=SCALE))


@pytest.mark.parametrize("name", sorted(CONTINUOUS.keys() - {"vonmises"}))
def test_values_outside_of_the_support(name):
    own, scipys = pair(name)
    shapes = CONTINUOUS[name]
    values = np.array([-1e3, -0.5, 1e6])
    for function in ("pdf", "cdf", "sf"):
        with np.errstate(over="ignore"):
            expected = getattr(scipys, function)(values, *shapes)
        close(getattr(own, function)(values, *shapes), expected, 1e-7)
    x = gs.tensor([-1e3, -0.5, 1e6], dtype=gs.float64, requires_grad=True)
    (gradient,) = gs.autograd.grad(own.cdf(x, *shapes).sum(), x)
    assert not gradient.isnan().any()


@pytest.mark.parametrize("name", sorted(CONTINUOUS.keys() - WITHOUT_QUANTILE))
def test_quantiles(name):
    own, scipys = pair(name)
    shapes = CONTINUOUS[name]
    q = np.array([1e-3, 0.3, 0.5, 0.9, 1.5])
    close(own.ppf(q, *shapes, LOC, SCALE), scipys.ppf(q, *shapes, LOC, SCALE), 1e-8)
    close(own.isf(q, *shapes, LOC, SCALE), scipys.isf(q, *shapes, LOC, SCALE), 1e-8)
    close(own.median(*shapes), scipys.median(*shapes), 1e-6)
    for found, expected in zip(own.interval(np.float64(0.9), *shapes), scipys.interval(0.9, *shapes)):
        close(found, expected)


@pytest.mark.parametrize("method", ["ppf", "isf"])
@pytest.mark.parametrize("name", sorted(INVERSES))
def test_quantiles_are_differentiable_by_their_shapes(name, method):
    own, scipys = pair(name)
    q = np.array([1e-6, 0.2, 0.5, 0.8, 0.99])
    shapes = [gs.tensor(np.full(5, shape), requires_grad=True) for shape in CONTINUOUS[name]]
    at = gs.tensor(q, requires_grad=True)
    found = getattr(own, method)(at, *shapes)
    found.sum().backward()
    values = found.detach().numpy()
    slope = (1 if method == "ppf" else -1) / scipys.pdf(values, *CONTINUOUS[name])
    np.testing.assert_allclose(at.grad, slope, rtol=1e-7)
    for place, shape in enumerate(CONTINUOUS[name]):
        step = 1e-5 * shape
        near = [[*CONTINUOUS[name]], [*CONTINUOUS[name]]]
        near[0][place] -= step
        near[1][place] += step
        below, above = (getattr(scipys, method)(q, *arguments) for arguments in near)
        np.testing.assert_allclose(shapes[place].grad, (above - below) / (2 * step), rtol=1e-5, atol=1e-7)
    assert gs.autograd.gradgradcheck(
        getattr(own, method), (gs.tensor([0.2, 0.6, 0.8], dtype=gs.float64, requires_grad=True), *shapes_of(name))
    )


def shapes_of(name):
    return [gs.tensor(np.full(3, shape), requires_grad=True) for shape in CONTINUOUS[name]]


@pytest.mark.parametrize("name", WITHOUT_QUANTILE)
def test_quantiles_that_are_no_functions_of_the_table(name):
    with pytest.raises(NotImplementedError, match=rf"{name} has no differentiable ppf\(\)"):
        getattr(gs.stats, name).ppf(0.5, *CONTINUOUS[name])


@pytest.mark.parametrize("name", CONTINUOUS)
def test_moments(name):
    own, scipys = pair(name)
    shapes = [np.float64(shape) for shape in CONTINUOUS[name]]
    loc = np.float64(LOC)
    for method in ("mean", "var", "std", "entropy"):
        if (name == "skewnorm" and method == "entropy") or (name == "vonmises" and method in ("var", "std")):
            continue
        with np.errstate(all="ignore"):
            expected = getattr(scipys, method)(*shapes, loc=LOC, scale=SCALE)
        close(getattr(own, method)(*shapes, loc=loc, scale=SCALE), expected, 1e-8)
    if name != "vonmises":
        for found, expected in zip(own.support(*shapes, loc, SCALE), scipys.support(*shapes, LOC, SCALE)):
            close(found, expected)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_samples(name):
    own, scipys = pair(name)
    shapes = [np.float64(shape) for shape in CONTINUOUS[name]]
    found = own.rvs(*shapes, loc=np.float64(LOC), scale=SCALE, size=3000, random_state=4)
    assert found.shape == (3000,) and found.dtype == gs.float64
    assert stats.kstest(found.numpy(), lambda x: scipys.cdf(x, *shapes, LOC, SCALE)).pvalue > 1e-3


@pytest.mark.parametrize("name", CONTINUOUS)
def test_derivatives_of_log_densities(name):
    own, scipys = pair(name)
    shapes = CONTINUOUS[name]
    values = scipys.ppf(PROBABILITIES[1:4], *shapes, loc=LOC, scale=SCALE)
    if name == "laplace":
        values = values + 0.1  # away from the kink
    given = [gs.tensor(v, dtype=gs.float64).requires_grad_() for v in (values, *shapes, LOC, SCALE)]
    differentiable = [v for i, v in enumerate(given) if name != "truncnorm" or i not in (1, 2)]

    def density(*moving):
        everything = iter(moving)
        return own.logpdf(*(next(everything) if any(v is m for m in differentiable) else v.detach() for v in given))

    assert gradcheck(density, differentiable, check_forward_ad=True)


@pytest.mark.parametrize("name", sorted(CONTINUOUS.keys() - {"vonmises"}))
@pytest.mark.parametrize("function", ["cdf", "logsf"])
def test_derivatives_of_probabilities(name, function):
    own, scipys = pair(name)
    shapes = CONTINUOUS[name]
    values = scipys.ppf(PROBABILITIES[1:4], *shapes, loc=LOC, scale=SCALE) + 0.01
    given = [gs.tensor(v, dtype=gs.float64).requires_grad_() for v in (values, LOC, SCALE)]
    assert gradcheck(lambda x, loc, scale: getattr(own, function)(x, *shapes, loc=loc, scale=scale), given)


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    own, scipys = pair(name)
    shapes = [np.float64(shape) for shape in COUNTS[name]]
    values = np.array([-2.0, 0.0, 1.0, 1.5, 2.0, 3.0, 5.0, 30.0])
    for function in ("pmf", "logpmf", "cdf", "sf", "logcdf", "logsf"):
        with np.errstate(divide="ignore"):
            expected = getattr(scipys, function)(values, *shapes, loc=1)
        close(getattr(own, function)(values, *shapes, loc=1), expected, 1e-8)
    for method in ("mean", "var", "std"):
        close(getattr(own, method)(*shapes, loc=1), getattr(scipys, method)(*shapes, loc=1))
    if name in ("bernoulli", "geom"):
        close(own.entropy(*shapes), scipys.entropy(*shapes))
    for found, expected in zip(own.support(*shapes), scipys.support(*shapes)):
        close(found, expected)


@pytest.mark.parametrize("name", COUNTS)
def test_samples_of_counts(name):
    own, scipys = pair(name)
    shapes, many = COUNTS[name], 4000
    found = own.rvs(*shapes, loc=2, size=many, random_state=3)
    assert found.dtype == gs.int64 and not found.requires_grad
    for value in range(8):
        chance = scipys.cdf(value, *shapes, loc=2)
        part = (found.numpy() <= value).mean()
        assert abs(part - chance) < 5 * (chance * (1 - chance) / many) ** 0.5 + 1e-12


@pytest.mark.parametrize("name", COUNTS)
def test_derivatives_of_probabilities_of_counts(name):
    own, _ = pair(name)
    *fixed, p = COUNTS[name]
    k = np.array([0.0, 1.0, 2.0, 4.0]) if name != "bernoulli" else np.array([0.0, 1.0])
    p = gs.tensor(p, dtype=gs.float64, requires_grad=True)
    assert gradcheck(lambda p: own.pmf(k, *fixed, p), [p])
    assert gradcheck(lambda p: own.cdf(k, *fixed, p), [p])


def test_tails_keep_their_digits():
    x = np.array([-30.0, -8.0, 8.0, 30.0])
    for name in ("norm", "logistic", "cauchy", "laplace", "gumbel_r"):
        own, scipys = pair(name)
        for function in ("sf", "logsf", "cdf"):
            with np.errstate(all="ignore"):
                expected = getattr(scipys, function)(x)
            close(getattr(own, function)(x), expected, 1e-8)
    close(gs.stats.t.cdf(np.array([-1e8, -1e-9, 1e-9]), 3.0), stats.t.cdf([-1e8, -1e-9, 1e-9], 3.0))
    close(gs.stats.truncnorm.logpdf(np.array([9.5]), 9.0, 10.0), stats.truncnorm.logpdf([9.5], 9.0, 10.0), 1e-8)
    close(gs.stats.truncnorm.mean(np.float64(0.0), np.inf), stats.truncnorm.mean(0, np.inf))


def test_samples_have_gradients_in_their_parameters():
    loc, scale = gs.tensor(1.0, requires_grad=True), gs.tensor(2.0, requires_grad=True)
    drawn = gs.stats.norm.rvs(loc, scale, size=(5,), random_state=1)
    drawn.sum().backward()
    assert loc.grad.item() == 5
    assert scale.grad.item() == pytest.approx(((drawn - 1) / 2).sum().item(), rel=1e-5)


def test_frozen_distributions():
    frozen = gs.stats.gamma(2.5, scale=2.0)
    x = np.array([0.5, 3.0])
    close(frozen.logpdf(x), stats.gamma(2.5, scale=2.0).logpdf(x))
    close(frozen.mean(), 5.0)
    assert frozen.rvs(size=3, random_state=1).shape == (3,)
    assert gs.stats.binom(5, 0.5).pmf(np.array([2])).item() == pytest.approx(0.3125)
    assert repr(frozen) == "<gradsmith.stats.gamma(2.5, 0.0, 2.0)>"
    with pytest.raises(AttributeError, match="pmf"):
        frozen.pmf(1)


def test_parameters_that_are_invalid_give_nan():
    assert gs.stats.norm.logpdf(0.0, 0.0, -1.0).isnan()
    assert gs.stats.gamma.pdf([1.0, 2.0], gs.tensor([-1.0, 2.0])).isnan().tolist() == [True, False]
    assert gs.stats.binom.pmf(1, 2.5, 0.5).isnan()
    assert gs.stats.expon.ppf(1.5).isnan()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gs.stats.gamma.logpdf(1.0), r"gamma.logpdf\(\) missing the parameters a"),
        (lambda: gs.stats.norm.pdf(1.0, 2.0, 3.0, 4.0), r"norm.pdf\(\) takes at most 2 parameters \(loc, scale\)"),
        (lambda: gs.stats.norm.pdf(1.0, 2.0, loc=3.0), r"multiple values for argument 'loc'"),
        (lambda: gs.stats.norm.pdf(1.0, size=3.0), r"unexpected keyword argument 'size'"),
        (lambda: gs.stats.norm.pdf("x"), r"arguments are tensors, arrays or real numbers, not str"),
        (lambda: gs.stats.norm.pdf(gs.tensor(1j)), r"arguments have to be real"),
        (lambda: gs.stats.norm.rvs(random_state="x"), r"random_state is an int"),
    ],
)
def test_errors_name_what_is_wrong(call, message):
    with pytest.raises(TypeError, match=message):
        call()


@pytest.mark.parametrize("moment", ["mean", "var", "std"])
@pytest.mark.parametrize(
    "name", [name for name in CONTINUOUS if CONTINUOUS[name] and name not in ("truncnorm", "vonmises")]
)
def test_moments_at_the_limits_of_their_existence(name, moment):
    """Infinite or NaN from the very shape on at which they are that in SciPy."""
    own, scipys = pair(name)
    for shapes in itertools.product([0.5, 1.0, 1.5, 2.0, 2.5, 4.0, 4.5], repeat=len(CONTINUOUS[name])):
        found, expected = getattr(own, moment)(*shapes).item(), getattr(scipys, moment)(*shapes)
        assert found == pytest.approx(float(expected), rel=1e-9, nan_ok=True), shapes


@pytest.mark.filterwarnings("ignore")  # SciPy's
@pytest.mark.parametrize("name", [*CONTINUOUS, *COUNTS])
def test_values_that_are_not_finite_and_certain_probabilities(name):
    own, scipys = pair(name)
    shapes = {**CONTINUOUS, **COUNTS}[name]
    density = "logpdf" if name in CONTINUOUS else "logpmf"
    for function in (density, "cdf", "sf", "logcdf", "logsf") if name != "vonmises" else (density,):
        x = np.array([np.nan, np.inf, -np.inf])
        np.testing.assert_allclose(getattr(own, function)(x, *shapes), getattr(scipys, function)(x, *shapes))
    if name in CONTINUOUS and name not in ("skewnorm", "vonmises"):  # they have no quantiles
        q = np.array([0.0, 1.0, np.nan])
        for function in ("ppf", "isf"):
            np.testing.assert_allclose(getattr(own, function)(q, *shapes), getattr(scipys, function)(q, *shapes))


def test_counts_in_functions_of_arrays_are_in_double_precision():
    def program(x):
        return x.sum() * gs.stats.poisson.logpmf(np.argmax(x), 2.3)

    expected = stats.poisson.logpmf(1, 2.3)
    np.testing.assert_allclose(gs.grad(program)(np.array([0.5, 2.0])), [expected, expected], rtol=1e-14)


def test_dtypes():
    assert gs.stats.norm.pdf(1.0).dtype == gs.stats.norm.pdf([0, 1], 2).dtype == gs.float64
    assert gs.stats.norm.pdf([0.1, 0.2], gs.tensor(1)).dtype == gs.get_default_dtype()
    assert gs.stats.norm.pdf([0.1, 0.2], gs.tensor(1.0)).dtype == gs.float32
    assert gs.stats.norm.pdf(gs.ones(2, dtype=gs.float32), 0.5).dtype == gs.float32
    assert gs.stats.norm.pdf(np.ones(2)).dtype == gs.float64
    assert gs.stats.norm.pdf(np.arange(3)).dtype == gs.float64
    single, double = np.ones(2, np.float32), np.ones(2)
    for one, other, expected in [
        (gs.tensor(single), double, "float64"), (single, gs.tensor(double), "float64"), (single, double, "float64"),
        (single, single, "float32"), (single, 0.5, "float32"), (single, gs.arange(2), "float32"),
        (np.float32(1), 0, "float32"), (gs.arange(2), double, "float64"), (np.arange(2), gs.tensor(single), "float32"),
    ]:  # fmt: skip
        assert gs.stats.norm.pdf(one, other).dtype == gs.stats.norm.pdf(other, one).dtype == expected


def test_the_order_of_arguments_is_scipys():
    for name in (*CONTINUOUS, *COUNTS):
        own, scipys = pair(name)
        assert ", ".join(own.shapes) == (scipys.shapes or "")
        assert inspect.getdoc(own).count(">>>") >= 2


@pytest.mark.parametrize("name", [*CONTINUOUS, *COUNTS])
def test_batches_of_vmap_and_shapes_without_data(name):
    own, _ = pair(name)
    shapes = {**CONTINUOUS, **COUNTS}[name]
    function = own.logpdf if name in CONTINUOUS else own.logpmf
    x = gs.tensor([0.25, 0.5, 1.0], dtype=gs.float64)
    found = gs.vmap(lambda x: function(x, *shapes))(x)
    np.testing.assert_allclose(found.numpy(), function(x, *shapes).numpy(), rtol=1e-9)
    without = function(gs.ones(2, 3, device="meta"), *shapes)
    assert without.is_meta and without.shape == (2, 3)
