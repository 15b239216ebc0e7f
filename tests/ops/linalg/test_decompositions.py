"""Functions of matrices against NumPy, their errors, and what proofs do not reach: dtypes, empty batches, meta."""

import numpy as np
import pytest

import gradsmith as gs

rng = np.random.default_rng(0)
SQUARE = rng.normal(size=(3, 3)) + 3 * np.eye(3)
POSITIVE = SQUARE @ SQUARE.T

UNARY = {
    "inv": (gs.linalg.inv, np.linalg.inv),
    "det": (gs.linalg.det, np.linalg.det),
    "slogdet": (gs.linalg.slogdet, np.linalg.slogdet),
    "cholesky": (gs.linalg.cholesky, np.linalg.cholesky),
    "qr": (gs.linalg.qr, np.linalg.qr),
    "eigvalsh": (gs.linalg.eigvalsh, np.linalg.eigvalsh),
    "svdvals": (gs.linalg.svdvals, lambda a: np.linalg.svd(a, compute_uv=False)),
}


def arrays(result):
    return [part.numpy() for part in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (0, 3, 3), (2, 0, 3, 3)])
def test_values_are_numpys(name, dtype, shape):
    ours, theirs = UNARY[name]
    a = np.broadcast_to(POSITIVE, shape).astype(dtype)
    expected = theirs(a)
    for found, wanted in zip(arrays(ours(gs.tensor(a))), expected if isinstance(expected, tuple) else (expected,)):
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", UNARY)
def test_what_is_refused(name):
    ours, _ = UNARY[name]
    with pytest.raises(RuntimeError, match="floating point or complex tensor as input, but got int64"):
        ours(gs.eye(3, dtype=gs.int64))
    with pytest.raises(RuntimeError, match="Low precision"):
        ours(gs.eye(3, dtype=gs.float16))
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        ours(gs.ones(3))


@pytest.mark.parametrize("name", set(UNARY) - {"qr", "svdvals"})
def test_matrices_have_to_be_square(name):
    with pytest.raises(RuntimeError, match="batches of square matrices, but they are 2 by 3 matrices"):
        UNARY[name][0](gs.ones(4, 2, 3))


@pytest.mark.parametrize("name", UNARY)
def test_matrices_without_data(name):
    found = UNARY[name][0](gs.empty(2, 3, 3, device="meta"))
    wanted = UNARY[name][0](gs.tensor(np.broadcast_to(POSITIVE, (2, 3, 3))))
    for one, other in zip(
        found if isinstance(found, tuple) else (found,), wanted if isinstance(wanted, tuple) else (wanted,)
    ):
        assert one.is_meta and one.shape == other.shape


def test_singular_matrices():
    batch = gs.tensor(np.stack([SQUARE, np.ones((3, 3))]))
    for call in (lambda: gs.linalg.inv(batch), lambda: gs.linalg.solve(batch, gs.ones(2, 3, 1, dtype=gs.float64))):
        with pytest.raises(
            gs.linalg.LinAlgError, match=r"\(Batch element 1\).* the input matrix is singular"
        ) as caught:
            call()
        assert isinstance(caught.value, np.linalg.LinAlgError) and isinstance(caught.value, RuntimeError)
    with pytest.raises(gs.linalg.LinAlgError, match=r"\(Batch element 1\).*not positive-definite"):
        gs.linalg.cholesky(gs.tensor(np.stack([POSITIVE, -POSITIVE])))
    with pytest.raises(gs.linalg.LinAlgError, match="failed to converge"):
        gs.linalg.svd(gs.full((2, 2), gs.nan))


def test_determinants_of_singular_matrices_have_gradients():
    """PyTorch's answers."""
    x = gs.tensor([[[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 0.0]]], requires_grad=True)
    x.det().sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [[[4, -2], [-2, 1]], [[0, 0], [0, 0]]], atol=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
@pytest.mark.parametrize("triangle", ["L", "U"])
def test_one_triangle_is_read(triangle, dtype):
    """Whatever stands in the other, infinities and NaN too."""
    keep = np.tril if triangle == "L" else np.triu
    matrix = (POSITIVE + 1j * (SQUARE - SQUARE.T) if dtype == "complex64" else POSITIVE).astype(dtype)
    half = matrix.copy()
    half[keep(np.ones((3, 3))) == 0] = np.nan
    a = gs.tensor(half)
    for found, wanted in (
        (gs.linalg.eigvalsh(a, triangle), np.linalg.eigvalsh(matrix)),
        (gs.linalg.eigh(a, triangle).eigenvalues, np.linalg.eigvalsh(matrix)),
        (gs.linalg.cholesky(a, upper=triangle == "U"), np.linalg.cholesky(matrix, upper=triangle == "U")),
    ):
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-4, atol=1e-5)


