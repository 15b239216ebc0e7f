"""Transforms: inverses, Jacobian matrices, caches, shapes; constraints and the transforms that lead to them."""

import math
import pickle

import numpy as np
import pytest

pytest.importorskip("scipy.special")

import gradsmith as gs
import gradsmith.distributions as dist
from gradsmith.distributions import biject_to, constraints, transform_to, transforms
from gradsmith.distributions.constraint_registry import ConstraintRegistry

DOUBLE = gs.ones((1,), dtype=gs.float64)
NORMAL = dist.Normal(gs.tensor(0.5, dtype=gs.float64), 1.5)
BIJECTIONS = {  # transform -> shape of one argument
    "exp": (transforms.ExpTransform(), (3,)),
    "power": (transforms.PowerTransform(DOUBLE * 2.5), (3,)),
    "falling power": (transforms.PowerTransform(DOUBLE * -1.5), (3,)),
    "sigmoid": (transforms.SigmoidTransform(), (3,)),
    "softplus": (transforms.SoftplusTransform(), (3,)),
    "tanh": (transforms.TanhTransform(), (3,)),
    "affine": (transforms.AffineTransform(1.0, -2.0), (3,)),
    "affine of tensors": (transforms.AffineTransform(gs.zeros(3), DOUBLE * gs.arange(1.0, 4.0), event_dim=1), (3,)),
    "inverse": (transforms.ExpTransform().inv, (3,)),
    "stick breaking": (transforms.StickBreakingTransform(), (3,)),
    "correlations": (transforms.CorrCholeskyTransform(), (6,)),
    "cdf": (transforms.CumulativeDistributionTransform(NORMAL), (3,)),
    "reshape": (transforms.ReshapeTransform((2, 3), (6,)), (2, 3)),
    "independent": (transforms.IndependentTransform(transforms.ExpTransform(), 1), (3,)),
    "compose": (
        transforms.ComposeTransform([transforms.AffineTransform(1.0, 2.0), transforms.StickBreakingTransform()]), (3,),
    ),
    "identity": (transforms.identity_transform, (3,)),
    "cat": (
        transforms.CatTransform([transforms.ExpTransform(), transforms.AffineTransform(0.0, 2.0)], -1, [2, 1]), (3,),
    ),
    "stack": (
        transforms.StackTransform(
            [transforms.ExpTransform(), transforms.SigmoidTransform(), transforms.identity_transform], -1
        ),
        (3,),
    ),
}  # fmt: skip


def argument(name, shape):
    array = np.cos(np.arange(math.prod(shape))).reshape(shape)
    return gs.tensor(np.abs(array) + 0.5 if "power" in name or name == "inverse" else array)


@pytest.mark.parametrize("name", BIJECTIONS)
def test_bijections(name):
    transform, shape = BIJECTIONS[name]
    x = argument(name, shape)
    y = transform(x)
    assert transform.bijective and transform.inv.bijective and transform.inv.inv is transform
    assert transform.domain.check(x).all() and transform.codomain.check(y).all()
    sizes = gs.Size(shape)
    assert all(isinstance(of(sizes), gs.Size) for of in (transform.forward_shape, transform.inv.inverse_shape))
    assert y.shape == tuple(transform.forward_shape(shape)) and tuple(transform.inverse_shape(y.shape)) == shape
    np.testing.assert_allclose(transform.inv(y).numpy(), x.numpy(), rtol=1e-9, atol=1e-12)
    inverse = transform.inv.log_abs_det_jacobian(y, x)
    assert gs.allclose(inverse, -transform.log_abs_det_jacobian(x, y))


