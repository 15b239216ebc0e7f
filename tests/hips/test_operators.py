"""The operators of gradsmith.compat.hips, on functions whose derivatives are known."""

import numpy
import pytest

import gradsmith.compat.hips as hips
import gradsmith.compat.hips.numpy as np
from gradsmith.compat.hips import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_jvp_reversemode,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
)
from gradsmith.compat.hips.numpy.numpy_boxes import ArrayBox
from gradsmith.compat.hips.tracer import getval, isbox

X = numpy.array([0.5, -1.0, 2.0])
M = numpy.arange(9.0).reshape(3, 3) / 7 - 0.5


def quartic(x):
    return np.sum(x**4) + x[0] * x[1]


def assert_plain(value):
    assert isinstance(value, (numpy.ndarray, numpy.floating, float)) and not isinstance(value, ArrayBox)


def test_numbers_give_numbers():
    gradient = grad(np.sin)
    assert isinstance(gradient(0.5), float) and gradient(0.5) == pytest.approx(numpy.cos(0.5))
    function, expected = np.sin, (numpy.cos, lambda x: -numpy.sin(x), lambda x: -numpy.cos(x), numpy.sin)
    for derivative in expected * 2:
        function = grad(function)
        assert function(0.5) == pytest.approx(derivative(0.5))


def test_arrays_give_arrays():
    assert_plain(grad(quartic)(X))
    numpy.testing.assert_allclose(grad(quartic)(X), 4 * X**3 + [X[1], X[0], 0])
    value, gradient = value_and_grad(quartic)(X)
    assert_plain(value)
    numpy.testing.assert_allclose(gradient, grad(quartic)(X))
    assert grad(quartic)(X.astype(numpy.float32)).dtype == numpy.float32
    assert grad(lambda x: np.sum(x**2))(numpy.arange(3)).tolist() == [0.0, 2.0, 4.0]


def test_trees():
    tree = {"w": X, "rest": [2.0, (M, 1.0)]}
    found = grad(lambda t: np.sum(t["w"]) * t["rest"][0] + np.sum(t["rest"][1][0] ** 2))(tree)
    assert found["w"].tolist() == [2.0, 2.0, 2.0] and found["rest"][0] == X.sum() and found["rest"][1][1] == 0.0
    numpy.testing.assert_allclose(found["rest"][1][0], 2 * M)


def test_arguments():
    def f(a, b, *, scale=1.0):
        return scale * a**2 * b

    assert grad(f, 1)(3.0, 2.0, scale=2.0) == 18.0
    assert grad(f, (0, 1))(3.0, 2.0) == (12.0, 9.0) and grad(f, [1])(3.0, 2.0) == (9.0,)
    assert grad_named(f, "b")(3.0, 2.0) == 9.0
    assert dict(multigrad_dict(lambda a, b=3.0, **rest: a * b * rest["c"])(2.0, c=5.0)) == {
        "a": 15.0, "b": 10.0, "rest": {"c": 6.0},
    }  # fmt: skip
    assert grad(f).__name__ == "f"


def test_jacobians_and_hessians():
    def f(x):
        return np.outer(x, x)[:, :2]

    found = jacobian(f)(X)
    assert found.shape == (3, 2, 3)
    step = 1e-6
    for n in range(3):
        unit = numpy.eye(3)[n] * step
        numpy.testing.assert_allclose(found[..., n], (f(X + unit) - f(X - unit)) / (2 * step), atol=1e-8)
    expected = numpy.diag(12 * X**2) + numpy.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    numpy.testing.assert_allclose(hessian(quartic)(X), expected)
    assert hessian(lambda x: x**3)(2.0) == 12.0 and jacobian(lambda x: x[:0])(X).shape == (0, 3)
    numpy.testing.assert_allclose(hessian_tensor_product(quartic)(X, X), expected @ X)
    numpy.testing.assert_allclose(hips.hessian_vector_product(quartic)(X, X), expected @ X)
    product, gradient = make_hvp(quartic)(X)
    numpy.testing.assert_allclose(product(X), expected @ X)
    numpy.testing.assert_allclose(gradient, grad(quartic)(X))


