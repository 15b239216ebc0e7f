"""Square roots, logarithms, equations with matrices, and banded and Toeplitz systems, against SciPy."""

import numpy as np
import pytest

import gradsmith as gs

scipy_linalg = pytest.importorskip("scipy.linalg")

rng = np.random.default_rng(0)


def matrices(dtype, *shape):
    imaginary = 1j * rng.normal(size=shape) if dtype.startswith("complex") else 0
    return (rng.normal(size=shape) + imaginary).astype(dtype)


def positive(dtype, *shape):
    a = matrices(dtype, *shape)
    return a @ a.conj().mT + np.eye(shape[-1], dtype=dtype)


def near(found, wanted):
    np.testing.assert_allclose(found.numpy(), wanted, rtol=2e-3, atol=1e-4)


DTYPES = pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])


@DTYPES
def test_functions_of_matrices(dtype):
    a = positive(dtype, 2, 3, 3)
    root, logarithm = gs.linalg.sqrtm(gs.tensor(a)), gs.linalg.logm(gs.tensor(a))
    assert root.dtype == logarithm.dtype == dtype
    exact = a.astype(np.result_type(dtype, np.float64))
    near(root, np.stack([scipy_linalg.sqrtm(one) for one in exact]))
    near(logarithm, np.stack([scipy_linalg.logm(one) for one in exact]))
    near(gs.linalg.matrix_exp(logarithm), a)


@DTYPES
def test_equations_with_matrices(dtype):
    a, b, q = positive(dtype, 3, 3), positive(dtype, 2, 2), matrices(dtype, 3, 2)
    near(gs.linalg.solve_sylvester(gs.tensor(a), gs.tensor(b), gs.tensor(q)), scipy_linalg.solve_sylvester(a, b, q))
    square = matrices(dtype, 3, 3)
    found = gs.linalg.solve_continuous_lyapunov(gs.tensor(a), gs.tensor(square))
    near(found, scipy_linalg.solve_continuous_lyapunov(a, square))
    small = a / 20
    found = gs.linalg.solve_discrete_lyapunov(gs.tensor(small), gs.tensor(square))
    near(found, scipy_linalg.solve_discrete_lyapunov(small, square))


@DTYPES
@pytest.mark.parametrize(("lower", "upper"), [(1, 1), (2, 0), (0, 1), (1, 2), (0, 0)])
def test_banded_systems(dtype, lower, upper):
    bands, b = matrices(dtype, lower + upper + 1, 6), matrices(dtype, 6, 2)
    bands[upper] += 6
    found = gs.linalg.solve_banded((lower, upper), gs.tensor(bands), gs.tensor(b))
    near(found, scipy_linalg.solve_banded((lower, upper), bands, b))
    vector = gs.linalg.solve_banded((lower, upper), gs.tensor(np.stack([bands, bands])), gs.tensor(b.T.copy()))
    near(vector, found.numpy().T)


@pytest.mark.parametrize(("lower", "upper"), [(1, 1), (2, 1), (0, 2)])
def test_gradients_of_bands_are_those_of_the_matrix(lower, upper):
    """Corners that are outside of the matrix have the gradient zero."""
    bands = matrices("float64", lower + upper + 1, 5)
    bands[upper] += 6
    x, b = gs.tensor(bands, requires_grad=True), gs.tensor(matrices("float64", 5))
    gs.linalg.solve_banded((lower, upper), x, b).square().sum().backward()
    i, j = np.indices((5, 5))
    inside = (i - j <= lower) & (j - i <= upper)
    dense = np.zeros((5, 5))
    dense[inside] = bands[(upper + i - j)[inside], j[inside]]
    whole = gs.tensor(dense, requires_grad=True)
    gs.linalg.solve(whole, b).square().sum().backward()
    wanted = np.zeros_like(bands)
    wanted[(upper + i - j)[inside], j[inside]] = whole.grad.numpy()[inside]
    np.testing.assert_allclose(x.grad.numpy(), wanted, atol=1e-12)