@pytest.mark.parametrize("name", BIJECTIONS)
def test_determinants(name):
    """Against the Jacobian matrix; of points of the simplex, and of rows of norm 1, all coordinates but the last."""
    transform, shape = BIJECTIONS[name]
    x = argument(name, shape)

    def coordinates(x):
        y = transform(x)
        if name in ("stick breaking", "compose"):
            return y[..., :-1]
        if name == "correlations":
            return dist.utils.tril_matrix_to_vec(y, diag=-1)
        return y

    matrix = gs.func.jacrev(coordinates)(x).reshape((x.numel(), x.numel()))
    found = transform.log_abs_det_jacobian(x, transform(x))
    assert found.sum().item() == pytest.approx(gs.linalg.slogdet(matrix)[1].item(), abs=1e-9)


@pytest.mark.parametrize("name", sorted(BIJECTIONS.keys() - {"identity", "compose"}))
def test_caches(name):
    transform, shape = BIJECTIONS[name]
    cached = transform.with_cache()
    assert cached.with_cache(1) is cached
    x = argument(name, shape)
    y = cached(x)
    assert cached(x) is y and cached.inv(y) is x
    assert transform.inv(transform(x)) is not x
    assert pickle.loads(pickle.dumps(transform)).forward_shape(shape) == transform.forward_shape(shape)


def test_a_cache_keeps_what_numbers_lose():
    x = gs.tensor([50.0])
    assert transforms.TanhTransform().inv(transforms.TanhTransform()(x)).isinf()
    cached = transforms.TanhTransform(cache_size=1)
    assert gs.equal(cached.inv(cached(x)), x)
    with pytest.raises(ValueError, match="cache_size must be 0 or 1"):
        transforms.ExpTransform(cache_size=2)


def test_maps_that_are_no_bijections():
    x = gs.tensor([[0.3, -1.0], [2.0, 0.5]], dtype=gs.float64)
    for transform in (transforms.LowerCholeskyTransform(), transforms.PositiveDefiniteTransform()):
        y = transform(x)
        assert transform.codomain.check(y) and not transform.bijective
        np.testing.assert_allclose(transform(transform.inv(y)).numpy(), y.numpy(), rtol=1e-9)
    softmax = transforms.SoftmaxTransform()
    assert softmax.codomain.check(softmax(x)).all()
    np.testing.assert_allclose(softmax(softmax.inv(softmax(x))).numpy(), softmax(x).numpy())
    assert transforms.AbsTransform()(x).min() > 0
    with pytest.raises(NotImplementedError, match="log_abs_det_jacobian"):
        softmax.log_abs_det_jacobian(x, softmax(x))


def test_equality():
    assert transforms.ExpTransform() == transforms.ExpTransform() != transforms.SigmoidTransform()
    assert transforms.AffineTransform(0.0, 2.0) == transforms.AffineTransform(0.0, gs.tensor(2.0))
    assert transforms.AffineTransform(0.0, 2.0) != transforms.AffineTransform(1.0, 2.0)
    assert transforms.ExpTransform().inv == transforms.ExpTransform().inv != transforms.ExpTransform()
    assert transforms.PowerTransform(2.0) == transforms.PowerTransform(2.0) != transforms.PowerTransform(3.0)
    parts = [transforms.ExpTransform(), transforms.AffineTransform(0.0, 2.0)]
    assert transforms.ComposeTransform(parts) == transforms.ComposeTransform(parts) != transforms.identity_transform
    assert len({transforms.ExpTransform(), transforms.ExpTransform()}) == 2