def test_products():
    def f(x):
        return np.dot(M, x**2)

    dense = M * (2 * X)
    vjp, value = make_vjp(f)(X)
    assert_plain(value)
    assert_plain(vjp(X))
    numpy.testing.assert_allclose(vjp(X), dense.T @ X)
    value, tangent = make_jvp(f)(X)(X)
    numpy.testing.assert_allclose(tangent, dense @ X)
    numpy.testing.assert_allclose(value, f(X))
    reverse = make_jvp_reversemode(f)(X)(X)
    assert_plain(reverse)
    numpy.testing.assert_allclose(reverse, dense @ X)
    numpy.testing.assert_allclose(tensor_jacobian_product(f)(X, X), dense.T @ X)
    numpy.testing.assert_allclose(hips.vector_jacobian_product(f)(X, X), dense.T @ X)
    numpy.testing.assert_allclose(make_ggnvp(f)(X)(X), dense.T @ dense @ X)
    numpy.testing.assert_allclose(make_ggnvp(f, lambda y: np.sum(y**4))(X)(X), dense.T @ (12 * f(X) ** 2 * (dense @ X)))


def test_elementwise():
    numpy.testing.assert_allclose(elementwise_grad(np.tanh)(X), 1 - numpy.tanh(X) ** 2)
    numpy.testing.assert_allclose(elementwise_grad(elementwise_grad(np.sin))(X), -numpy.sin(X))
    numpy.testing.assert_allclose(deriv(np.sin)(X), numpy.cos(X))
    numpy.testing.assert_allclose(deriv(deriv(np.exp))(0.3), numpy.exp(0.3))


def test_mixed_modes():
    numpy.testing.assert_allclose(jacobian(lambda x: make_jvp(quartic)(x)(X)[1])(X), hessian(quartic)(X) @ X)
    numpy.testing.assert_allclose(make_jvp(grad(quartic))(X)(X)[1], hessian(quartic)(X) @ X)


def test_aux():
    def f(x):
        return np.sum(x**2), {"twice": 2 * x, "name": "x", "count": 3}

    gradient, aux = grad_and_aux(f)(X)
    numpy.testing.assert_allclose(gradient, 2 * X)
    numpy.testing.assert_allclose(aux["twice"], 2 * X)
    assert_plain(aux["twice"])
    assert (aux["name"], aux["count"]) == ("x", 3)


def test_complex_numbers():
    z = 0.3 + 0.4j
    assert grad(lambda z: np.abs(z) ** 2)(z) == pytest.approx(2 * numpy.conj(z))
    assert holomorphic_grad(np.exp)(z) == pytest.approx(numpy.exp(z))
    assert holomorphic_grad(holomorphic_grad(np.sin))(z) == pytest.approx(-numpy.sin(z))
    with pytest.warns(UserWarning, match="not complex"):
        holomorphic_grad(np.exp)(1.0)
    numpy.testing.assert_allclose(make_jvp(np.exp)(z)(1j)[1], 1j * numpy.exp(z))
    vjp, _ = make_vjp(lambda z: z * z)(z)
    assert vjp(1j) == pytest.approx(2 * z * 1j)
    numpy.testing.assert_allclose(jacobian(lambda z: z**2)(numpy.array([z, 1j])), numpy.diag([2 * z, 2j]))


def test_checkpoints():
    calls = []

    @checkpoint
    def f(x, y):
        calls.append(1)
        return np.sin(x) * y

    assert grad(lambda x: f(f(x, 2.0), 3.0))(0.5) == pytest.approx(6 * numpy.cos(2 * numpy.sin(0.5)) * numpy.cos(0.5))
    assert len(calls) == 4 and f(1.0, 2.0) == 2 * numpy.sin(1.0)


def test_errors():
    with pytest.raises(TypeError, match="Try jacobian"):
        grad(lambda x: x)(X)
    with pytest.raises(TypeError, match="Can't differentiate"):
        grad(lambda x: x)(1)
    with pytest.raises(TypeError, match="Can't differentiate"):
        grad(lambda x: 1.0)("x")
    with pytest.raises(TypeError, match="real-output"):
        elementwise_grad(lambda x: x + 1j)(1.0)
    with pytest.raises(TypeError, match="argnum"):
        grad(np.sin, "x")
    with pytest.raises(TypeError, match="one array"):
        jacobian(lambda x: [x, x])(X)
    with pytest.warns(UserWarning, match="independent"):
        assert grad(lambda x: 1.0)(2.0) == 0.0


# ---- boxes


def seen(function):
    """What a function sees inside grad."""
    found = []

    def f(x):
        found.append(function(x))
        return np.sum(x) * 1.0

    grad(f)(M)
    return found[0]