@DTYPES
def test_toeplitz_systems(dtype):
    column, row, b = (matrices(dtype, 5) for _ in range(3))
    column[0] = 8
    near(gs.linalg.solve_toeplitz(gs.tensor(column), gs.tensor(b)), scipy_linalg.solve_toeplitz(column, b))
    pair = gs.tensor(column), gs.tensor(row)
    near(gs.linalg.solve_toeplitz(pair, gs.tensor(b)), scipy_linalg.solve_toeplitz((column, row), b))
    batch = gs.linalg.solve_toeplitz([one.expand(2, 5) for one in pair], gs.tensor(np.stack([b, 2 * b])))
    near(batch[1], 2 * scipy_linalg.solve_toeplitz((column, row), b))


@pytest.mark.parametrize("name", ["sqrtm", "logm"])
def test_empty_batches_and_matrices_without_data(name):
    function = getattr(gs.linalg, name)
    assert function(gs.zeros(0, 3, 3)).shape == (0, 3, 3) and function(gs.zeros(2, 0, 0)).shape == (2, 0, 0)
    absent = function(gs.empty(2, 3, 3, device="meta"))
    assert absent.is_meta and absent.shape == (2, 3, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: gs.linalg.sqrtm(-a), "linalg.sqrtm: the matrix of real numbers has no real result"),
        (lambda a: gs.linalg.logm(gs.stack([a, -a])), r"linalg.logm: \(Batch element 1\): the matrix of real numbers"),
        (lambda a: gs.linalg.logm(0 * a), "linalg.logm: the matrix is singular"),
        (lambda a: gs.linalg.sqrtm(gs.tensor([[0.0, 1.0], [0.0, 0.0]])), "linalg.sqrtm: the matrix is singular"),
        (lambda a: gs.linalg.sqrtm(a / 0), "infinities or NaN"),
        (
            lambda a: gs.linalg.logm(gs.tensor([[1e-320, 1.0], [0.0, 1e-320]], dtype=gs.float64)),
            "logm: the matrix is sin",
        ),
        (lambda a: gs.linalg.solve_sylvester(a, -a, a), "solve_sylvester: the equation is singular"),
        (lambda a: gs.linalg.solve_discrete_lyapunov(a, a), "singular"),
        (lambda a: gs.linalg.solve_banded((1, 1), 0 * a, gs.ones(3)), "linalg.solve_banded: singular matrix"),
        (lambda a: gs.linalg.solve_toeplitz(gs.zeros(3), gs.ones(3)), "linalg.solve_toeplitz: Singular"),
    ],
)
def test_what_has_no_result(call, message):
    with pytest.raises(gs.linalg.LinAlgError, match=message):
        call(gs.eye(3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: gs.linalg.sqrtm(a[:2]), "linalg.sqrtm: A must be batches of square matrices"),
        (lambda a: gs.linalg.logm(a.half()), "Low precision"),
        (lambda a: gs.linalg.sqrtm(a.long()), "floating point or complex"),
        (lambda a: gs.linalg.solve_sylvester(a, a, a[:2]), r"expected Q to be 3 by 3, but its size is \[2, 3\]"),
        (lambda a: gs.linalg.solve_sylvester(a, a.double(), a), "the same dtype"),
        (lambda a: gs.linalg.solve_sylvester(a.expand(2, 3, 3), a.expand(4, 3, 3), a), "do not broadcast"),
        (lambda a: gs.linalg.solve_banded((1, 0), a, a), "expected 1 [+] 0 [+] 1 diagonals, .* but there are 3"),
        (lambda a: gs.linalg.solve_banded((1, 1), a, gs.ones(4)), "as long as the right-hand side"),
        (lambda a: gs.linalg.solve_toeplitz([a[0]], a), "expected the first column and the first row"),
        (lambda a: gs.linalg.solve_toeplitz(a[0], gs.ones(4)), "expected a column and a row as long as"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(gs.eye(3))
