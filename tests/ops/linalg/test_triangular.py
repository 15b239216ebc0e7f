"""Systems with triangular matrices and Cholesky factors: sizes, dtypes, what is read, and what is refused."""

import numpy as np
import pytest

import gradsmith as gs

rng = np.random.default_rng(0)


def matrices(dtype, size, batch=(2,)):
    shape = (*batch, size, size)
    imaginary = 1j * rng.normal(size=shape) if dtype.startswith("complex") else 0
    return ((rng.normal(size=shape) + imaginary) / max(size, 1) + 2 * np.eye(size)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("size", [0, 1, 3, 49, 130])
@pytest.mark.parametrize("upper", [False, True])
def test_solutions_are_numpys(dtype, size, upper):
    """Of matrices small enough for one loop, and of those that are divided."""
    a, b = matrices(dtype, size), rng.normal(size=(2, size, 3)).astype(dtype)
    other_triangle = np.tril(np.ones((size, size)), -1) if upper else np.triu(np.ones((size, size)), 1)
    unread = np.where(other_triangle, np.nan, a).astype(dtype)
    found = gs.linalg.solve_triangular(gs.tensor(unread), gs.tensor(b), upper=upper).numpy()
    assert found.dtype == dtype
    np.testing.assert_allclose(found, np.linalg.solve((np.triu if upper else np.tril)(a), b), rtol=1e-4, atol=1e-5)


def test_strides_and_batches():
    a, b = np.triu(matrices("float64", 3, (2, 1))), rng.normal(size=(4, 3, 5))
    found = gs.linalg.solve_triangular(gs.tensor(a.mT.copy()).mT, gs.tensor(b)[:, :, ::2], upper=True)
    np.testing.assert_allclose(found.numpy(), np.linalg.solve(a, b[..., ::2]))
    assert gs.linalg.solve_triangular(gs.ones(2, 3, 3), gs.ones(3, 0), upper=True).shape == (2, 3, 0)
    absent = gs.linalg.solve_triangular(gs.ones(2, 1, 3, 3, device="meta"), gs.ones(5, 3, 1, device="meta"), upper=True)
    assert absent.is_meta and absent.shape == (2, 5, 3, 1)


def test_zeros_on_the_diagonal_divide():
    """PyTorch's answers."""
    singular = gs.tensor([[2.0, 1.0], [0.0, 0.0]])
    found = gs.linalg.solve_triangular(singular, gs.ones(2, 1), upper=True)
    np.testing.assert_array_equal(found.numpy(), [[-np.inf], [np.inf]])
    assert gs.cholesky_solve(gs.ones(2, 1), gs.zeros(2, 2)).isnan().all()
    with pytest.raises(gs.linalg.LinAlgError, match=r"\(Batch element 1\).*factor is singular"):
        gs.cholesky_inverse(gs.tensor(np.stack([np.eye(2), np.zeros((2, 2))])))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_cholesky_factors(upper, dtype):
    a = matrices(dtype, 4)
    positive = a @ a.conj().mT
    factor = gs.linalg.cholesky(gs.tensor(positive), upper=upper)
    b = rng.normal(size=(2, 4, 2)).astype(dtype)
    np.testing.assert_allclose(
        gs.cholesky_solve(gs.tensor(b), factor, upper).numpy(), np.linalg.solve(positive, b), rtol=1e-3
    )
    np.testing.assert_allclose(factor.cholesky_inverse(upper).numpy(), np.linalg.inv(positive), rtol=1e-3, atol=1e-5)
    assert gs.cholesky_inverse(gs.zeros(2, 0, 0), upper=upper).shape == (2, 0, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda a: gs.linalg.solve_triangular(a, gs.ones(2), upper=True),
            "linalg.solve_triangular: The input tensor B",
        ),
        (lambda a: gs.linalg.solve_triangular(a, gs.ones(3, 1), upper=True), r"equation AX = B \(2x2 and 3x1\)"),
        (lambda a: gs.linalg.solve_triangular(a, gs.ones(2, 1).double(), upper=True), "the same dtype"),
        (lambda a: gs.linalg.solve_triangular(a.half(), a.half(), upper=True), "Low precision"),
        (lambda a: gs.linalg.solve_triangular(gs.ones(2, 3), a, upper=True), "they are 2 by 3 matrices"),
        (lambda a: gs.linalg.solve_triangular(gs.ones(2, 3, 3), gs.ones(5, 3, 1), upper=True), "do not broadcast"),
        (lambda a: gs.cholesky_solve(gs.ones(2), a), "cholesky_solve: The input tensor B"),
        (lambda a: gs.cholesky_inverse(gs.ones(2)), "cholesky_inverse: The input tensor A must have at least 2"),
        (lambda a: gs.cholesky_inverse(a.long()), "floating point or complex"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(gs.eye(2))


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("unitriangular", [True, False])
def test_triangular_solve(dtype, upper, transpose, unitriangular):
    """The older function: the transpose is not conjugated, and a copy of the matrices comes along."""
    rng = np.random.default_rng(3)
    a = (rng.normal(size=(2, 3, 3)) + 3 * np.eye(3)).astype(dtype)
    a = a + (1j * rng.normal(size=a.shape) if dtype == "complex128" else 0)
    b = rng.normal(size=(3, 2)).astype(dtype)
    found = gs.triangular_solve(gs.tensor(b), gs.tensor(a), upper, transpose, unitriangular)
    triangle = np.triu(a) if upper else np.tril(a)
    if unitriangular:
        triangle = triangle - triangle * np.eye(3) + np.eye(3)
    np.testing.assert_allclose(found.solution.numpy(), np.linalg.solve(triangle.mT if transpose else triangle, b))
    np.testing.assert_array_equal(found.cloned_coefficient.numpy(), a)
    assert not np.shares_memory(found.cloned_coefficient.numpy(), a)
    method = gs.tensor(b).triangular_solve(gs.tensor(a[0]), upper, transpose, unitriangular)
    np.testing.assert_allclose(method.solution.numpy(), found.solution[0].numpy())