def test_boxes_are_like_arrays():
    assert seen(lambda x: (x.shape, x.ndim, x.size, x.dtype, len(x))) == ((3, 3), 2, 9, numpy.dtype(float), 3)
    assert seen(lambda x: isinstance(x, ArrayBox) and isbox(x) and hips.isinstance(x, numpy.ndarray))
    assert seen(lambda x: hips.type(x)) is numpy.ndarray
    assert seen(lambda x: isinstance(x > 0, numpy.ndarray) and isinstance(np.argmax(x), numpy.integer))
    assert seen(lambda x: [row.shape for row in x]) == [(3,)] * 3
    assert seen(lambda x: (bool(x[0, 0] < 0), 1.0 in x[0], isinstance(hash(x), int))) == (True, False, True)
    numpy.testing.assert_array_equal(seen(getval), M)
    assert seen(lambda x: isinstance(np.floor(np.ones(2)), numpy.ndarray)) and "ArrayBox" in seen(repr)


@pytest.mark.parametrize(
    "function",
    [
        lambda np, x: x.T.reshape(-1)[2:5] + x.flatten()[:3],
        lambda np, x: x.reshape(9, 1).squeeze().sum() + x.reshape((3, 3)).transpose(1, 0).mean(axis=0),
        lambda np, x: x.var(axis=1) + x.std(0) + x.max(1) + x.min(axis=0) + x.trace() + x.diagonal(),
        lambda np, x: x.dot(x) @ x + 3 - x / 2 + 2**x - x**2 + (-x) % 3 + abs(x),
        lambda np, x: numpy.ones(3) @ x + numpy.float64(2) * x[0] - numpy.sin(x[1]) + numpy.ones(3) * x[2],
        lambda np, x: np.concatenate([x, numpy.ones((1, 3))]) + np.array([x[0, 0], 1.0, x[1, 1]]),
        lambda np, x: numpy.sum(x, axis=0) + numpy.concatenate([x[0, :2], x[1, :1]]),
        lambda np, x: numpy.linalg.solve(x + 3 * numpy.eye(3), x[0]) + numpy.fft.fft(x).real,
        lambda np, x: x[numpy.array([0, 2, 0])] + x[[0, 1, 1]] + x[:, ::-1] + x[..., None, 0] * x[x[:, 0] < 9],
        lambda np, x: x.astype(complex).real + x.cumsum(0) + x.clip(-0.2, 0.2) + x.repeat(3, axis=0)[::3],
        lambda np, x: x.take([0, 1, 2], 1) + x.copy() + x.conj() + x.prod(axis=1) + x.ravel()[:3] + x.swapaxes(0, 1),
        lambda np, x: np.where(x > 0, x, 0.1 * x) + np.select([x > 0], [x**2], 1.0) + np.vstack(list(x)),
        lambda np, x: np.apply_along_axis(lambda row: np.cumsum(row) * row[0], 1, x) + np.einsum("ij,jk->ik", x, x),
        lambda np, x: np.logaddexp.reduce(x, axis=0) + np.multiply.outer(x[0], x[1]),
        lambda np, x: np.fft.fft(x).real + np.linalg.inv(x + 3 * numpy.eye(3)) + np.linalg.norm(x, axis=0),
    ],
)  # fmt: skip
def test_expressions(function):
    def loss(np, x):
        found = function(np, x)
        return np.sum(found * numpy.cos(numpy.arange(int(numpy.prod(np.shape(found))))).reshape(np.shape(found)))

    gradient = grad(lambda x: loss(np, x))(M)
    direction = numpy.sin(numpy.arange(9.0)).reshape(3, 3)
    step = 1e-6
    numeric = (loss(numpy, M + step * direction) - loss(numpy, M - step * direction)) / (2 * step)
    assert (gradient * direction).sum() == pytest.approx(numeric, rel=1e-5)


def test_what_boxes_refuse():
    for function in (
        float,
        lambda x: numpy.asarray(x),
        lambda x: x.item(),
        lambda x: x.sort(),
        lambda x: x.__setitem__(0, 1.0),
    ):
        with pytest.raises(TypeError):
            grad(lambda x, f=function: f(x[0, 0]) * 1.0)(M)
    with pytest.raises(ValueError, match="setting an array element"):
        grad(lambda x: numpy.zeros(3).__setitem__(0, x[0, 0]))(M)
    with pytest.raises(TypeError, match="unsized"):
        grad(lambda x: len(x))(1.0)
    with pytest.raises(AttributeError):
        np.no_such_name  # noqa: B018


