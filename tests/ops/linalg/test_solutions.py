"""Functions that give a number instead of an error, least squares, tensor equations and products of reflections."""

import numpy as np
import pytest

import gradsmith as gs

rng = np.random.default_rng(0)


def matrices(dtype, *shape):
    imaginary = 1j * rng.normal(size=shape) if dtype.startswith("complex") else 0
    return (rng.normal(size=shape) + imaginary).astype(dtype)


# ---- a number instead of an error


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (0, 3, 3), (0, 0), (40, 40)])
def test_regular_matrices(dtype, shape):
    a, b = matrices(dtype, *shape), matrices(dtype, *shape[:-1], 2)
    positive = a @ a.conj().mT + np.eye(shape[-1], dtype=dtype)
    for found, wanted in (
        (gs.linalg.inv_ex(gs.tensor(a)), np.linalg.inv(a)),
        (gs.linalg.solve_ex(gs.tensor(a), gs.tensor(b)), np.linalg.solve(a, b)),
        (gs.linalg.cholesky_ex(gs.tensor(positive), upper=True), np.linalg.cholesky(positive, upper=True)),
    ):
        assert found[0].dtype == dtype and found.info.dtype == gs.int32 and found.info.shape == shape[:-2]
        np.testing.assert_allclose(found[0].numpy(), wanted, rtol=5e-3, atol=5e-3)
        assert not found.info.any()


def test_singular_matrices():
    """PyTorch's answers and errors."""
    batch = gs.tensor(np.stack([np.eye(2), [[1.0, 2.0], [2.0, 4.0]], np.zeros((2, 2))]))
    found = gs.linalg.inv_ex(batch)
    np.testing.assert_array_equal(
        found.inverse.numpy(), [np.eye(2), [[-np.inf, np.inf], [np.inf, -np.inf]], [[np.nan, np.nan], [np.nan, np.inf]]]
    )
    assert found.info.tolist() == [0, 2, 1]
    solved = gs.linalg.solve_ex(batch, gs.ones(2, dtype=gs.float64))
    np.testing.assert_array_equal(solved.result.numpy(), [[1, 1], [-np.inf, np.inf], [np.nan, np.inf]])
    assert solved.info.tolist() == [0, 2, 1]
    with pytest.raises(gs.linalg.LinAlgError, match=r"inv_ex: \(Batch element 1\): The diagonal element 2 is zero"):
        gs.linalg.inv_ex(batch, check_errors=True)
    with pytest.raises(gs.linalg.LinAlgError, match=r"solve_ex: .* the input matrix is singular"):
        gs.linalg.solve_ex(batch, batch, check_errors=True)


def test_matrices_that_are_not_positive():
    batch = gs.tensor(np.stack([np.eye(3), np.diag([1.0, -1.0, 1.0]), np.diag([4.0, 9.0, 0.0])]))
    found = gs.linalg.cholesky_ex(batch)
    assert found.info.tolist() == [0, 2, 3]
    assert (
        found.L[1].tolist() == np.diag([1.0, -1.0, 1.0]).tolist()
        and found.L[2].tolist() == np.diag([2.0, 3.0, 0.0]).tolist()
    )
    with pytest.raises(gs.linalg.LinAlgError, match=r"\(Batch element 1\).*leading minor of order 2 is not positive"):
        gs.linalg.cholesky_ex(batch, check_errors=True)