def test_signs():
    assert transforms.AffineTransform(0.0, -2.0).sign == -1
    assert transforms.AffineTransform(0.0, gs.tensor([-2.0, 3.0])).sign.tolist() == [-1, 1]
    both = transforms.ComposeTransform([transforms.ExpTransform(), transforms.AffineTransform(0.0, -2.0)])
    assert both.sign == -1 and both.inv.sign == -1
    falling = dist.TransformedDistribution(dist.Exponential(1.0), transforms.AffineTransform(0.0, -1.0))
    assert falling.cdf(gs.tensor(-1.0)).item() == pytest.approx(math.exp(-1))
    assert falling.icdf(falling.cdf(gs.tensor(-1.0))).item() == pytest.approx(-1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: transforms.ReshapeTransform((2, 3), (5,)), "different numbers of elements"),
        (lambda: transforms.ReshapeTransform((2, 3), (6,))(gs.zeros(3, 2)), r"expected \(2, 3\) but got \(3, 2\)"),
        (lambda: transforms.ReshapeTransform((2, 3), (6,))(gs.zeros(3)), "Too few dimensions"),
        (lambda: transforms.CorrCholeskyTransform().forward_shape((5,)), "flattened lower-diagonal"),
        (lambda: transforms.CorrCholeskyTransform().inverse_shape((2, 3)), "not square"),
        (lambda: transforms.StickBreakingTransform().forward_shape(()), "Too few dimensions"),
        (lambda: transforms.IndependentTransform(transforms.ExpTransform(), 2)(gs.zeros(3)), "Too few dimensions"),
        (lambda: transforms.CatTransform([transforms.ExpTransform()], 0, [2])(gs.zeros(3)), "do not fill 3"),
        (lambda: transforms.CatTransform([transforms.ExpTransform()], 0, [2, 1]), "must match tseq"),
        (lambda: transforms.StackTransform([transforms.ExpTransform()], 1)(gs.zeros(3)), "out of range"),
        (lambda: transforms.StackTransform([transforms.ExpTransform()], 0)(gs.zeros(3)), "3 parts"),
        (lambda: transforms.CorrCholeskyTransform().event_dim, r".domain.event_dim or .codomain.event_dim"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- constraints

IN_AND_OUT = [
    (constraints.boolean, [0.0, 1.0], [0.5]),
    (constraints.integer_interval(1, 3), [1.0, 3.0], [0.0, 1.5, 4.0]),
    (constraints.nonnegative_integer, [0.0, 5.0], [-1.0, 0.5]),
    (constraints.positive_integer, [1.0], [0.0]),
    (constraints.real, [0.0, float("inf")], [float("nan")]),
    (constraints.positive, [0.5], [0.0, float("nan")]),
    (constraints.nonnegative, [0.0], [-0.5]),
    (constraints.less_than(2.0), [1.0], [2.0]),
    (constraints.unit_interval, [0.0, 1.0], [-0.1, 1.1]),
    (constraints.half_open_interval(0.0, 1.0), [0.0], [1.0]),
    (constraints.one_hot, [[0.0, 1.0]], [[1.0, 1.0], [0.5, 0.5]]),
    (constraints.simplex, [[0.5, 0.5]], [[0.5, 0.6], [1.5, -0.5]]),
    (constraints.multinomial(3), [[1.0, 2.0]], [[2.0, 2.0], [-1.0, 1.0]]),
    (constraints.lower_triangular, [[[0.0, 0.0], [1.0, 1.0]]], [[[1.0, 1.0], [0.0, 1.0]]]),
    (constraints.lower_cholesky, [[[1.0, 0.0], [1.0, 1.0]]], [[[0.0, 0.0], [1.0, 1.0]]]),
    (constraints.corr_cholesky, [[[1.0, 0.0], [0.6, 0.8]]], [[[1.0, 0.0], [1.0, 1.0]]]),
    (constraints.symmetric, [[[1.0, 2.0], [2.0, 1.0]]], [[[1.0, 2.0], [3.0, 1.0]]]),
    (constraints.positive_semidefinite, [[[1.0, 0.0], [0.0, 0.0]]], [[[1.0, 2.0], [2.0, 1.0]]]),
    (constraints.positive_definite, [[[2.0, 1.0], [1.0, 2.0]]], [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.5], [0.0, 1.0]]]),
    (constraints.real_vector, [[1.0, 2.0]], [[1.0, float("nan")]]),
    (constraints.MixtureSameFamilyConstraint(constraints.positive), [1.0], [-1.0]),
]


@pytest.mark.parametrize(("constraint", "inside", "outside"), IN_AND_OUT, ids=[repr(c[0]) for c in IN_AND_OUT])
def test_constraints(constraint, inside, outside):
    for value in inside:
        assert constraint.check(gs.tensor(value, dtype=gs.float64)).item()
    for value in outside:
        assert not constraint.check(gs.tensor(value, dtype=gs.float64)).item()
    wide = gs.tensor(inside[:1] * 3, dtype=gs.float64)
    assert constraint.check(wide).shape == (3,)