def test_plain_arguments_go_to_numpy_itself():
    assert np.sin(0.5) == numpy.sin(0.5) and isinstance(np.ones(3), numpy.ndarray) and np.pi == numpy.pi
    assert np.random.RandomState is numpy.random.RandomState and np.linalg.LinAlgError is numpy.linalg.LinAlgError
    numpy.random.seed(0)
    expected = numpy.random.randn(3)
    np.random.seed(0)
    numpy.testing.assert_array_equal(np.random.randn(3), expected)
    assert grad(lambda s: np.sum(np.random.normal(0.0, s, 4)))(1.0) != 0.0
    assert "sum" in dir(np) and np.float64 is numpy.float64


def test_scipy():
    from gradsmith.compat.hips.scipy import linalg, special
    from gradsmith.compat.hips.scipy.integrate import odeint
    from gradsmith.compat.hips.scipy.misc import logsumexp
    from gradsmith.compat.hips.scipy.signal import convolve

    assert isinstance(special.gammaln(2.5), float)
    assert grad(special.gammaln)(2.5) == pytest.approx(special.digamma(2.5))
    numpy.testing.assert_allclose(grad(logsumexp)(X), numpy.exp(X) / numpy.exp(X).sum())
    spd = M @ M.T + numpy.eye(3)
    triangle = grad(lambda a: np.sum(np.log(np.diag(linalg.cholesky(a)))))(spd)  # the upper one is read
    numpy.testing.assert_allclose((triangle + triangle.T) / 2, numpy.linalg.inv(spd) / 2)
    rate = grad(lambda r: odeint(lambda y, t, r: -r * y, np.array([1.0]), np.array([0.0, 2.0]), (r,))[1, 0])(0.5)
    assert rate == pytest.approx(-2 * numpy.exp(-1.0), rel=1e-5)
    start = jacobian(lambda y: odeint(lambda y, t: np.array([y[1], -y[0]]), y, np.array([0.0, 1.0]))[1])(
        np.array([1.0, 0.0])
    )
    numpy.testing.assert_allclose(start, [[numpy.cos(1), numpy.sin(1)], [-numpy.sin(1), numpy.cos(1)]], atol=1e-6)
    for mode in ("full", "valid", "same"):
        for other in (X, X[:2], X[:1]):
            expected = numpy.convolve(X, other, mode)
            for axes in ([0], [0]), None:
                numpy.testing.assert_allclose(convolve(X, other, axes=axes, mode=mode), expected)
            numpy.testing.assert_allclose(
                convolve(X[None], other[None], axes=([1], [1]), dot_axes=([0], [0]), mode=mode), expected
            )
    with pytest.raises(ValueError, match="at least as large"):
        convolve(X[:2], X, axes=([0], [0]), mode="valid")
    images, filters = (
        numpy.random.default_rng(0).normal(size=(2, 3, 6, 6)),
        numpy.random.default_rng(1).normal(size=(3, 4, 2, 2)),
    )
    found = convolve(images, filters, axes=([2, 3], [2, 3]), dot_axes=([1], [0]), mode="valid")
    assert found.shape == (2, 4, 5, 5)
    patch = images[0, :, 1:3, 2:4]
    assert found[0, 1, 1, 2] == pytest.approx((patch * filters[:, 1, ::-1, ::-1]).sum())
    gradient = grad(
        lambda f: np.sum(convolve(images, f, axes=([2, 3], [2, 3]), dot_axes=([1], [0]), mode="valid") ** 2)
    )(filters)
    assert gradient.shape == filters.shape


def test_distributions():
    import gradsmith.compat.hips.scipy.stats.norm as norm
    from gradsmith.compat.hips.scipy import stats

    assert grad(norm.logpdf)(0.5, 0.2, 2.0) == pytest.approx(-0.3 / 4)
    assert grad(norm.logpdf, 2)(0.5, 0.2, 2.0) == pytest.approx(-1 / 2 + 0.09 / 8)
    numpy.testing.assert_allclose(stats.norm.cdf(numpy.array([0.0])), [0.5])
    assert isinstance(stats.expon.logpdf(1.0), float) and norm.cdf(1).dtype == numpy.float64
    assert norm.logpdf(0.1) == pytest.approx(-0.005 - numpy.log(2 * numpy.pi) / 2, rel=1e-14)
    assert stats.multivariate_normal.logpdf(X, X, numpy.eye(3)) == pytest.approx(
        -1.5 * numpy.log(2 * numpy.pi), rel=1e-12
    )
    assert grad(stats.poisson.logpmf, 1)(3, 2.0) == pytest.approx(0.5) and isbox(seen(lambda x: norm.pdf(x, 0, 1)))