def test_gradients_of_one_triangle_are_those_of_both():
    """PyTorch's answers."""
    x = gs.tensor([[2.0, 9.0], [1.0, 3.0]], requires_grad=True, dtype=gs.float64)
    gs.linalg.cholesky(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), [[0.25583364, 0.19543951], [0.19543951, 0.31622777]], atol=1e-7)
    with pytest.raises(RuntimeError, match="UPLO to be 'L' or 'U', but got 'x'"):
        gs.linalg.eigh(gs.eye(2), UPLO="x")


def test_singular_values_beside_all_vectors_have_a_gradient():
    """The derivative of their squares' sum is twice the matrix."""
    x = gs.tensor(rng.normal(size=(3, 2)), requires_grad=True)
    for values in (gs.linalg.svd(x).S, gs.svd(x, some=False).S):
        (gradient,) = gs.autograd.grad(values.square().sum(), x)
        np.testing.assert_allclose(gradient.numpy(), 2 * x.detach().numpy())


def test_the_complete_qr_of_more_rows_than_columns_has_no_gradient():
    with pytest.raises(NotImplementedError, match="mode='complete'"):
        gs.linalg.qr(gs.rand(3, 2, requires_grad=True), "complete").Q.sum().backward()


def test_solve_takes_vectors_and_sides():
    a, b = gs.tensor(np.stack([SQUARE, POSITIVE])), gs.tensor(rng.normal(size=(2, 3)))
    found = gs.linalg.solve(a, b)
    np.testing.assert_allclose((a @ found[..., None])[..., 0].numpy(), b.numpy())
    np.testing.assert_allclose((gs.linalg.solve(a, b[:, None], left=False) @ a)[:, 0].numpy(), b.numpy())
    with pytest.raises(RuntimeError, match=r"Incompatible shapes of A and B for the equation AX = B \(3x3 and 2x1\)"):
        gs.linalg.solve(a[0], gs.ones(2, dtype=gs.float64))
    with pytest.raises(RuntimeError, match="same dtype"):
        gs.linalg.solve(a, b.to(gs.float32))


def cofactors(a):
    """The gradient of the determinant, from minors."""
    n = len(a)
    found = np.empty((n, n))
    for i, j in np.ndindex(n, n):
        minor = np.delete(np.delete(a, i, 0), j, 1)
        found[i, j] = (-1) ** (i + j) * np.linalg.det(minor)
    return found


@pytest.mark.parametrize("size", [2, 4, 10])
def test_gradient_of_det_where_the_inverse_is_no_help(size):
    """Singular, ill-conditioned, tiny and ordinary matrices, alone and in one batch."""
    ordinary = rng.normal(size=(size, size))
    singular, ill = ordinary.copy(), ordinary @ np.diag(10.0 ** -np.linspace(0, 12, size))
    singular[-1] = singular[0]
    tiny = ordinary * 1e-200 ** (1 / (size - 1))
    batch = np.stack([ordinary, singular, ill, tiny])
    for a in (batch, batch[:1], batch[[0, 2, 3]]):
        t = gs.tensor(a, requires_grad=True)
        t.det().sum().backward()
        for one, found in zip(a, t.grad.numpy()):
            expected = cofactors(one)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


@pytest.mark.parametrize("dtype", [gs.float64, gs.complex128])
@pytest.mark.parametrize("shape", [(4, 3), (5, 2), (2, 5), (2, 3, 5), (3, 5, 1), (2, 4, 2)])
def test_all_singular_vectors_have_gradients_where_the_loss_does_not_turn_with_their_basis(shape, dtype):
    rng = np.random.default_rng(3)
    a = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype == gs.complex128 else 0)
    weights = [gs.tensor(rng.standard_normal((n, n)), dtype=dtype) for n in shape[-2:]]

    def loss(x):
        u, s, vh = gs.linalg.svd(x)
        k = s.shape[-1]
        left = u[..., k:] @ u[..., k:].mH @ weights[0]
        right = vh[..., k:, :].mH @ vh[..., k:, :] @ weights[1]
        whole = (u[..., :k] * s[..., None, :]) @ vh[..., :k, :]
        return left.abs().square().sum() + right.abs().square().sum() + whole.abs().sum()

    x = gs.tensor(a, requires_grad=True)
    u, _, vh = gs.linalg.svd(x.detach())
    np.testing.assert_allclose((u.mH @ u).numpy(), np.broadcast_to(np.eye(shape[-2]), u.shape), atol=1e-14)
    np.testing.assert_allclose((vh.mH @ vh).numpy(), np.broadcast_to(np.eye(shape[-1]), vh.shape), atol=1e-14)
    assert gs.autograd.gradcheck(loss, x, check_forward_ad=True)
    assert gs.autograd.gradgradcheck(loss, x)


def test_a_loss_that_depends_on_the_basis_of_further_singular_vectors_is_an_error():
    x = gs.rand(5, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match="any basis of what is orthogonal to the others.*full_matrices=False"):
        gs.linalg.svd(x).U.sum().backward()
    u, s, vh = gs.linalg.svd(x)
    ((u[:, :2] * s) @ vh).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.ones((5, 2)), rtol=1e-5)