def test_squares():
    assert constraints.square.check(gs.zeros(4, 2, 2)).all() and not constraints.square.check(gs.zeros(4, 2, 3)).any()
    assert not constraints.symmetric.check(gs.zeros(2, 3)).any()


def test_constraints_of_parts():
    joined = constraints.cat([constraints.positive, constraints.real], -1, [2, 1])
    assert joined.check(gs.tensor([1.0, -1.0, -1.0])).tolist() == [True, False, True]
    stacked = constraints.stack([constraints.positive, constraints.integer_interval(0, 2)], 0)
    assert stacked.check(gs.tensor([[1.0, -1.0], [0.5, 2.0]])).tolist() == [[True, False], [False, True]]
    assert stacked.is_discrete and not joined.is_discrete
    for parts in ([constraints.real_vector, constraints.real], [constraints.real, constraints.real_vector]):
        assert constraints.cat(parts).event_dim == 1
    with pytest.raises(ValueError, match="out of range"):
        joined.check(gs.tensor(1.0))
    with pytest.raises(TypeError, match="must be a Constraint"):
        constraints.cat([1])
    with pytest.raises(ValueError, match=r"Expected value.dim\(\) >= 1 but got 0"):
        constraints.real_vector.check(gs.tensor(1.0))


def test_dependent_constraints():
    dependent = constraints.dependent(is_discrete=True)
    assert dependent.is_discrete and dependent(event_dim=2).event_dim == 2
    with pytest.raises(NotImplementedError, match="event_dim cannot be determined"):
        dependent.event_dim  # noqa: B018
    with pytest.raises(ValueError, match="dependent constraint"):
        dependent.check(gs.zeros(1))
    assert constraints.is_dependent(dist.Independent.support)
    assert not constraints.is_dependent(dist.Independent(NORMAL, 0).support)


@pytest.mark.parametrize("registry", [biject_to, transform_to])
@pytest.mark.parametrize(
    ("constraint", "shape"),
    [
        (constraints.real, (3,)),
        (constraints.positive, (3,)),
        (constraints.greater_than(2.0), (3,)),
        (constraints.greater_than_eq(gs.tensor([1.0, 2.0, 3.0])), (3,)),
        (constraints.less_than(-2.0), (3,)),
        (constraints.unit_interval, (3,)),
        (constraints.interval(-1.0, gs.tensor(4.0)), (3,)),
        (constraints.half_open_interval(-1.0, 4.0), (3,)),
        (constraints.simplex, (2, 3)),
        (constraints.corr_cholesky, (2, 6)),
        (constraints.independent(constraints.positive, 1), (2, 3)),
        (constraints.cat([constraints.positive, constraints.real], -1, [2, 1]), (3,)),
        (constraints.stack([constraints.positive, constraints.real], 0), (2, 3)),
        (constraints.lower_cholesky, (2, 3, 3)),
        (constraints.positive_definite, (2, 3, 3)),
        (constraints.positive_semidefinite, (3, 3)),
    ],
    ids=repr,
)
def test_registries(registry, constraint, shape):
    if registry is biject_to and constraint.event_dim == 2 and constraint is not constraints.corr_cholesky:
        with pytest.raises(NotImplementedError, match="Cannot transform"):
            registry(constraint)
        return
    transform = registry(constraint)
    x = gs.tensor(np.sin(np.arange(math.prod(shape))).reshape(shape), requires_grad=True)
    y = transform(x)
    assert constraint.check(y).all()
    assert gs.autograd.grad(y.sum(), x)[0].isfinite().all()
    np.testing.assert_allclose(transform(transform.inv(y)).detach().numpy(), y.detach().numpy(), rtol=1e-9)


