"""Matrices that are not small: reflections, reductions and the divide and conquer between them."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.runtime.arrays import array
from gradsmith.runtime.arrays.functions.algebra.factors import orthogonal, spectral

RNG = np.random.default_rng(3)


TOLERANCES = {"float32": 2e-6, "float64": 1e-13}


def close(found, expected, scale=1.0):
    """To the digits that the dtype of what was found has."""
    tolerance = TOLERANCES[found.dtype.name] * max(scale, 10)
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=0, atol=tolerance)


def check_orthonormal(vectors):
    gram = vectors.swapaxes(-1, -2).astype(np.float64) @ vectors
    np.testing.assert_allclose(gram - np.eye(gram.shape[-1]), 0, atol=20 * TOLERANCES[vectors.dtype.name])


@pytest.fixture(autouse=True, params=["auto", "blas"])
def products(request):
    array.set_matmul_backend(request.param)
    yield
    array.set_matmul_backend("auto")


# ---- QR

SHAPES = [
    (1, 1),
    (1, 5),
    (5, 1),
    (7, 7),
    (31, 64),
    (64, 31),
    (33, 33),
    (100, 150),
    (150, 100),
    (3, 20, 9),
    (2, 3, 40, 40),
]


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_qr(shape, mode, dtype):
    a = RNG.standard_normal(shape).astype(dtype)
    q, r = orthogonal.qr(a, mode)
    expected = np.linalg.qr(a.astype(np.float64), mode)
    assert q.dtype == r.dtype == dtype
    assert q.shape == expected.Q.shape and r.shape == expected.R.shape
    close(q, expected.Q, shape[-2])
    close(r, expected.R, shape[-2])
    assert not np.tril(r, -1).any()
    np.testing.assert_array_equal(orthogonal.qr(a, "r")[1], orthogonal.qr(a, "reduced")[1])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reflections_are_lapacks(shape):
    a = RNG.standard_normal(shape)
    for found, expected in zip(orthogonal.qr_parts(a), np.linalg.qr(a, "raw"), strict=True):
        close(found, expected, shape[-2])


def test_qr_of_other_layouts_and_dtypes():
    a = RNG.standard_normal((50, 40))
    for view in (a.T, a[::-1, ::2], np.asfortranarray(a), a.astype(np.float32), a.astype(">f8")):
        q, r = orthogonal.qr(view, "reduced")
        assert q.dtype.newbyteorder("=") == view.dtype.newbyteorder("=")
        np.testing.assert_allclose(q @ r, view, atol=1e-5 if view.dtype == np.float32 else 1e-13)
    complex_parts = orthogonal.qr(a + 1j * a[::-1], "reduced")
    np.testing.assert_allclose(complex_parts[0] @ complex_parts[1], a + 1j * a[::-1], atol=1e-12)


def test_qr_of_columns_of_all_sizes():
    a = RNG.standard_normal((40, 6)) * np.array([1e-300, 1e300, 1e-160, 1e160, 1.0, 0.0])
    q, r = orthogonal.qr(a, "reduced")
    check_orthonormal(q)
    for j in range(6):
        size = np.abs(a[:, j]).max()
        np.testing.assert_allclose(q @ (r[:, j] / (size or 1)), a[:, j] / (size or 1), atol=1e-13)


def test_qr_of_what_needs_no_reflection():
    for a in (np.eye(40), np.triu(RNG.standard_normal((40, 40))), np.zeros((40, 35))):
        q, r = orthogonal.qr(a, "reduced")
        np.testing.assert_array_equal(r, np.linalg.qr(a).R)
        np.testing.assert_array_equal(q, np.linalg.qr(a).Q)


def test_qr_of_nan_is_nan():
    a = RNG.standard_normal((40, 40))
    a[5, 7] = np.nan
    q, r = orthogonal.qr(a, "reduced")
    assert np.isfinite(r[:, :7]).all() and np.isnan(r[7:, 7:].diagonal()).all()
    assert np.isfinite(q[:, :7]).all() and np.isnan(q[:, 7:]).all()


@pytest.mark.parametrize("place", [(0, 0), (1, 0), (2, 1), (0, 2), (3, 1)])
def test_infinities_go_where_they_go_in_numpy(place):
    a = RNG.standard_normal((4, 3))
    a[place] = np.inf
    with np.errstate(invalid="ignore"):
        for found, expected in zip(orthogonal.qr(a, "reduced"), np.linalg.qr(a), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-14)


# ---- symmetric matrices


def symmetric(*shape):
    a = RNG.standard_normal((*shape, shape[-1]))
    return a + a.swapaxes(-1, -2)


MATRICES = {
    "random": symmetric(67),
    "larger": symmetric(150),
    "batch": symmetric(2, 3, 40),
    "unit": np.eye(50),
    "zero": np.zeros((50, 50)),
    "one": np.ones((60, 60)),
    "diagonal": np.diag(np.arange(40.0) - 20),
    "tridiagonal": np.diag(np.ones(63), 1) + np.diag(np.ones(63), -1),
    "blocks": np.kron(np.eye(8), symmetric(8)),
    "small": symmetric(45) * 1e-25,
    "large": symmetric(45) * 1e30,
    "tiny": symmetric(45) * 1e-200,
    "denormal": symmetric(45) * 1e-310,
    "huge": symmetric(45) * 1e200,
    "graded": symmetric(45) * np.logspace(0, -30, 45) * np.logspace(0, -30, 45)[:, None],
}
OF_FLOAT64 = ("tiny", "denormal", "huge")  # which float32 does not hold


def named(matrices):
    return [(name, dtype) for name in matrices for dtype in TOLERANCES if dtype == "float64" or name not in OF_FLOAT64]


@pytest.mark.parametrize(("name", "dtype"), named(MATRICES))
def test_eigenvectors(name, dtype):
    a = MATRICES[name].astype(dtype)
    values, vectors = spectral.eigh(a)
    assert values.dtype == vectors.dtype == dtype
    a = a.astype(np.float64)
    size = np.abs(a).max() or 1
    for found in (values, spectral.eigvalsh(MATRICES[name].astype(dtype))):
        assert found.dtype == dtype
        close((found / size).astype(dtype), np.linalg.eigvalsh(a) / size, a.shape[-1])
    check_orthonormal(vectors)
    close((a / size @ vectors).astype(dtype), vectors * (values / size)[..., None, :], a.shape[-1])
    assert (np.diff(values) >= 0).all()


def test_eigenvectors_have_numpys_signs():
    a = symmetric(80)
    np.testing.assert_allclose(spectral.eigh(a)[1], np.linalg.eigh(a)[1], atol=1e-10)


# ---- singular values

SINGULAR = {
    "square": RNG.standard_normal((70, 70)),
    "larger": RNG.standard_normal((150, 150)),
    "high": RNG.standard_normal((100, 80)),
    "higher": RNG.standard_normal((150, 40)),
    "wide": RNG.standard_normal((40, 60)),
    "wider": RNG.standard_normal((33, 200)),
    "batch": RNG.standard_normal((2, 3, 40, 35)),
    "unit": np.eye(50),
    "zero": np.zeros((50, 40)),
    "one": np.ones((40, 50)),
    "row": np.outer(np.eye(40)[3], np.ones(40)),
    "two_diagonals": np.diag(np.ones(64)) + np.diag(np.full(63, 2.0), 1),
    "below": np.diag(np.ones(63), -1),
    "low_rank": RNG.standard_normal((60, 3)) @ RNG.standard_normal((3, 50)),
    "small": RNG.standard_normal((45, 40)) * 1e-25,
    "large": RNG.standard_normal((45, 40)) * 1e30,
    "tiny": RNG.standard_normal((45, 40)) * 1e-200,
    "denormal": RNG.standard_normal((45, 40)) * 1e-310,
    "huge": RNG.standard_normal((45, 40)) * 1e200,
    "graded": RNG.standard_normal((45, 40)) * np.logspace(0, -60, 40),
    "down_to_nothing": RNG.standard_normal((45, 40)) * np.logspace(0, -330, 40),
}


@pytest.mark.parametrize("full_matrices", [False, True])
@pytest.mark.parametrize(("name", "dtype"), named(SINGULAR))
def test_singular_vectors(name, dtype, full_matrices):
    a = SINGULAR[name].astype(dtype)
    u, s, vh = spectral.svd(a, full_matrices)
    values = spectral.svdvals(a)
    assert u.dtype == s.dtype == vh.dtype == values.dtype == dtype
    a = a.astype(np.float64)
    expected = np.linalg.svd(a, full_matrices)
    assert u.shape == expected.U.shape and vh.shape == expected.Vh.shape
    size, k = np.abs(a).max() or 1, s.shape[-1]
    for found in (s, values):
        close((found / size).astype(dtype), expected.S / size, max(a.shape))
    check_orthonormal(u)
    check_orthonormal(vh.swapaxes(-1, -2))
    scaled = u[..., :k] * (s / size)[..., None, :].astype(np.float64)
    close((scaled @ vh[..., :k, :]).astype(dtype), a / size, max(a.shape))
    assert (np.diff(s) <= 0).all()


# ---- the ops that use them


@pytest.mark.parametrize("op", ["eigh", "eigvalsh", "svd", "svdvals", "qr"])
def test_gradients(op):
    """Along one direction, of a function that depends on neither sign nor order."""
    a, direction = symmetric(40), symmetric(40)
    weights = np.linspace(1, 2, 40)

    def loss(x):
        result = getattr(gs.linalg, op)(x)
        if op in ("eigvalsh", "svdvals"):
            return (result.sin() * gs.tensor(weights)).sum()
        if op == "qr":
            return (result[0] ** 2 * gs.tensor(weights)).sum() + (result[1] ** 2 * gs.tensor(weights)).sum()
        vectors, values = (result[0], result[1]) if op == "svd" else (result[1], result[0])
        return ((vectors**2 * gs.tensor(weights)[:, None]).sum(0) * values.sin()).sum()

    x = gs.tensor(a, requires_grad=True)
    loss(x).backward()
    step = 1e-6
    difference = (loss(gs.tensor(a + step * direction)) - loss(gs.tensor(a - step * direction))).item() / (2 * step)
    np.testing.assert_allclose(np.sum(x.grad.numpy() * direction), difference, rtol=1e-5)


def test_two_threads_give_the_same_bits():
    a = RNG.standard_normal((120, 120))
    before = gs.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            gs.set_num_threads(threads)
            found.append([*orthogonal.qr(a, "reduced")])
    finally:
        gs.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
