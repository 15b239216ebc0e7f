"""``linalg.ldl_factor`` and ``ldl_solve``, by what their factors multiply to and solve."""

import numpy as np
import pytest

import gradsmith as gs

rng = np.random.default_rng(0)


def symmetric(dtype, hermitian, *shape):
    a = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype.startswith("complex") else 0)
    return (a + (a.conj().mT if hermitian else a.mT)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (2, 5, 5), (70, 70), (0, 3, 3), (0, 0)])
def test_factors_solve(dtype, hermitian, shape):
    a = symmetric(dtype, hermitian, *shape)
    factors = gs.linalg.ldl_factor(gs.tensor(a), hermitian=hermitian)
    assert factors.LD.dtype == dtype and factors.pivots.dtype == gs.int32 and factors.pivots.shape == shape[:-1]
    b = symmetric(dtype, False, *shape)[..., :2]
    found = gs.linalg.ldl_solve(*factors, gs.tensor(b), hermitian=hermitian).numpy()
    np.testing.assert_allclose(a @ found, b, atol=2e-3 if dtype in ("float32", "complex64") else 1e-10)


def test_pivots_of_two_rows():
    """LAPACK's numbers, which PyTorch gives too; the upper triangle is not read."""
    factors = gs.linalg.ldl_factor(gs.tensor([[0.0, 9.0, 9.0], [1.0, 0.0, 9.0], [2.0, 3.0, 0.0]]))
    assert factors.pivots.tolist() == [-3, -3, 3]
    np.testing.assert_allclose(factors.LD.numpy(), [[0, 0, 0], [2, 0, 0], [1.5, 0.5, -3]])


@pytest.mark.parametrize("hermitian", [False, True])
def test_gradient_in_the_right_hand_side(hermitian):
    a = symmetric("complex128", hermitian, 3, 3)
    b = gs.tensor(symmetric("complex128", False, 3, 3), requires_grad=True)
    factors = gs.linalg.ldl_factor(gs.tensor(a), hermitian=hermitian)
    (found,) = gs.autograd.grad(gs.linalg.ldl_solve(*factors, b, hermitian=hermitian).abs().square().sum(), b)
    (wanted,) = gs.autograd.grad(gs.linalg.solve(gs.tensor(a), b).abs().square().sum(), b)
    np.testing.assert_allclose(found.numpy(), wanted.numpy())


def test_complex_right_hand_side_of_a_real_matrix():
    a, b = symmetric("float64", False, 3, 3), symmetric("complex128", False, 3, 3)
    factors = gs.linalg.ldl_factor(gs.tensor(a))
    np.testing.assert_allclose(gs.linalg.ldl_solve(*factors, gs.tensor(b)).numpy(), np.linalg.solve(a, b))


def test_singular_matrices():
    batch = gs.tensor(np.stack([np.eye(2), np.zeros((2, 2)), np.diag([1.0, 0.0])]))
    assert gs.linalg.ldl_factor_ex(batch).info.tolist() == [0, 1, 2]
    with pytest.raises(gs.linalg.LinAlgError, match=r"ldl_factor: \(Batch element 1\): D\[1,1\] is zero"):
        gs.linalg.ldl_factor(batch)
    with pytest.raises(gs.linalg.LinAlgError, match="ldl_factor_ex: .* is zero"):
        gs.linalg.ldl_factor_ex(batch, check_errors=True)


def test_matrices_without_data():
    factors = gs.linalg.ldl_factor(gs.empty(2, 3, 3, device="meta"))
    assert factors.LD.is_meta and factors.LD.shape == (2, 3, 3) and factors.pivots.shape == (2, 3)
    assert gs.linalg.ldl_solve(*factors, gs.empty(3, 4, device="meta")).shape == (2, 3, 4)


def test_factors_have_no_gradient():
    """A gradient in the matrix is one of `linalg.solve`."""
    a = gs.eye(2, requires_grad=True)
    with pytest.raises(NotImplementedError, match="linalg.ldl_factor"):
        gs.linalg.ldl_factor(a).LD.sum().backward()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a, p: gs.linalg.ldl_factor(a[:2]), "ldl_factor: A must be batches of square matrices"),
        (lambda a, p: gs.linalg.ldl_factor(a[0]), "ldl_factor: The input tensor A must have at least 2 dimensions"),
        (lambda a, p: gs.linalg.ldl_factor(a.long()), "floating point or complex"),
        (lambda a, p: gs.linalg.ldl_factor(a.half()), "Low precision"),
        (lambda a, p: gs.linalg.ldl_solve(a, p, a[0]), "The input tensor B must have at least 2 dimensions"),
        (lambda a, p: gs.linalg.ldl_solve(a, p, a[:2]), "each A matrix is 3 by 3 but each b matrix is 2 by 3"),
        (lambda a, p: gs.linalg.ldl_solve(a, p[:2], a), r"3 integers for each matrix, but got int64 of size \[2\]"),
        (lambda a, p: gs.linalg.ldl_solve(a, p.float(), a), "but got float32"),
        (lambda a, p: gs.linalg.ldl_solve(a, p + 1, a), r"pivots \[2, 3, 4\] are not those of linalg.ldl_factor"),
        (lambda a, p: gs.linalg.ldl_solve(a, p - 1, a), "are not those of linalg.ldl_factor"),
        (lambda a, p: gs.linalg.ldl_solve(a, -p, a), "are not those of linalg.ldl_factor"),
        (lambda a, p: gs.linalg.ldl_solve(a, gs.tensor([1, 2, -3]), a), "are not those of linalg.ldl_factor"),
        (lambda a, p: gs.linalg.ldl_solve(a.expand(2, 3, 3), p, a.expand(4, 3, 3)), "do not broadcast"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(gs.eye(3), gs.tensor([1, 2, 3]))


@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("dtype", [gs.float32, gs.complex128])
def test_a_pivot_that_is_nan_ends_nothing_and_writes_nowhere(dtype, hermitian):
    """As the last pivot it was taken for one of two rows, the second of which is behind the matrix."""
    for n in range(1, 5):
        a = gs.eye(n, dtype=dtype)
        a[-1, -1] = np.nan
        _, pivots, info = gs.linalg.ldl_factor_ex(a.expand(50, n, n), hermitian=hermitian)
        assert pivots.tolist() == [list(range(1, n + 1))] * 50 and info.tolist() == [n] * 50
    with pytest.raises(RuntimeError, match=r"ldl_factor: D\[4,4\] is zero"):
        gs.linalg.ldl_factor(a, hermitian=hermitian)


def test_matrices_of_nan_and_infinities_are_factored():
    random = np.random.default_rng(0)
    for _ in range(300):
        n = random.integers(1, 6)
        a = random.choice([np.nan, np.inf, -np.inf, 0.0, 1.0, -2.0], (3, n, n))
        _, pivots, info = gs.linalg.ldl_factor_ex(gs.tensor(a))
        assert np.all(np.abs(pivots.numpy()) <= n) and np.all(info.numpy() <= n)


@pytest.mark.parametrize("pivots", [[3, 1, 3], [-3, -3, 1], [1, -2, -2], [-1, -1, 3]])
def test_pivots_of_rows_that_are_done_are_none(pivots):
    """A row that an earlier step has taken is no pivot: LAPACK never gives such numbers."""
    with pytest.raises(RuntimeError, match=r"ldl_solve: pivots .* are not those of linalg.ldl_factor"):
        gs.linalg.ldl_solve(gs.eye(3), gs.tensor(pivots, dtype=gs.int32), gs.ones(3, 1))