def test_registries_of_ones_own():
    class Even(constraints.Constraint):
        pass

    registry = ConstraintRegistry()

    @registry.register(Even)
    def make(constraint):
        return transforms.AffineTransform(0.0, 2.0)

    assert registry(Even()) == transforms.AffineTransform(0.0, 2.0)
    registry.register(Even(), lambda constraint: transforms.identity_transform)
    assert registry(Even()) is transforms.identity_transform
    with pytest.raises(TypeError, match="Expected constraint to be either"):
        registry.register(3, make)
    with pytest.raises(NotImplementedError, match="Cannot transform Even constraints"):
        biject_to(Even())


def test_parameters_may_be_optimized_through_a_registry():
    """A scale that is found by steps in the unconstrained number."""
    data = gs.tensor(np.random.default_rng(0).gamma(3.0, 0.5, 500))
    free = gs.zeros(2, dtype=gs.float64, requires_grad=True)
    positive = transform_to(dist.Gamma.arg_constraints["rate"])
    optimizer = gs.optim.Adam([free], lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        concentration, rate = positive(free)
        loss = -dist.Gamma(concentration, rate).log_prob(data).mean()
        loss.backward()
        optimizer.step()
    concentration, rate = positive(free).tolist()
    assert concentration / rate == pytest.approx(data.mean().item(), rel=1e-2)
    assert concentration == pytest.approx(3, rel=0.3)


REAL, VECTORS, MATRICES = "Real()", "IndependentConstraint(Real(), 1)", "IndependentConstraint(Real(), 2)"
POSITIVE, UNIT = "GreaterThan(lower_bound=0.0)", "Interval(lower_bound=0.0, upper_bound=1.0)"
# What each transform takes and gives, and whether it can be undone: as PyTorch 2.13 prints it.
SETS = [
    (transforms.AbsTransform, (), REAL, POSITIVE, False),
    (transforms.AffineTransform, (1.0, 2.0), REAL, REAL, True),
    (transforms.AffineTransform, (1.0, 2.0, 1), VECTORS, VECTORS, True),
    (transforms.CatTransform, ([transforms.ExpTransform()],), "Cat()", "Cat()", True),
    (transforms.ComposeTransform, ([transforms.ExpTransform(), transforms.TanhTransform()],), REAL,
     "Interval(lower_bound=-1.0, upper_bound=1.0)", True),
    (transforms.CorrCholeskyTransform, (), VECTORS, "CorrCholesky()", True),
    (transforms.ExpTransform, (), REAL, POSITIVE, True),
    (transforms.IndependentTransform, (transforms.ExpTransform(), 1), VECTORS, f"IndependentConstraint({POSITIVE}, 1)",
     True),
    (transforms.LowerCholeskyTransform, (), MATRICES, "LowerCholesky()", False),
    (transforms.PositiveDefiniteTransform, (), MATRICES, "PositiveDefinite()", False),
    (transforms.PowerTransform, (2.0,), POSITIVE, POSITIVE, True),
    (transforms.ReshapeTransform, ((2,), (1, 2)), VECTORS, MATRICES, True),
    (transforms.SigmoidTransform, (), REAL, UNIT, True),
    (transforms.SoftmaxTransform, (), VECTORS, "Simplex()", False),
    (transforms.SoftplusTransform, (), REAL, POSITIVE, True),
    (transforms.StackTransform, ([transforms.ExpTransform()],), "Stack()", "Stack()", True),
    (transforms.StickBreakingTransform, (), VECTORS, "Simplex()", True),
    (transforms.TanhTransform, (), REAL, "Interval(lower_bound=-1.0, upper_bound=1.0)", True),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "parameters", "domain", "codomain", "bijective"), SETS)
def test_what_is_taken_and_given(kind, parameters, domain, codomain, bijective):
    one = kind(*parameters)
    assert (str(one.domain), str(one.codomain), one.bijective) == (domain, codomain, bijective)
    assert (str(one.inv.domain), str(one.inv.codomain), one.inv.bijective) == (codomain, domain, bijective)
