"""The extensions for linear algebra and Fourier transforms, and the products, against NumPy's."""

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.array_api as xp
from tests.array_api.samples import COMPLEX, FLOATS, INEXACT, NUMERIC, agrees, expect_equal, sample

TOLERANCE = {"float32": 1e-2, "complex64": 1e-2, "float64": 1e-6, "complex128": 1e-6}


def definite(dtype):
    a = sample(dtype, (2, 4, 4))
    return (a @ a.conj().mT + 4 * np.eye(4)).astype(dtype)


@pytest.mark.parametrize("dtype", NUMERIC)
def test_products(dtype):
    a, b, c = sample(dtype, (2, 3, 4)), sample(dtype, (4, 5)), sample(dtype, (3, 4))
    for prefix in ("", "linalg."):
        agrees(f"{prefix}matmul", a, b)
        agrees(f"{prefix}matmul", a, b[:, 0])
        agrees(f"{prefix}tensordot", a, b, axes=1)
        agrees(f"{prefix}tensordot", a, b, axes=0)
        agrees(f"{prefix}tensordot", a, a, axes=((0, 1), (0, 1)))
        agrees(f"{prefix}vecdot", a, c)
        agrees(f"{prefix}vecdot", a, c, axis=-2)
        agrees(f"{prefix}matrix_transpose", a)
    expect_equal(xp.asarray(a) @ xp.asarray(b), a @ b)
    agrees("linalg.outer", a[0, 0], b[:, 0])
    agrees("linalg.cross", sample(dtype, (4, 2, 3)), sample(dtype, (2, 3)))
    agrees("linalg.cross", sample(dtype, (3, 2)), sample(dtype, (3, 2)), axis=0)
    agrees("linalg.diagonal", a, offset=1)
    agrees("linalg.trace", a, offset=-1)


