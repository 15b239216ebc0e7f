"""Distributions of vectors against SciPy's."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import gradcheck

stats = pytest.importorskip("scipy.stats")

ALPHA = np.array([1.5, 0.7, 3.0])
MEAN = np.array([0.5, -1.0, 2.0])
COVARIANCE = np.array([[2.0, 0.6, -0.3], [0.6, 1.5, 0.2], [-0.3, 0.2, 1.1]])


def close(found, expected):
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=1e-9, atol=1e-12)


def test_dirichlet():
    x = np.array([[0.2, 0.1], [0.3, 0.6], [0.5, 0.3]])
    for value in (x, x[:, 0], x[:-1]):
        close(gs.stats.dirichlet.logpdf(value, ALPHA), stats.dirichlet.logpdf(value, ALPHA))
        close(gs.stats.dirichlet.pdf(value, ALPHA), stats.dirichlet.pdf(value, ALPHA))
    frozen, expected = gs.stats.dirichlet(ALPHA), stats.dirichlet(ALPHA)
    for name in ("mean", "var", "cov", "entropy"):
        close(getattr(frozen, name)(), getattr(expected, name)())
    alpha = gs.tensor(ALPHA, requires_grad=True)
    assert gradcheck(lambda a: gs.stats.dirichlet.logpdf(x, a), [alpha])


def test_samples_of_dirichlet_have_the_mean_and_its_gradient():
    many = 20000
    alpha = gs.tensor(ALPHA, requires_grad=True)
    drawn = gs.stats.dirichlet.rvs(alpha, size=many, random_state=5)
    assert drawn.shape == (many, 3)
    error = 5 * np.sqrt(stats.dirichlet.var(ALPHA) / many)
    assert (np.abs(drawn.detach().numpy().mean(0) - ALPHA / ALPHA.sum()) < error).all()
    (gradient,) = gs.autograd.grad(drawn[:, 0].mean(), alpha)
    total = ALPHA.sum()
    expected = np.where(np.arange(3) == 0, total - ALPHA[0], -ALPHA[0]) / total**2
    np.testing.assert_allclose(gradient.numpy(), expected, atol=0.01)


@pytest.mark.parametrize(
    ("x", "alpha", "message"),
    [
        ([0.5, 0.5], [[1.0, 1.0]], "must be one dimensional"),
        ([0.5, 0.5], [1.0, -1.0], "must be greater than 0"),
        ([0.5, 0.6], [1.0, 1.0], "must lie within the normal simplex"),
        ([1.5, -0.5], [1.0, 1.0], "between zero and one"),
        ([0.5, 0.2, 0.2, 0.1], [1.0, 1.0], "same number of entries"),
        (0.5, [1.0, 1.0], "same number of entries"),
    ],
)
def test_errors_of_dirichlet(x, alpha, message):
    with pytest.raises(ValueError, match=message):
        gs.stats.dirichlet.logpdf(x, alpha)


@pytest.mark.parametrize(
    ("shape", "mean", "cov"),
    [
        ((4, 3), MEAN, COVARIANCE),
        ((3,), MEAN, COVARIANCE),
        ((2, 4, 3), None, COVARIANCE),
        ((4, 3), MEAN, np.array([1.0, 2.0, 3.0])),
        ((4, 3), MEAN, np.float64(2.0)),
        ((4,), np.float64(1.0), np.float64(2.0)),
        ((4,), None, np.float64(2.0)),
        ((), np.float64(1.0), np.float64(2.0)),
    ],
)
def test_multivariate_normal(shape, mean, cov):
    x = np.random.default_rng(0).normal(size=shape)
    own, scipys = gs.stats.multivariate_normal, stats.multivariate_normal
    close(own.logpdf(x, mean, cov), scipys.logpdf(x, mean, cov))
    close(own.pdf(x, mean, cov), scipys.pdf(x, mean, cov))
    close(own.entropy(mean, cov), scipys.entropy(mean, cov))
    close(own(mean, cov).logpdf(x), scipys.logpdf(x, mean, cov))


def test_derivatives_of_multivariate_normal():
    x = gs.tensor(np.random.default_rng(0).normal(size=(2, 3)), requires_grad=True)
    mean = gs.tensor(MEAN, requires_grad=True)
    factor = gs.tensor(np.linalg.cholesky(COVARIANCE), requires_grad=True)

    def density(x, mean, factor):
        return gs.stats.multivariate_normal.logpdf(x, mean, factor.tril() @ factor.tril().mT)

    assert gradcheck(density, [x, mean, factor], check_forward_ad=True)


def test_singular_covariances():
    cov = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 3.0]])
    x = np.array([[0.5, 0.5, 1.0], [0.5, 0.6, 1.0]])
    own, scipys = gs.stats.multivariate_normal, stats.multivariate_normal
    close(own.logpdf(x, np.zeros(3), cov, allow_singular=True), scipys.logpdf(x, None, cov, allow_singular=True))
    close(own.logpdf(x, MEAN, COVARIANCE, allow_singular=True), scipys.logpdf(x, MEAN, COVARIANCE))
    drawn = own.rvs(np.zeros(3), cov, allow_singular=True, size=5, random_state=1)
    np.testing.assert_allclose(drawn[:, 0].numpy(), drawn[:, 1].numpy(), atol=1e-12)
    with pytest.raises(gs.linalg.LinAlgError):
        own.logpdf(x, np.zeros(3), cov)


def test_samples_of_multivariate_normal():
    many = 20000
    drawn = gs.stats.multivariate_normal(MEAN, COVARIANCE).rvs(size=many, random_state=2).numpy()
    assert (np.abs(drawn.mean(0) - MEAN) < 5 * np.sqrt(np.diag(COVARIANCE) / many)).all()
    assert np.abs(np.cov(drawn.T) - COVARIANCE).max() < 5 * 2 * np.sqrt(2 / many)


@pytest.mark.parametrize(
    ("x", "mean", "cov", "message"),
    [
        (np.zeros((2, 4)), MEAN, COVARIANCE, "vectors of x have 4 numbers, not 3"),
        (np.zeros(3), np.zeros(2), COVARIANCE, "do not fit"),
        (np.zeros(3), np.zeros(3), np.zeros((2, 3)), "do not fit"),
    ],
)
def test_errors_of_multivariate_normal(x, mean, cov, message):
    with pytest.raises(ValueError, match=message):
        gs.stats.multivariate_normal.logpdf(x, mean, cov)
