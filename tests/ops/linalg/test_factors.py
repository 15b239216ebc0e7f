"""Systems, inverses and determinants by factors: values, gradients, layouts, singular matrices, and what is kept."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.runtime.arrays import array
from gradsmith.runtime.arrays.functions.algebra import factored
from gradsmith.runtime.arrays.functions.algebra.factors import elimination, substitution

rng = np.random.default_rng(3)

DTYPES = ["float32", "float64", "complex64", "complex128"]
TOLERANCES = {"float32": 2e-4, "complex64": 2e-4, "float64": 1e-11, "complex128": 1e-11}
# Around the panels of elimination and the leaves of substitution, and where products of each kind are used.
SIZES = [6, 9, 16, 17, 31, 33, 100, 161]


def normal(dtype, *shape):
    imaginary = 1j * rng.normal(size=shape) if dtype.startswith("complex") else 0
    return (rng.normal(size=shape) + imaginary).astype(dtype)


def sound(dtype, *shape):
    """Matrices that lose few digits."""
    return normal(dtype, *shape) / np.sqrt(shape[-1]).astype(dtype) + 2 * np.eye(shape[-1], dtype=dtype)


def close(found, wanted, dtype):
    assert found.dtype == wanted.dtype
    size = np.abs(wanted).max(initial=0)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=TOLERANCES[dtype] * max(size, 1e-30))


def adjoint(a):
    return a.conj().mT


@pytest.fixture(params=["auto", "blas"])
def products(request):
    array.set_matmul_backend(request.param)
    yield
    array.set_matmul_backend("auto")


# ---- values and gradients


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.usefixtures("products")
def test_solutions_and_their_gradients(dtype, n):
    a = sound(dtype, n, n)
    for k in (1, 2, 5, n):
        b, weights = normal(dtype, n, k), normal(dtype, n, k)
        x, y = gs.tensor(a, requires_grad=True), gs.tensor(b, requires_grad=True)
        result = gs.linalg.solve(x, y)
        close(result.detach().numpy(), np.linalg.solve(a, b), dtype)
        result.backward(gs.tensor(weights))
        wanted = np.linalg.solve(adjoint(a), weights)
        close(y.grad.numpy(), wanted, dtype)
        close(x.grad.numpy(), -wanted @ adjoint(np.linalg.solve(a, b)), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape", [(n, n) for n in SIZES[:-1]] + [(3, 10, 10), (2, 3, 20, 20), (0, 7, 7), (0, 0), (2, 0, 0)]
)
@pytest.mark.usefixtures("products")
def test_inverses_and_determinants(dtype, shape):
    a = sound(dtype, *shape)
    close(gs.linalg.inv(gs.tensor(a)).numpy(), np.linalg.inv(a), dtype)
    x = gs.tensor(a, requires_grad=True)
    det = gs.linalg.det(x)
    close(det.detach().numpy(), np.asarray(np.linalg.det(a), dtype), dtype)
    det.backward(gs.ones(shape[:-2], dtype=dtype))
    close(x.grad.numpy(), adjoint(np.asarray(np.linalg.det(a), dtype)[..., None, None] * np.linalg.inv(a)), dtype)
    x = gs.tensor(a, requires_grad=True)
    sign, logarithm = gs.linalg.slogdet(x)
    for found, wanted in zip((sign, logarithm), np.linalg.slogdet(a)):
        close(found.detach().numpy(), np.asarray(wanted), dtype)
    logarithm.sum().backward()
    close(x.grad.numpy(), adjoint(np.linalg.inv(a)), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(5, 5), (16, 40), (40, 16), (17, 100), (100, 17), (170, 90), (3, 20, 7)])
@pytest.mark.usefixtures("products")
def test_factors(dtype, shape):
    """The product is the matrix, and no factor is larger than its pivot."""
    a = normal(dtype, *shape)
    factors, pivots = elimination.eliminate(a)
    steps = min(shape[-2:])
    lower, upper = np.tril(factors[..., :steps], -1) + np.eye(shape[-2], steps), np.triu(factors[..., :steps, :])
    close((lower @ upper).astype(dtype), elimination.exchange_rows(a, pivots, False), dtype)
    np.testing.assert_array_equal(
        elimination.exchange_rows(elimination.exchange_rows(a, pivots, False), pivots, True), a
    )
    assert np.abs(lower).max() <= (1.42 if dtype.startswith("complex") else 1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("unitriangular", [True, False])
@pytest.mark.usefixtures("products")
def test_triangular_systems(dtype, upper, unitriangular):
    """Of all layouts; the other triangle is NaN, and so is a diagonal that counts as ones."""
    for n in (3, 16, 40, 161):
        whole = normal(dtype, n, n) / n
        np.fill_diagonal(whole, 1 if unitriangular else 2)
        half = np.triu(whole) if upper else np.tril(whole)
        whole[np.tril_indices(n, -1) if upper else np.triu_indices(n, 1)] = np.nan
        if unitriangular:
            np.fill_diagonal(whole, np.nan)
        for k in (1, 3, 70):
            b = normal(dtype, n, k)
            spread = np.repeat(np.repeat(whole, 2, 0), 2, 1)[::2, ::2]
            for a in (whole, np.asfortranarray(whole), spread, whole[::-1, ::-1].copy()[::-1, ::-1]):
                found = substitution.substitute(a, b, upper, unitriangular)
                close(found, np.linalg.solve(half, b), dtype)


def test_layouts_of_matrices():
    """Transposed, reversed, strided and repeated."""
    a, b = sound("float64", 3, 12, 12), normal("float64", 3, 12, 2)
    x, y = gs.tensor(a), gs.tensor(b)
    close(gs.linalg.solve(x.mT, y).numpy(), np.linalg.solve(a.mT, b), "float64")
    close(gs.linalg.solve(x.flip(1, 2), y.flip(0)).numpy(), np.linalg.solve(a[:, ::-1, ::-1], b[::-1]), "float64")
    close(gs.linalg.solve(x[:, ::2, ::2], y[:, ::2]).numpy(), np.linalg.solve(a[:, ::2, ::2], b[:, ::2]), "float64")
    close(gs.linalg.solve(x[:1].expand(3, -1, -1), y).numpy(), np.linalg.solve(a[:1], b), "float64")
    close(gs.linalg.solve(x[0], y).numpy(), np.linalg.solve(a[0], b), "float64")
    close(gs.linalg.solve(x, y[0]).numpy(), np.linalg.solve(a, b[0]), "float64")
    close(gs.linalg.solve(x[:, None], y).numpy(), np.linalg.solve(a[:, None], b), "float64")
    swapped = a.astype(a.dtype.newbyteorder())
    for found, wanted in zip(elimination.eliminate(swapped), elimination.eliminate(a)):
        np.testing.assert_array_equal(found, wanted)


# ---- what is kept, and what follows from that


def test_backward_and_forward_mode_use_the_factors_of_forward(monkeypatch):
    eliminated = []

    def counted(a):
        eliminated.append(a.shape)
        return elimination.eliminate(a)

    monkeypatch.setattr(factored, "eliminate", counted)
    a, b = gs.tensor(sound("float64", 12, 12), requires_grad=True), gs.tensor(normal("float64", 12, 2))
    for function in (
        lambda a: gs.linalg.solve(a, b),
        gs.linalg.det,
        lambda a: gs.linalg.slogdet(a).logabsdet,
        gs.logdet,
    ):
        eliminated.clear()
        (first,) = gs.autograd.grad(function(a).sum(), a, create_graph=True)
        gs.autograd.grad(first.sum(), a)
        gs.func.jvp(function, (a.detach(),), (gs.ones(12, 12, dtype=gs.float64),))
        assert eliminated == [(12, 12)] * 2  # once for each of two calls
    eliminated.clear()
    gs.vmap(lambda b: gs.linalg.solve(a, b))(gs.tensor(normal("float64", 5, 12, 2)))
    gs.func.jacrev(lambda a: gs.linalg.solve(a, b))(a.detach())
    assert eliminated == [(12, 12)] * 2
    gs.linalg.solve_ex(a, b, check_errors=True)
    gs.linalg.solve_ex(a, b.mT, left=False)
    gs.linalg.solve_ex(a, b[:, 0])
    gs.linalg.inv_ex(a)
    assert len(eliminated) == 6


def test_a_changed_matrix_is_noticed():
    a = gs.tensor(sound("float64", 12, 12), requires_grad=True)
    changed = a * 1
    loss = gs.linalg.solve(changed, gs.ones(12, 1, dtype=gs.float64)).sum()
    changed.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_derivatives_of_higher_order(dtype):
    """By differences; of a determinant at size 9 too, where it is computed by factors."""
    a = gs.tensor(sound(dtype, 9, 9), requires_grad=True)
    b = gs.tensor(normal(dtype, 9, 1), requires_grad=True)
    options = {"fast_mode": True, "check_forward_ad": True}
    for function, inputs in (
        (gs.linalg.solve, (a, b)),
        (gs.linalg.det, (a,)),
        (gs.linalg.slogdet if dtype == "complex128" else lambda a: gs.linalg.slogdet(a).logabsdet, (a,)),
        (lambda a: gs.linalg.inv_ex(a).inverse, (a,)),
    ):
        assert gs.autograd.gradcheck(function, inputs, **options)
        assert gs.autograd.gradgradcheck(function, inputs, fast_mode=True)


def test_the_same_bits_in_every_run_and_for_every_number_of_threads():
    a, b = sound("float64", 200, 200), normal("float64", 200, 200)

    def bits():
        factors, pivots = elimination.eliminate(a)
        parts = factors, pivots, elimination.solve_by_factors(factors, pivots, b, True)
        return [part.tobytes() for part in (*parts, elimination.invert_by_factors(factors, pivots))]

    threads, first = gs.get_num_threads(), bits()
    try:
        for number in (1, 2, 4):
            gs.set_num_threads(number)
            assert bits() == first
    finally:
        gs.set_num_threads(threads)


def test_many_matrices_on_several_threads():
    a, b = sound("float64", 50, 24, 24), normal("float64", 50, 24, 3)
    threads = gs.get_num_threads()
    try:
        gs.set_num_threads(4)
        close(gs.linalg.solve(gs.tensor(a), gs.tensor(b)).numpy(), np.linalg.solve(a, b), "float64")
        close(gs.linalg.inv(gs.tensor(a)).numpy(), np.linalg.inv(a), "float64")
    finally:
        gs.set_num_threads(threads)


# ---- singular matrices, and numbers at the end of their range


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [9, 40])
def test_singular_matrices(dtype, n):
    a = sound(dtype, 3, n, n)
    a[1, :, 4] = 0
    x = gs.tensor(a, requires_grad=True)
    with pytest.raises(gs.linalg.LinAlgError, match=r"linalg.solve: \(Batch element 1\): The solver failed because"):
        gs.linalg.solve(x, x)
    with pytest.raises(gs.linalg.LinAlgError, match=r"linalg.inv: \(Batch element 1\): the inversion could not be"):
        gs.linalg.inv(x)
    with pytest.raises(
        gs.linalg.LinAlgError, match=r"\(Batch element 1\): The diagonal element 5 is zero, the solution"
    ):
        gs.linalg.solve_ex(x, x, check_errors=True)
    inverse, info = gs.linalg.inv_ex(x)
    assert info.tolist() == [0, 5, 0] and not inverse[1].isfinite().all() and inverse[2].isfinite().all()
    det = gs.linalg.det(x)
    assert det.tolist()[1] == 0
    det.backward(gs.ones(3, dtype=dtype))
    assert gs.isfinite(x.grad).all()
    cofactor = np.linalg.det(np.delete(np.delete(a[1], 0, 0), 4, 1))
    np.testing.assert_allclose(x.grad[1, 0, 4].item(), np.conj(cofactor), rtol=20 * TOLERANCES[dtype])
    sign, logarithm = gs.linalg.slogdet(gs.tensor(a))
    assert sign[1].item() == 0 and logarithm[1].item() == -np.inf


def test_zeros_nan_and_infinities():
    zero = np.zeros((20, 20))
    factors, pivots = elimination.eliminate(zero)
    np.testing.assert_array_equal(factors, zero)
    np.testing.assert_array_equal(pivots, np.arange(1, 21))
    a = sound("float64", 20, 20)
    for place in ((0, 0), (3, 17), (17, 3), (19, 19)):
        broken = a.copy()
        broken[place] = np.nan
        assert np.isnan(gs.linalg.solve(gs.tensor(broken), gs.ones(20, dtype=gs.float64)).numpy()).all()
        assert np.isnan(gs.linalg.det(gs.tensor(broken)).item())
    huge = np.diag(np.full(20, np.inf))
    assert gs.linalg.det(gs.tensor(huge)).item() == np.inf


def test_pivots_at_the_end_of_the_range():
    """The reciprocal of a denormal pivot is infinite."""
    a = np.diag(np.full(20, 1.0)) + np.eye(20, k=-1)
    np.testing.assert_array_equal(elimination.eliminate(a * 5e-310)[0], np.where(np.eye(20) == 1, a * 5e-310, a))


def test_determinants_whose_product_leaves_the_range_on_the_way():
    sizes = np.repeat([1e200, 1e-200], 5)
    for diagonal in (sizes, sizes[::-1].copy()):
        np.testing.assert_allclose(gs.linalg.det(gs.tensor(np.diag(diagonal))).item(), 1, rtol=1e-12)
        np.testing.assert_allclose(gs.linalg.det(gs.tensor(np.diag(-1j * diagonal))).item(), -1, rtol=1e-12)
    assert gs.linalg.det(gs.tensor(np.diag(np.full(9, 1e200)))).item() == np.inf
    assert gs.linalg.det(gs.tensor(np.diag(np.full(9, 1e-200)))).item() == 0


# ---- no data, and what is refused


def test_tensors_without_data():
    a, b = gs.ones(2, 9, 9, device="meta", requires_grad=True), gs.ones(3, 1, 9, 4, device="meta", requires_grad=True)
    gs.linalg.solve(a, b).sum().backward()
    assert a.grad.shape == a.shape and b.grad.shape == b.shape and a.grad.device.type == "meta"
    for function in (gs.linalg.det, gs.linalg.inv, lambda a: gs.linalg.slogdet(a).logabsdet):
        function(a).sum().backward()
    assert [part.shape for part in gs.linalg.lu(a)] == [(2, 9, 9)] * 3


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: elimination.eliminate(np.ones(3)), TypeError),
        (lambda: elimination.eliminate(np.ones((3, 3), np.int64)), TypeError),
        (lambda: elimination.eliminate(np.ones((3, 3), np.longdouble)), TypeError),
        (lambda: elimination.solve_by_factors(np.eye(3), np.ones(3), np.eye(3), False), TypeError),
        (lambda: elimination.solve_by_factors(np.eye(3), np.ones(2, np.int32), np.eye(3), False), TypeError),
        (lambda: elimination.solve_by_factors(np.eye(3), np.full(3, 4, np.int32), np.eye(3), False), RuntimeError),
        (lambda: elimination.solve_by_factors(np.eye(3), np.zeros(3, np.int32), np.eye(3), True), RuntimeError),
        (lambda: elimination.solve_by_factors(np.eye(3), np.ones(3, np.int32), np.eye(4), False), TypeError),
        (lambda: elimination.solve_by_factors(np.eye(3), np.ones(3, np.int32), np.eye(3, dtype="f"), False), TypeError),
        (
            lambda: elimination.solve_by_factors(
                np.ones((2, 3, 3)), np.ones((2, 3), np.int32), np.ones((4, 3, 3)), False
            ),
            TypeError,
        ),
        (lambda: elimination.invert_by_factors(np.ones((2, 3)), np.ones(3, np.int32)), TypeError),
        (lambda: elimination.invert_by_factors(np.eye(3), np.full(3, -1, np.int32)), RuntimeError),
        (lambda: elimination.exchange_rows(np.eye(3), np.full(3, 2**32 + 1), False), RuntimeError),
        (lambda: elimination.exchange_rows(np.eye(3), np.ones(4, np.int64), False), RuntimeError),
        (lambda: elimination.exchange_rows(np.ones((2, 3, 3)), np.ones((3, 3), np.int64), False), TypeError),
        (lambda: elimination.parity(np.ones(3)), TypeError),
        (lambda: elimination.parity(np.ones((), np.int32)), TypeError),
        (lambda: substitution.substitute(np.eye(3), np.ones((4, 3)), True, False), TypeError),
        (lambda: substitution.substitute(np.eye(3), np.ones((2, 3, 3)), True, False), TypeError),
        (lambda: substitution.substitute(np.eye(3), np.eye(3, dtype="f"), True, False), TypeError),
        (lambda: substitution.substitute(np.eye(3, dtype=int), np.eye(3, dtype=int), True, False), TypeError),
    ],
)
def test_kernels_are_entered_only_with_what_they_take(call, error):
    with pytest.raises(error):
        call()


def test_pinv_with_a_tolerance_by_place():
    x = gs.tensor(np.diag([1.0, 0.05]))
    for inverse in (gs.linalg.pinv(x, 0.1), gs.linalg.pinv(x, rcond=0.1), gs.linalg.pinv(x, rtol=0.1)):
        np.testing.assert_allclose(inverse.numpy(), np.diag([1.0, 0.0]), atol=1e-12)
    np.testing.assert_allclose(gs.linalg.pinv(x, 1e-6, True).numpy(), np.diag([1.0, 20.0]))
