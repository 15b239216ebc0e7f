"""What all distributions have in common: shapes, checks, texts, classes derived from them."""

import copy
import importlib
import math
import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("scipy.special")

from example_distributions import EXAMPLES, NAMES, OF_NUMBERS, made

import gradsmith as gs
import gradsmith.distributions as dist
from gradsmith.distributions import constraints
from gradsmith.distributions.utils import (
    _standard_normal,
    _sum_rightmost,
    broadcast_all,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
    tril_matrix_to_vec,
    vec_to_tril_matrix,
)


def test_public_names():
    assert all(hasattr(dist, name) for name in dist.__all__)
    assert set(dist.__all__) <= set(dir(dist))
    with pytest.raises(AttributeError, match="no attribute 'Gaussian'"):
        dist.Gaussian  # noqa: B018


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("normal", "Normal"),
        ("studentT", "StudentT"),
        ("multivariate_normal", "MultivariateNormal"),
        ("relaxed_categorical", "ExpRelaxedCategorical"),
        ("transformed_distribution", "TransformedDistribution"),
        ("distribution", "Distribution"),
        ("exp_family", "ExponentialFamily"),
        ("constraint_registry", "ConstraintRegistry"),
        ("kl", "register_kl"),
        ("utils", "broadcast_all"),
    ],
)
def test_modules_have_pytorchs_names(module, name):
    found = importlib.import_module(f"gradsmith.distributions.{module}")
    assert found is getattr(dist, module)
    assert getattr(found, name) is getattr(dist, name, getattr(found, name))
    assert name in dir(found)
    with pytest.raises(AttributeError):
        found.Gaussian  # noqa: B018


# ---- texts, copies, shapes


def test_texts():
    assert repr(dist.Normal(0.0, 1.0)) == "Normal(loc: 0.0, scale: 1.0)"
    assert repr(dist.Normal(gs.zeros(3), 1.0)) == f"Normal(loc: {gs.zeros(3).size()}, scale: {gs.zeros(3).size()})"
    assert repr(dist.Independent(dist.Exponential(gs.ones(1)), 1)) == "Independent(Exponential(rate: tensor([1.])), 1)"
    assert repr(constraints.interval(0, 2.0)) == "Interval(lower_bound=0, upper_bound=2.0)"
    assert repr(constraints.real_vector) == "IndependentConstraint(Real(), 1)"


@pytest.mark.parametrize("name", NAMES)
def test_copies(name):
    one, _ = made(name, requires_grad=False)
    x = one.sample((3,))
    expected = one.log_prob(x).detach().numpy()
    for other in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
        np.testing.assert_allclose(other.log_prob(x).detach().numpy(), expected, rtol=1e-12)


def parts_of(one):
    """Its tensors that have a row for each distribution of a batch of two."""
    found = {name: getattr(one, name) for name in (*one.arg_constraints, *vars(one)) if not name.startswith("_")}
    return {name: value for name, value in found.items() if isinstance(value, gs.Tensor) and value.shape[:1] == (2,)}


@pytest.mark.parametrize("name", NAMES)
def test_expanded(name):
    one, parameters = made(name)
    wide = one.expand((3, 2))
    assert type(wide) is type(one) and wide.batch_shape == (3, 2) and wide.event_shape == one.event_shape
    for attribute, value in parts_of(one).items():
        assert getattr(wide, attribute).shape == (3, *value.shape), attribute
    x = one.sample()
    for attribute in ("mean", "variance"):
        try:
            expected = getattr(one, attribute)
        except NotImplementedError:
            continue
        found = getattr(wide, attribute)
        assert found.shape == (3, *expected.shape)
        np.testing.assert_allclose(found[1].detach().numpy(), expected.detach().numpy(), equal_nan=True)
    np.testing.assert_allclose(wide.log_prob(x)[1].detach().numpy(), one.log_prob(x).detach().numpy(), rtol=1e-9)
    gradients = gs.autograd.grad(wide.log_prob(x).sum(), parameters, allow_unused=True)
    assert any(gradient is not None for gradient in gradients)
    with pytest.raises(RuntimeError):
        one.expand((3, 5)).log_prob(x)


