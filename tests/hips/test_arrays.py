"""Names of NumPy and SciPy beyond plain functions of arrays: indices, iterables, `r_`, `vectorize`."""

import numpy
import pytest

import gradsmith.compat.hips.numpy as np
from gradsmith.compat.hips import grad, hessian, jacobian, value_and_grad
from gradsmith.compat.hips.scipy import linalg, special
from gradsmith.compat.hips.tracer import getval

X = numpy.array([0.5, -1.0, 2.0])
M = numpy.arange(6.0).reshape(2, 3)


class Column:
    """Like a column of a table: NumPy takes it for an array."""

    def __init__(self, values, dtype=None):
        self.values = numpy.array(values, dtype)

    def __array__(self, dtype=None, copy=None):
        return self.values.astype(dtype) if dtype else self.values


@pytest.mark.parametrize(
    "index", [Column([0, 2, 2]), Column([0, 2, 2], "int8"), Column([0, 2, 2], "uint8"), [0, 2, 2],
              numpy.array([0, 2, 2], "uint8")],
)  # fmt: skip
def test_indices(index):
    assert grad(lambda x: np.sum(x[index] ** 2))(X).tolist() == [1.0, 0.0, 8.0]
    assert grad(lambda m: np.sum(m[:, index]))(M).tolist() == [[1.0, 0.0, 2.0]] * 2
    assert grad(lambda x: np.sum(np.take(x, index) ** 2))(X).tolist() == [1.0, 0.0, 8.0]


def test_indices_of_other_kinds():
    assert grad(lambda x: np.sum(x[Column([True, False, True])] ** 2))(X).tolist() == [1.0, 0.0, 4.0]
    assert grad(lambda m: m[Column([1]), Column([2])][0] ** 2)(M).tolist() == [[0.0] * 3, [0.0, 0.0, 10.0]]
    assert grad(lambda x: np.sum(x[[]]) + x[numpy.uint8(1)])(X).tolist() == [0.0, 1.0, 0.0]


def test_columns_of_tables():
    pandas = pytest.importorskip("pandas")
    column = pandas.Series([0, 2, 2], index=[5, 6, 7])
    assert grad(lambda x: np.sum(x[column] ** 2))(X).tolist() == [1.0, 0.0, 8.0]
    assert grad(lambda x: np.sum(x[pandas.Index([1])] ** 2))(X).tolist() == [0.0, -2.0, 0.0]
    weights = pandas.Series([1.0, 2.0, 3.0])
    for function in (lambda x: weights * x, lambda x: x * weights, lambda x: np.multiply(weights, x)):
        assert grad(lambda x, f=function: np.sum(f(x)))(X).tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("name", ["stack", "vstack", "hstack", "column_stack", "concatenate", "dstack", "row_stack"])
def test_iterables(name):
    function = getattr(np, name)
    expected = function([X, X + 1])
    for given in ({0: X, 1: X + 1}.values(), (x for x in [X, X + 1]), map(numpy.add, [X, X], [0, 1])):
        numpy.testing.assert_array_equal(function(given), expected)
    assert grad(lambda x: np.sum(function({0: x, 1: x**2}.values()) ** 2))(X).tolist() == (2 * X + 4 * X**3).tolist()
    assert grad(lambda x: np.sum(function(y for y in [x, x**2]) ** 2))(X).tolist() == (2 * X + 4 * X**3).tolist()
    assert grad(lambda m: np.sum(function(m) ** 2))(M).tolist() == (2 * M).tolist()
    assert function is np.vstack or name != "row_stack"


def test_iterables_elsewhere():
    chosen = jacobian(lambda x: np.select({0: X > 0}.values(), (y for y in [x]), 7.0))(X)
    assert chosen.tolist() == numpy.diag(1.0 * (X > 0)).tolist()
    found = grad(lambda x: np.sum(numpy.concatenate({0: x, 1: x}.values()) ** 2))(X)  # through NumPy's own function
    assert found.tolist() == (4 * X).tolist()
    assert grad(lambda x: np.sum(np.concatenate({0: x[None], 1: M}.values(), axis=0)))(X).tolist() == [1.0] * 3
    with pytest.raises(TypeError):
        np.concatenate(1.0)


def test_r_and_c():
    one = numpy.ones(2)
    assert grad(lambda x: np.sum(np.r_[x, 1.0] ** 2))(one).tolist() == [2.0, 2.0]
    assert grad(lambda x: np.sum(np.r_[x[0], 1:3, x * 2] ** 2))(one).tolist() == [10.0, 8.0]
    assert grad(lambda x: np.sum(np.r_["0,2", x, x * x] ** 2))(one).tolist() == [6.0, 6.0]
    assert grad(lambda x: np.sum(np.r_[[x[0], 3.0], x] ** 2))(one).tolist() == [4.0, 2.0]
    assert grad(lambda x: np.sum(np.c_[0:2, x] ** 2 * numpy.arange(4.0).reshape(2, 2)))(one).tolist() == [2.0, 6.0]
    assert grad(lambda x: np.sum(np.c_[numpy.ones((2, 3)), x] ** 2))(one).tolist() == [2.0, 2.0]
    assert hessian(lambda x: np.sum(np.r_[x, x] ** 3))(one).tolist() == [[12.0, 0.0], [0.0, 12.0]]
    assert type(np.c_[1:3, one]) is numpy.ndarray and np.r_["-1", [1], [2]].tolist() == [1, 2] and len(np.r_) == 0
    with pytest.raises(TypeError, match="slice"):
        grad(lambda x: np.sum(np.r_[0:x:3j]))(1.0)