# ---- least squares and tensors


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (3, 3)])
def test_least_squares_are_numpys(dtype, shape):
    a, b = matrices(dtype, *shape), matrices(dtype, shape[0], 2)
    found = gs.linalg.lstsq(gs.tensor(a), gs.tensor(b))
    solution, residuals, rank, values = np.linalg.lstsq(a, b)
    np.testing.assert_allclose(found.solution.numpy(), solution, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(found.residuals.numpy(), residuals, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(found.singular_values.numpy(), values, rtol=1e-3)
    assert found.rank.item() == rank and found.rank.dtype == gs.int64
    vector = gs.linalg.lstsq(gs.tensor(a), gs.tensor(b[:, 0]), driver="gelsd").solution
    np.testing.assert_allclose(vector.numpy(), solution[:, 0], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("rank", [0, 3, 40])
@pytest.mark.parametrize("scale", [1e-150, 1, 1e150])
def test_least_squares_of_many_equations(scale, rank, dtype):
    a, b = matrices(dtype, 2, 400, 40), matrices(dtype, 2, 400, 3)
    scale = scale if np.finfo(dtype).bits == 64 else scale ** (1 / 15)
    if rank < 40:
        a = np.einsum("bir,brj->bij", a[..., :rank], a[:, :rank])
    a, least = (a * scale).astype(dtype), 20 * np.finfo(dtype).eps
    found = gs.linalg.lstsq(gs.tensor(a), gs.tensor(b), rcond=1e-4, driver="gelsd")
    for one, right, solution, values in zip(a, b, found.solution.numpy(), found.singular_values.numpy(), strict=True):
        expected, _, _, exact = np.linalg.lstsq(one.astype(complex) / scale, right.astype(complex), rcond=1e-4)
        np.testing.assert_allclose(solution * scale, expected, atol=least * max(1, np.abs(expected).max()))
        np.testing.assert_allclose(values / scale, exact, atol=least * max(1, exact[0]))
    assert found.rank.tolist() == [rank, rank]


def test_what_is_no_number_stays_in_its_right_side():
    a, b = matrices("float64", 30, 4), matrices("float64", 30, 3)
    wanted = np.linalg.lstsq(a, b)[0]
    b[7, 1] = np.nan
    found = gs.linalg.lstsq(gs.tensor(a), gs.tensor(b)).solution.numpy()
    assert np.isnan(found[:, 1]).all()
    np.testing.assert_allclose(found[:, [0, 2]], wanted[:, [0, 2]])
    a[3, 3] = np.nan
    with pytest.raises(RuntimeError, match="lstsq"):
        gs.linalg.lstsq(gs.tensor(a), gs.tensor(b))


def test_rank_of_least_squares():
    a = np.outer([1.0, 2.0, 3.0], [1.0, 1.0])
    found = gs.linalg.lstsq(gs.tensor(a), gs.tensor([[1.0], [2.0], [3.0]], dtype=gs.float64))
    assert found.rank.item() == 1
    np.testing.assert_allclose(found.solution.numpy(), [[0.5], [0.5]])
    assert gs.linalg.lstsq(gs.eye(2), gs.ones(2, 1), rcond=2.0).rank.item() == 0
    assert gs.linalg.lstsq(gs.ones(0, 3), gs.ones(0, 2)).solution.tolist() == [[0, 0]] * 3


@pytest.mark.parametrize("batch", [(), (1,), (3, 1)])
def test_a_matrix_for_several_right_sides_is_described_once(batch):
    a, b = matrices("float64", *batch, 4, 3), matrices("float64", 3, 2, 4, 5)
    found = gs.linalg.lstsq(gs.tensor(a, requires_grad=True), gs.tensor(b), driver="gelsd")
    assert found.solution.shape == (3, 2, 3, 5) and found.residuals.shape == (3, 2, 5)
    assert gs.equal(found.rank, gs.linalg.matrix_rank(gs.tensor(a)))
    np.testing.assert_allclose(found.singular_values.detach().numpy(), np.linalg.svdvals(a))
    assert gs.autograd.gradcheck(
        lambda a: gs.linalg.lstsq(a, gs.tensor(b), driver="gelsd").singular_values, gs.tensor(a, requires_grad=True)
    )


def test_what_is_left_where_it_is_known():
    """Sums of squares of more equations than unknowns, of full rank; nothing otherwise, nor with the driver gelsy."""
    a, b = matrices("float64", 2, 4, 3), matrices("float64", 2, 4, 2)
    found = gs.linalg.lstsq(gs.tensor(a), gs.tensor(b), driver="gels")
    np.testing.assert_allclose(found.residuals.numpy(), ((b - a @ found.solution.numpy()) ** 2).sum(-2))
    lacking = a.copy()
    lacking[1, :, 2] = lacking[1, :, 0]
    complex_a = gs.tensor(a + 1j * a[::-1], requires_grad=True)
    for residuals in (
        gs.linalg.lstsq(gs.tensor(a), gs.tensor(b), driver="gelsy").residuals,
        gs.linalg.lstsq(gs.tensor(lacking), gs.tensor(b)).residuals,
        gs.linalg.lstsq(gs.tensor(a[:, :3]), gs.tensor(b[:, :3])).residuals,
        gs.linalg.lstsq(gs.tensor(a[:, :2]), gs.tensor(b[:, :2, 0])).residuals,
        gs.linalg.lstsq(complex_a, gs.tensor(b + 0j), driver="gelsy").residuals,
    ):
        assert residuals.shape == (0,) and residuals.dtype == gs.float64
    each = gs.vmap(lambda a, b: gs.linalg.lstsq(a, b).residuals)(gs.tensor(a), gs.tensor(b))
    np.testing.assert_allclose(each.numpy(), found.residuals.numpy())


@pytest.mark.parametrize(
    ("driver", "has"),
    [
        ("gels", ("residuals",)),
        ("gelsy", ("rank",)),
        ("gelsd", ("residuals", "rank", "singular_values")),
        ("gelss", ("residuals", "rank", "singular_values")),
    ],
)
def test_drivers_find_out_what_those_of_pytorch_do(driver, has):
    a, b = gs.tensor(matrices("float64", 2, 4, 3), requires_grad=True), gs.tensor(matrices("float64", 2, 4, 2))
    found, whole = gs.linalg.lstsq(a, b, driver=driver), gs.linalg.lstsq(a, b)
    assert found.solution.tolist() == whole.solution.tolist()
    for name in ("residuals", "rank", "singular_values"):
        value, wanted = getattr(found, name), getattr(whole, name)
        assert value.dtype == wanted.dtype
        assert value.tolist() == (wanted.tolist() if name in has else [])
    assert gs.equal(*(gs.autograd.grad(solution.sum(), a)[0] for solution in (found.solution, whole.solution)))


def test_gels_takes_every_matrix_for_one_of_full_rank():
    lacking = gs.tensor([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    assert gs.linalg.lstsq(lacking, gs.ones(3, 1), driver="gels").residuals.shape == (1,)
    assert gs.linalg.lstsq(lacking, gs.ones(3, 1), driver="gelsd").residuals.shape == (0,)


def test_equations_of_tensors():
    a, b = matrices("float64", 2, 3, 6), matrices("float64", 2, 3)
    np.testing.assert_allclose(gs.linalg.tensorsolve(gs.tensor(a), gs.tensor(b)).numpy(), np.linalg.tensorsolve(a, b))
    moved = np.moveaxis(a, -1, 1)
    found = gs.linalg.tensorsolve(gs.tensor(moved), gs.tensor(b), dims=(-2,))
    np.testing.assert_allclose(found.numpy(), np.linalg.tensorsolve(a, b))
    np.testing.assert_allclose(gs.linalg.tensorinv(gs.tensor(a)).numpy(), np.linalg.tensorinv(a))


# ---- reflections


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_reflections_of_qr(dtype):
    """What LAPACK stores of a QR decomposition."""
    a = matrices(dtype, 5, 3)
    stored, tau = np.linalg.qr(a, "raw")
    stored, tau = gs.tensor(stored.T.copy()), gs.tensor(tau)
    wanted = np.linalg.qr(a).Q
    for found in (gs.linalg.householder_product(stored, tau), gs.orgqr(stored, tau), stored.orgqr(tau)):
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-4, atol=1e-5)
    whole, other = np.linalg.qr(a, "complete").Q, matrices(dtype, 5, 2)
    np.testing.assert_allclose(gs.ormqr(stored, tau, gs.tensor(other)).numpy(), whole @ other, rtol=1e-4, atol=1e-5)
    turned = gs.ormqr(stored, tau, gs.tensor(other.T.copy()), left=False, transpose=True)
    np.testing.assert_allclose(turned.numpy(), other.T @ whole.conj().T, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("shape", [(5, 3), (3, 3), (3, 5), (2, 4, 3), (0, 3)])
def test_parts_of_qr(dtype, shape):
    a = matrices(dtype, *shape)
    stored, tau = gs.geqrf(gs.tensor(a))
    assert tau.shape == (*shape[:-2], min(shape[-2:])) and stored.shape == a.shape
    if shape[-2] >= shape[-1]:
        product = gs.linalg.householder_product(stored, tau) @ stored.triu()[..., : shape[-1], :]
        np.testing.assert_allclose(product.numpy(), a, rtol=1e-4, atol=1e-5)
    else:
        whole = gs.linalg.householder_product(stored[..., : shape[-2]].contiguous(), tau)
        np.testing.assert_allclose((whole @ stored.triu()).numpy(), a, rtol=1e-4, atol=1e-5)


def test_parts_of_qr_have_no_derivative():
    x = gs.ones(2, 2, requires_grad=True)
    with pytest.raises(NotImplementedError, match="geqrf"):
        x.geqrf().a.sum().backward()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda a: gs.geqrf(a[0]), "geqrf: The input tensor A must have at least 2 dimensions"),
        (lambda a: gs.linalg.inv_ex(gs.ones(2, 3)), "inv_ex: A must be batches of square matrices"),
        (lambda a: gs.linalg.solve_ex(a, gs.ones(2, 1)), r"linalg.solve_ex: Incompatible shapes .* \(3x3 and 2x1\)"),
        (lambda a: gs.linalg.solve_ex(a, gs.ones(3, 1).double()), "the same dtype"),
        (lambda a: gs.linalg.cholesky_ex(a.half()), "Low precision"),
        (lambda a: gs.linalg.lstsq(a, gs.ones(2, 1)), "lstsq: input.size"),
        (lambda a: gs.linalg.lstsq(a[0], a), "lstsq: The input tensor A must have at least 2 dimensions"),
        (lambda a: gs.linalg.lstsq(a, a, driver="qr"), r"one of \(gels, gelsy, gelsd, gelss\), but got 'qr'"),
        (lambda a: gs.linalg.tensorsolve(a[:2], a[0, :2]), r"tensorsolve: .* those of sizes \[2, 3\] have 2 and 3"),
        (lambda a: gs.linalg.tensorinv(a[:2], 1), r"tensorinv: .* those of sizes \[2, 3\] have 2 and 3"),
        (lambda a: gs.linalg.tensorinv(a, 0), "strictly positive integer for 'ind'"),
        (lambda a: gs.orgqr(a[:2], a[0, :2]), "the input is 2 by 3"),
        (lambda a: gs.orgqr(a, gs.ones(4)), "they are 3 and 4"),
        (lambda a: gs.orgqr(a, a), "expected tau to have one dimension less than input"),
        (lambda a: gs.orgqr(a, a[0].double()), "the same dtype"),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(RuntimeError, match=message):
        call(gs.eye(3))