def given(name, **options):
    """The parameters of the example, as tensors of a dtype or on a device."""
    numbers = {key: value for key, value in EXAMPLES[name].items() if isinstance(value, (int, float))}
    arrays = {key: value for key, value in EXAMPLES[name].items() if key not in numbers}
    return {**numbers, **{key: gs.tensor(np.array(value), **options) for key, value in arrays.items()}}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
def test_dtypes(name, dtype):
    parameters = {
        k: v if isinstance(v, (int, float)) else gs.tensor(np.array(v), dtype=dtype) for k, v in EXAMPLES[name].items()
    }
    one = getattr(dist, name)(**parameters)
    x = one.sample((50,))
    assert x.dtype == (gs.int64 if name == "Categorical" else dtype)
    assert one.log_prob(x).dtype == dtype and one.log_prob(x).isfinite().all()


@pytest.mark.parametrize("name", NAMES)
def test_shapes_without_data(name):
    parameters = {
        k: v if isinstance(v, (int, float)) else gs.tensor(np.array(v), device="meta")
        for k, v in EXAMPLES[name].items()
    }
    one = getattr(dist, name)(**parameters)
    x = one.sample((3,))
    assert x.is_meta and x.shape == (3, 2, *one.event_shape)
    assert one.log_prob(x).is_meta and one.log_prob(x).shape == (3, 2)
    if one.has_rsample:
        assert one.rsample((3,)).shape == x.shape


@pytest.mark.filterwarnings("ignore:vmap calls mvlgamma")
@pytest.mark.parametrize("name", NAMES)
def test_batches_of_vmap(name):
    """Parameters and values that are slices; constraints are not compared with these."""
    one, parameters = made(name)
    keys = [key for key, value in EXAMPLES[name].items() if not isinstance(value, (int, float))]
    fixed = {key: value for key, value in EXAMPLES[name].items() if isinstance(value, (int, float))}
    x = one.sample()

    def density(x, *given):
        return type(one)(**fixed, **dict(zip(keys, given))).log_prob(x)

    found = gs.vmap(density)(gs.stack([x, x]), *(gs.stack([p, p]) for p in parameters))
    np.testing.assert_allclose(found[1].detach().numpy(), one.log_prob(x).detach().numpy(), rtol=1e-9)


def test_numbers_and_arrays_are_parameters():
    assert dist.Normal(0, 1).batch_shape == ()
    assert dist.Normal(np.zeros(3), 1.0).mean.dtype == gs.float64
    assert dist.Normal(gs.zeros(2, 1), np.ones(3, np.float32)).batch_shape == (2, 3)
    with pytest.raises(ValueError, match="tensors, arrays or numbers, got str"):
        dist.Normal("0", 1.0)
    with pytest.raises(RuntimeError):
        dist.Normal(gs.zeros(2), gs.ones(3))