def test_vectorize_arrays():
    dots = np.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")
    assert dots(M, M).tolist() == [5.0, 50.0] and type(dots(M, M)) is numpy.ndarray
    assert np.vectorize(lambda a: a, signature="(n)->(n)")(M).tolist() == M.tolist()
    assert np.vectorize(lambda a: a + 1, otypes=[float])(numpy.zeros(0)).shape == (0,)
    assert np.vectorize(signature="(n)->()")(lambda a: a.sum())(M).tolist() == [3.0, 12.0]
    assert np.vectorize(lambda a, k=2: a * k, excluded=["k"])(X, k=3).tolist() == (3 * X).tolist()
    assert isinstance(np.vectorize(abs), numpy.vectorize)


def test_vectorize_boxes():
    def slope(f, x):
        return grad(lambda x: np.sum(f(x)))(x).tolist()

    square = np.vectorize(lambda a: a**2 if a > 0 else 0.0)
    assert slope(square, X) == [1.0, 0.0, 4.0] and slope(square, 3.0) == 6.0 and slope(square, M) == (2 * M).tolist()
    assert slope(np.vectorize(lambda a: np.sum(a**2), signature="(n)->()"), M) == (2 * M).tolist()
    dots = np.vectorize(lambda a, b: np.dot(a, b), signature="(n),(n)->()")
    assert slope(lambda m: dots(m, X), M) == [X.tolist()] * 2 and slope(lambda x: dots(M, x), X) == [3.0, 5.0, 7.0]
    split = np.vectorize(lambda a: (a[:1], 2 * a), signature="(n)->(m),(n)")
    assert (
        slope(lambda m: split(m)[0], M) == [[1.0, 0.0, 0.0]] * 2 and slope(lambda m: split(m)[1], M) == [[2.0] * 3] * 2
    )
    assert slope(lambda x: np.vectorize(lambda a, k: a * k[0], excluded=["k"])(x, k=[3.0]), X) == [3.0] * 3
    assert slope(lambda x: np.vectorize(lambda a, p: np.polyval(p, a), excluded=[1])(2.0, [x, 1.0]), 3.0) == 2.0
    assert grad(lambda x: np.sum(np.vectorize(lambda a: a, otypes=[complex])(x)).real)(X).tolist() == [1.0] * 3
    with pytest.raises(ValueError, match="size 0"):
        slope(square, numpy.zeros(0))


# ---- SciPy


def test_arrays_of_orders():
    x = numpy.array([0.5, 1.5, 2.5])
    orders = numpy.array([0, 1, 2])
    for n in (orders, orders.astype(float), [0, 1, 2]):
        value, slope = value_and_grad(lambda x, n=n: np.sum(special.polygamma(n, x)))(x)
        assert value == pytest.approx(sum(special.polygamma(int(k), a) for k, a in zip(orders, x)))
        numpy.testing.assert_allclose(slope, [special.polygamma(int(k) + 1, a) for k, a in zip(orders, x)])
    table = jacobian(lambda x: special.polygamma(orders[:, None], x))(x)
    assert table.shape == (3, 3, 3)
    numpy.testing.assert_allclose(table[1, 2], [0.0, 0.0, special.polygamma(2, 2.5)])
    numpy.testing.assert_allclose(special.expn(orders + 1, 0.5), [special.expn(k, 0.5) for k in (1, 2, 3)])
    numpy.testing.assert_allclose(special.kn(orders, x)[2], special.kn(2, 2.5))
    assert grad(lambda x: np.sum(special.polygamma([0, 1], x)))(numpy.array([1.0, 0.5]))[0] == pytest.approx(
        numpy.pi**2 / 6
    )
    assert special.polygamma(numpy.int64(1), 1.0) == pytest.approx(numpy.pi**2 / 6)
    assert grad(special.polygamma, 1)(numpy.array(0), 1.0) == pytest.approx(numpy.pi**2 / 6)
    assert special.polygamma(numpy.zeros(0, int), x[:0]).shape == (0,)
    branches = special.lambertw(numpy.array([-0.2, -0.2]), numpy.array([0, -1]))
    numpy.testing.assert_allclose(branches * numpy.exp(branches), -0.2)
    assert branches[1].real < -1 < branches[0].real


def test_functions_of_scipy_without_derivatives():
    own = pytest.importorskip("scipy.linalg")
    names = (
        "rq eig_banded eigvals_banded cholesky_banded cho_solve_banded funm fiedler fiedler_companion diagsvd expm_cond"
        " clarkson_woodruff_transform qr_delete qr_insert qr_multiply qr_update get_lapack_funcs get_blas_funcs"
    )
    assert all(callable(getattr(linalg, name)) for name in names.split())
    assert linalg.LinAlgWarning is own.LinAlgWarning
    assert linalg.fiedler([1.0, 4.0]).tolist() == [[0.0, 3.0], [3.0, 0.0]]
    r, q = linalg.rq(M)
    numpy.testing.assert_allclose(r @ q, M, atol=1e-12)
    assert (
        grad(lambda x: np.sum(x**2) + 0 * linalg.eigvals_banded(getval(x)[None]).sum())(X).tolist() == (2 * X).tolist()
    )
    with pytest.raises(NotImplementedError, match="VJP of fiedler"):
        grad(lambda x: np.sum(linalg.fiedler(x)))(X)
    with pytest.raises(AttributeError):
        getattr(linalg, "nothing_of_the_kind")  # noqa: B009