@pytest.mark.parametrize("dtype", INEXACT)
def test_of_one_matrix(dtype):
    for name in ("det", "inv", "pinv", "slogdet", "svdvals", "matrix_rank", "eigvalsh", "cholesky"):
        agrees(f"linalg.{name}", definite(dtype), tolerance=10 * TOLERANCE[dtype])
    agrees("linalg.cholesky", definite(dtype), upper=True, tolerance=TOLERANCE[dtype])
    for power in (2, 0, -1):
        agrees("linalg.matrix_power", definite(dtype), power, tolerance=10 * TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", INEXACT)
def test_norms(dtype):
    for order in ("fro", "nuc", 1, 2, -1, -2, np.inf, -np.inf):
        agrees("linalg.matrix_norm", sample(dtype, (2, 3, 4)), ord=order, keepdims=True, tolerance=TOLERANCE[dtype])
    for order in (0, 1, 2, 3, -1, 2.5, np.inf, -np.inf):
        for axis in (None, 0, (0, 2)):
            agrees("linalg.vector_norm", sample(dtype, (2, 3, 4)), ord=order, axis=axis, tolerance=TOLERANCE[dtype])
    found = xp.linalg.vector_norm(xp.asarray(sample(dtype)), axis=())
    np.testing.assert_allclose(found.numpy(), abs(sample(dtype)), rtol=1e-5)


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("shape", [(4,), (4, 4), (2, 4, 3), (2, 4, 1), (5, 1, 4, 2)])
def test_solve(dtype, shape):
    agrees("linalg.solve", definite(dtype), sample(dtype, shape), tolerance=TOLERANCE[dtype])
    agrees("linalg.solve", definite(dtype)[0], sample(dtype, shape), tolerance=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", INEXACT)
def test_decompositions_multiply_back(dtype):
    x, h = sample(dtype, (2, 5, 3)), definite(dtype)
    for mode in ("reduced", "complete"):
        q, r = found = xp.linalg.qr(xp.asarray(x), mode=mode)
        expect_equal(q @ r, x, TOLERANCE[dtype])
        assert (found.Q.shape, found.R.shape) == tuple(part.shape for part in np.linalg.qr(x, mode))
    for full in (True, False):
        found, expected = xp.linalg.svd(xp.asarray(x), full_matrices=full), np.linalg.svd(x, full_matrices=full)
        expect_equal(found.S, expected.S, TOLERANCE[dtype])
        expect_equal(found.U[..., :3] * found.S[:, None, :] @ found.Vh, x, TOLERANCE[dtype])
        assert (found.U.shape, found.Vh.shape) == (expected.U.shape, expected.Vh.shape)
    values, vectors = xp.linalg.eigh(xp.asarray(h))
    expect_equal(vectors * values[:, None, :] @ xp.conj(vectors).mT, h, 10 * TOLERANCE[dtype])
    assert values.dtype == x.real.dtype and xp.linalg.slogdet(xp.asarray(h)).sign.dtype == x.dtype


def test_asked_wrongly():
    with pytest.raises(ValueError, match=r"^cross\(\): vectors must have 3 elements along axis -1"):
        xp.linalg.cross(xp.ones((2, 3)), xp.ones((2, 1)))
    with pytest.raises(ValueError, match=r"^qr\(\): mode must be"):
        xp.linalg.qr(xp.ones((2, 2)), mode="raw")
    with pytest.raises(ValueError, match="needs at least two axes, but got 1"):
        xp.matrix_transpose(xp.ones(3))


@pytest.mark.parametrize("dtype", INEXACT)
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_transforms(dtype, norm):
    x = sample(dtype, (4, 6, 5))
    along_one = ["rfft", "ihfft"] if dtype in FLOATS else ["fft", "ifft", "irfft", "hfft"]
    for name in along_one:
        for n, axis in ((None, -1), (4, 1), (8, -1)):
            agrees(f"fft.{name}", x, n=n, axis=axis, norm=norm, tolerance=TOLERANCE[dtype])
    for name in ["fftn", "ifftn", "irfftn"] if dtype in COMPLEX else ["rfftn"]:
        for options in ({}, {"axes": (0, 2)}, {"s": (3, 4), "axes": (0, 1)}):
            agrees(f"fft.{name}", x, norm=norm, tolerance=TOLERANCE[dtype], **options)


@pytest.mark.parametrize("dtype", NUMERIC)
def test_shifts(dtype):
    for name in ("fftshift", "ifftshift"):
        for axes in (None, 0, (0, 1)):
            agrees(f"fft.{name}", sample(dtype), axes=axes)


@pytest.mark.parametrize("n", [1, 5, 8])
def test_frequencies(n):
    for name in ("fftfreq", "rfftfreq"):
        expected = getattr(np.fft, name)(n, d=0.5)
        expect_equal(getattr(xp.fft, name)(n, d=0.5), expected.astype(np.float32))
        expect_equal(getattr(xp.fft, name)(n, d=0.5, dtype=xp.float64), expected)


def test_gradients_flow():
    h = gs.tensor(definite("float64"), requires_grad=True)
    for function in (
        lambda x: xp.linalg.solve(x, xp.ones(4, dtype=xp.float64)),
        lambda x: xp.linalg.eigh(x + x.mT).eigenvalues,
        lambda x: xp.linalg.trace(xp.linalg.inv(x)),
        lambda x: xp.vecdot(x, x, axis=-2),
        lambda x: xp.abs(xp.fft.rfft(x)),
    ):
        assert gs.autograd.gradcheck(function, (h,))


@pytest.mark.parametrize(
    "shapes", [((3, 1, 2, 2), (5, 2, 1)), ((0, 1, 0, 0), (2, 0, 0)), ((2, 1, 3, 3), (1, 3, 2)), ((4, 3, 3), (3, 2))]
)
def test_stacks_of_solutions_broadcast(shapes):
    rng = np.random.default_rng(0)
    matrix, right = (rng.standard_normal(shape) for shape in shapes)
    found = xp.linalg.solve(gs.tensor(matrix), gs.tensor(right))
    np.testing.assert_allclose(found, np.linalg.solve(matrix, right), rtol=1e-8)


@pytest.mark.parametrize("of", [np, gs.numpy, xp], ids=["NumPy", "gradsmith.numpy", "array API"])
@pytest.mark.parametrize(
    "product",
    [
        lambda of, one: of.linalg.vecdot(one(2, 3), one(2, 1)),
        lambda of, one: of.linalg.vecdot(one(1), one(3)),
        lambda of, one: of.tensordot(one(2, 3), one(1, 4), axes=1),
        lambda of, one: of.tensordot(one(2, 3), one(4, 1), axes=([1], [1])),
    ],
)
def test_an_axis_of_one_element_is_not_repeated(of, product):
    with pytest.raises(ValueError):
        product(of, gs.ones)