# ---- checks


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: dist.Normal(0.0, -1.0),
            r"parameter scale \(Tensor of shape \(\)\).*constraint GreaterThan\(lower_bound=0.0\)",
        ),
        (lambda: dist.Normal(float("nan"), 1.0), r"parameter loc.*Real\(\)"),
        (lambda: dist.Uniform(1.0, 1.0), r"parameter low.*LessThan"),
        (lambda: dist.Bernoulli(1.5), r"probs.*Interval\(lower_bound=0.0, upper_bound=1.0\)"),
        (lambda: dist.Bernoulli(), "Either `probs` or `logits` must be specified, but not both"),
        (lambda: dist.Bernoulli(0.5, 0.5), "Either `probs` or `logits` must be specified, but not both"),
        (lambda: dist.Geometric(0.0), "to be positive"),
        (lambda: dist.Categorical(gs.tensor(0.5)), "at least one-dimensional"),
        (lambda: dist.Categorical(gs.tensor([-1.0, 2.0])), "Simplex"),
        (lambda: dist.Dirichlet(gs.tensor(1.0)), "at least one-dimensional"),
        (lambda: dist.MultivariateNormal(gs.zeros(2)), "Exactly one of"),
        (lambda: dist.MultivariateNormal(gs.zeros(2), gs.ones(2)), "at least two-dimensional"),
        (lambda: dist.MultivariateNormal(gs.zeros(2), gs.eye(3)), r"does not fit loc of shape \(2,\)"),
        (lambda: dist.MultivariateNormal(gs.zeros(2), gs.tensor([[1.0, 2.0], [2.0, 1.0]])), "PositiveDefinite"),
        (lambda: dist.MultivariateNormal(gs.zeros(2), scale_tril=gs.ones(2, 2)), "LowerCholesky"),
        (lambda: dist.LowRankMultivariateNormal(gs.zeros(2), gs.zeros(3, 1), gs.ones(2)), "shape 2 x m"),
        (lambda: dist.LowRankMultivariateNormal(gs.zeros(2), gs.zeros(2, 1), gs.ones(3)), r"shape \(2,\)"),
        (lambda: dist.LKJCholesky(1), "greater than or equal to 2"),
        (lambda: dist.Wishart(1.0, gs.eye(3)), "greater than ndim - 1 = 2"),
        (lambda: dist.Independent(dist.Normal(0.0, 1.0), 1), "reinterpreted_batch_ndims"),
        (lambda: dist.MixtureSameFamily(dist.Normal(0.0, 1.0), dist.Normal(0.0, 1.0)), "Mixture distribution needs"),
        (lambda: dist.MixtureSameFamily(dist.Categorical(gs.ones(3)), dist.Normal(gs.zeros(2), 1.0)), "3 categories"),
        (lambda: dist.TransformedDistribution(dist.Normal(0.0, 1.0), [1]), "Transform or a list of Transforms"),
        (lambda: dist.Distribution.set_default_validate_args("yes"), "True or False"),
    ],
)
def test_errors_of_parameters(make, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        make()


def test_counts_of_several_kinds_are_refused():
    with pytest.raises(NotImplementedError, match="inhomogeneous"):
        dist.Multinomial(gs.tensor([1.0, 2.0]), gs.ones(2, 3))
    several = dist.Binomial(gs.tensor([1.0, 2.0]), 0.5)
    with pytest.raises(NotImplementedError, match="`enumerate_support`"):
        several.enumerate_support()
    with pytest.raises(NotImplementedError, match="`entropy`"):
        several.entropy()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dist.Exponential(1.0).log_prob(gs.tensor(-1.0)), r"within the support \(GreaterThanEq"),
        (lambda: dist.Normal(gs.zeros(2), 1.0).log_prob(gs.zeros(3)), "not broadcastable"),
        (lambda: dist.Normal(0.0, 1.0).log_prob(1.0), "must be a Tensor, got float"),
        (lambda: dist.Dirichlet(gs.ones(3)).log_prob(gs.ones(2) / 2), "must match event_shape"),
        (lambda: dist.Dirichlet(gs.ones(3)).log_prob(gs.tensor(1.0)), "must match event_shape"),
        (lambda: dist.Poisson(1.0).log_prob(gs.tensor(0.5)), "within the support"),
        (lambda: dist.Categorical(gs.ones(3)).log_prob(gs.tensor(3)), "within the support"),
        (lambda: dist.OneHotCategorical(gs.ones(2)).log_prob(gs.ones(2)), "OneHot"),
    ],
)
def test_errors_of_values(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_checks_can_be_turned_off():
    free = dist.Exponential(1.0, validate_args=False)
    assert free.log_prob(gs.tensor(-1.0)).item() == 1
    assert free.expand((2,)).log_prob(gs.tensor(-1.0)).tolist() == [1, 1]
    dist.Distribution.set_default_validate_args(False)
    try:
        assert dist.Normal(0.0, -1.0).scale.item() == -1
    finally:
        dist.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError):
        dist.Normal(0.0, -1.0)


def test_what_is_not_there_says_so():
    for name in ("rsample", "cdf", "icdf", "entropy", "enumerate_support", "expand"):
        arguments = () if name in ("rsample", "entropy", "enumerate_support") else (gs.tensor(1.0),)
        with pytest.raises(NotImplementedError, match=name):
            getattr(dist.Distribution(validate_args=False), name)(*arguments)


# ---- classes derived from others, as libraries on top of PyTorch have them


class Rectified(dist.Distribution):
    """A normal number, or 0 if it is negative."""

    arg_constraints = {"loc": constraints.real}  # noqa: RUF012
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, loc, validate_args=None):
        (self.loc,) = broadcast_all(loc)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Rectified, _instance)
        new.loc = self.loc.expand(batch_shape)
        super(Rectified, new).__init__(batch_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return (self.loc + _standard_normal(shape, self.loc.dtype, self.loc.device)).relu()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        normal = dist.Normal(self.loc, 1.0)
        return gs.where(value > 0, normal.log_prob(value), normal.cdf(gs.zeros_like(value)).log())


def test_derived_classes():
    one = Rectified(gs.zeros(2, requires_grad=True))
    assert one.expand((3, 2)).sample((4,)).shape == (4, 3, 2)
    assert one.rsample((4,)).requires_grad
    assert one.log_prob(gs.zeros(2)).exp().tolist() == pytest.approx([0.5, 0.5])
    assert repr(Rectified(1.0)) == "Rectified(loc: 1.0)"
    with pytest.raises(ValueError, match="within the support"):
        one.log_prob(-gs.ones(2))
    assert dist.Independent(one, 1).log_prob(gs.ones(2)).shape == ()


class WithDefault(dist.Normal):
    def __init__(self, loc):
        super().__init__(loc, 1.0)


class Named(dist.Gamma):
    pass


def test_derived_classes_with_an_init_of_their_own_have_to_expand_themselves():
    with pytest.raises(NotImplementedError, match=r"must also define a custom .expand\(\) method"):
        WithDefault(0.0).expand((2,))
    assert type(Named(1.0, 1.0).expand((2,))) is Named


def test_classes_without_constraints_warn():
    class Bare(dist.Distribution):
        def log_prob(self, value):
            self._validate_sample(value)
            return value

    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        bare = Bare()
    with pytest.warns(UserWarning, match="does not define `support`"):
        bare.log_prob(gs.tensor(1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Bare(validate_args=False)


def test_the_old_name_of_samples_warns():
    with pytest.warns(UserWarning, match="sample_n"):
        assert dist.Normal(0.0, 1.0).sample_n(3).shape == (3,)


def test_low_degrees_of_freedom_warn():
    with pytest.warns(UserWarning, match="Singular samples"):
        dist.Wishart(1.5, gs.eye(2))


# ---- enumeration


@pytest.mark.parametrize("name", ["Bernoulli", "Binomial", "Categorical", "OneHotCategorical"])
def test_all_values_of_a_support_have_the_probability_one(name):
    one, _ = made(name)
    values = one.enumerate_support()
    assert values.shape[1:] == (2, *one.event_shape)
    np.testing.assert_allclose(one.log_prob(values).exp().sum(0).detach().numpy(), 1, rtol=1e-9)
    short = one.enumerate_support(expand=False)
    assert short.shape == (len(values), 1, *one.event_shape)
    assert gs.equal(short.expand(values.shape), values)


def test_the_support_of_an_independent_distribution_is_not_enumerated():
    one = dist.Independent(dist.Bernoulli(gs.ones(2) / 2), 1)
    assert not one.has_enumerate_support
    with pytest.raises(NotImplementedError, match="cartesian product"):
        one.enumerate_support()


# ---- entropies of exponential families


@pytest.mark.parametrize(
    "name", ["Bernoulli", "Beta", "ContinuousBernoulli", "Dirichlet", "Exponential", "Gamma", "Normal", "Wishart"]
)
def test_entropies_follow_from_the_normalizer(name):
    one, parameters = made(name)
    found = dist.ExponentialFamily.entropy(one)
    np.testing.assert_allclose(found.detach().numpy(), one.entropy().detach().numpy(), rtol=1e-7)
    options = {"retain_graph": True, "allow_unused": True}
    expected = gs.autograd.grad(one.entropy().sum(), parameters, **options)
    for gradient, right in zip(gs.autograd.grad(found.sum(), parameters, **options), expected):
        right = gs.zeros_like(gradient) if right is None else right
        np.testing.assert_allclose(gradient.numpy(), right.numpy(), rtol=1e-6, atol=1e-9)
    with gs.no_grad():
        assert not dist.ExponentialFamily.entropy(made(name)[0]).requires_grad


# ---- transformed and other modes


def test_modes_are_the_densest_values():
    for name in OF_NUMBERS:
        one, _ = made(name)
        if name in ("Uniform", "LogisticNormal", "RelaxedBernoulli", "ContinuousBernoulli", "HalfCauchy"):
            continue
        mode = one.mode.detach()
        drawn = one.sample((1000,))
        assert (one.log_prob(drawn) <= one.log_prob(gs.maximum(mode, mode + 1e-12)) + 1e-6).all(), name


# For parameters around those from which on a moment is there, and a mode is inside of the support.
NAN, INF = math.nan, math.inf
AT_LIMITS = [
    (dist.StudentT, ([0.5, 1, 1.5, 2, 2.5],), "mean", [NAN, NAN, 0, 0, 0]),
    (dist.StudentT, ([0.5, 1, 1.5, 2, 2.5],), "variance", [NAN, NAN, INF, INF, 5]),
    (dist.FisherSnedecor, ([3] * 5, [1, 2, 3, 4, 5]), "mean", [NAN, NAN, 3, 2, 5 / 3]),
    (
        dist.FisherSnedecor,
        ([4] * 5, [2, 3, 4, 5, 8]),
        "variance",
        [NAN, NAN, NAN, 2 * 25 * 7 / 36, 128 * 10 / (4 * 36 * 4)],
    ),
    (dist.FisherSnedecor, ([1, 2, 3, 4], [4] * 4), "mode", [NAN, NAN, 2 / 9, 1 / 3]),
    (dist.Pareto, ([2.0] * 3, [0.5, 1, 1.5]), "mean", [INF, INF, 6]),
    (dist.Pareto, ([2.0] * 3, [1, 2, 3]), "variance", [INF, INF, 3]),
    (dist.InverseGamma, ([0.5, 1, 1.5], [1.5] * 3), "mean", [INF, INF, 3]),
    (dist.InverseGamma, ([1, 2, 2.5], [1.5] * 3), "variance", [INF, INF, 2]),
    (dist.Beta, ([1, 1, 2, 0.5, 2], [1, 2, 1, 1, 2]), "mode", [NAN, 0, 1, NAN, 0.5]),
    (dist.Gamma, ([0.5, 1, 2], [2.0] * 3), "mode", [0, 0, 0.5]),
    (dist.Chi2, ([1, 2, 3],), "mode", [0, 0, 1]),
    (dist.Weibull, ([1.5] * 3, [0.5, 1, 2]), "mode", [0, 0, 1.5 / math.sqrt(2)]),
    (dist.Poisson, ([0, 0.5, 1, 1.5],), "mode", [0, 0, 1, 1]),
    (dist.Binomial, (5, [0, 0.5, 1]), "mode", [0, 3, 5]),
    (dist.Geometric, ([0.25, 1],), "mean", [3, 0]),
    (dist.Geometric, ([0.25, 1],), "variance", [12, 0]),
    (dist.NegativeBinomial, (5, [0, 0.5]), "mode", [0, 4]),
    (dist.Bernoulli, ([0, 0.25, 0.5, 0.75, 1],), "mode", [0, 0, NAN, 1, 1]),
    (dist.GeneralizedPareto, (0.0, 1.0, [-0.5, 0, 0.5, 1, 1.5]), "mean", [2 / 3, 1, 2, NAN, NAN]),
    (dist.GeneralizedPareto, (0.0, 1.0, [-0.5, 0, 0.25, 0.5, 1]), "variance", [2 / 9, 1, 32 / 9, NAN, NAN]),
]


@pytest.mark.parametrize(("kind", "parameters", "moment", "expected"), AT_LIMITS)
def test_moments_at_the_limits_of_their_existence(kind, parameters, moment, expected):
    given = [gs.tensor(p, dtype=gs.float64) if isinstance(p, list) else p for p in parameters]
    np.testing.assert_allclose(getattr(kind(*given), moment).numpy(), expected, rtol=1e-12)


def test_modes_at_the_ends():
    corners = dist.Dirichlet(gs.tensor([[0.5, 0.9], [0.9, 0.5], [2.0, 0.5]])).mode
    assert corners.tolist() == [[1, 0], [1, 0], [1, 0]]
    assert dist.Dirichlet(gs.tensor([0.5, 2.0, 3.0])).mode.tolist() == pytest.approx([0, 1 / 3, 2 / 3])
    both = {(0.4, 0.7): 1, (0.7, 0.4): 1, (0.4, 0.4): 1, (0.4, 2.0): 0, (2.0, 0.4): 1, (1.0, 2.0): 0, (2.0, 1.0): 1}
    assert {pair: dist.Beta(*pair).mode.item() for pair in both} == both
    assert dist.Beta(1.0, 1.0).mode.isnan() and dist.Beta(0.4, 1.0).mode.isnan()
    assert dist.Bernoulli(gs.tensor([0.2, 0.5, 0.9])).mode.nan_to_num(7).tolist() == [0, 7, 1]
    assert dist.Weibull(1.0, 0.5).mode.item() == 0
    assert dist.Kumaraswamy(0.5, 2.0).mode.isnan()


# ---- utilities


def test_lazy_properties():
    class Counted:
        calls = 0

        @lazy_property
        def value(self):
            """The value."""
            self.calls += 1
            return 3

    one = Counted()
    assert (one.value, one.value, one.calls) == (3, 3, 1)
    assert isinstance(Counted.value, property) and isinstance(Counted.value, lazy_property)
    assert Counted.value.__doc__ == "The value."


def test_probabilities_and_logits():
    probs = gs.tensor([0.1, 0.9])
    assert gs.allclose(logits_to_probs(probs_to_logits(probs, is_binary=True), is_binary=True), probs)
    assert gs.allclose(logits_to_probs(probs_to_logits(probs)), probs)
    assert probs_to_logits(gs.tensor([0.0, 1.0])).isfinite().all()


@pytest.mark.parametrize("diag", [-2, -1, 0, 1, 2])
def test_triangles_as_vectors(diag):
    matrix = gs.arange(32.0).reshape(2, 4, 4).requires_grad_()
    vector = tril_matrix_to_vec(matrix, diag)
    assert vector.shape == (2, len(np.tril_indices(4, diag)[0]))
    assert gs.equal(vec_to_tril_matrix(vector, diag), matrix.tril(diag))
    (gradient,) = gs.autograd.grad(vector.sum(), matrix)
    assert gs.equal(gradient, gs.ones(2, 4, 4).tril(diag))


def test_errors_of_triangles():
    with pytest.raises(ValueError, match=r"diag \(4\) provided is outside \[-4, 3\]"):
        tril_matrix_to_vec(gs.zeros(4, 4), 4)
    with pytest.raises(ValueError, match="size of last dimension is 4"):
        vec_to_tril_matrix(gs.zeros(4))


def test_sums_over_the_last_dimensions():
    x = gs.ones(2, 3, 4)
    assert [_sum_rightmost(x, n).shape for n in range(4)] == [(2, 3, 4), (2, 3), (2,), ()]


def test_nothing_is_needed_besides_numpy_for_the_commonest_distributions():
    import subprocess
    import sys

    code = """
import sys
sys.modules["scipy"] = sys.modules["scipy.special"] = None
import gradsmith as gs
one = gs.distributions.Normal(gs.zeros(2), 1.0)
one.log_prob(one.rsample((3,))).sum(), one.cdf(gs.zeros(2)), one.entropy(), gs.stats.norm.sf(1.0)
one.icdf(gs.ones(2) / 2), gs.distributions.Gamma(1.0, 1.0).entropy(), gs.distributions.Dirichlet(gs.ones(3)).entropy()
gs.distributions.VonMises(0.0, 1.0).log_prob(gs.ones(2)), gs.distributions.VonMises(0.0, 1.0).variance
gs.distributions.Categorical(gs.ones(3)).sample(), gs.distributions.MultivariateNormal(gs.zeros(2), gs.eye(2)).rsample()
try:
    gs.distributions.Gamma(1.0, 1.0).cdf(gs.ones(2))
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'gradsmith[scipy]'" in done.stdout, done.stderr


def test_a_lazy_property_read_without_recording_has_its_history():
    class Doubled:
        scale = gs.ones(2, requires_grad=True)

        @lazy_property
        def twice(self):
            return self.scale * 2

    with gs.no_grad():
        found = Doubled().twice
    assert found.requires_grad


def test_gamma_takes_numbers_as_values():
    assert dist.Gamma(1.0, 1.0).log_prob(1).item() == -1.0
    with pytest.raises(ValueError, match="to be within the support"):
        dist.Gamma(1.0, 1.0).log_prob(-1)
