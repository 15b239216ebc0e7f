"""Cosine and sine transforms against SciPy's, and their gradients against the transposed matrices."""

import numpy as np
import pytest
import scipy.fft

import gradsmith as gs

RNG = np.random.default_rng(7)
NAMES = ["dct", "idct", "dst", "idst"]


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("name", NAMES)
def test_types_and_norms(name, kind, norm):
    x = RNG.standard_normal((3, 4, 5))
    transform, expected = getattr(gs.fft, name), getattr(scipy.fft, name)
    for n in (None, 2, 3, 7):
        np.testing.assert_allclose(transform(gs.tensor(x), kind, n, 1, norm).numpy(), expected(x, kind, n, 1, norm))
    several, expected_of_several = getattr(gs.fft, f"{name}n"), getattr(scipy.fft, f"{name}n")
    for given in ({}, {"s": (2, 6)}, {"axes": (0, 2)}, {"s": (-1, 3), "axes": (-1, 0)}):
        found = several(gs.tensor(x), kind, norm=norm, **given).numpy()
        np.testing.assert_allclose(found, expected_of_several(x, kind, norm=norm, **given), atol=1e-13)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("name", NAMES)
def test_gradients(name, kind, norm):
    for n in (2, 5):
        x = gs.zeros(n, dtype=gs.float64, requires_grad=True)
        matrix = getattr(scipy.fft, name)(np.eye(n), kind, axis=0, norm=norm)
        weights = RNG.standard_normal(n)
        (found,) = gs.autograd.grad(getattr(gs.fft, name)(x, kind, norm=norm), x, gs.tensor(weights))
        np.testing.assert_allclose(found.numpy(), matrix.T @ weights, atol=1e-12)


@pytest.mark.parametrize("dtype", ["int64", "bool", "float32", "complex64", "float64"])
def test_dtypes_and_inverse(dtype):
    x = gs.tensor(np.array([[1, 0, 1, 1]]).astype(dtype))
    back = gs.fft.idct(gs.fft.dct(x))
    assert str(back.dtype) == ("float32" if dtype in ("int64", "bool") else dtype)
    np.testing.assert_allclose(back.numpy(), x.numpy(), atol=1e-6)
    assert gs.fft.dstn(x.to("meta")).shape == (1, 4) and gs.fft.dct(x[:0]).shape == (0, 4)


def test_numpys_name_for_several_dimensions():
    x = gs.tensor(RNG.standard_normal((3, 4)))
    for name in ("fftn", "ifftn", "rfftn", "irfftn", "fft2"):
        np.testing.assert_allclose(
            getattr(gs.fft, name)(x, axes=(1, 0)).numpy(), getattr(np.fft, name)(x.numpy(), axes=(1, 0))
        )
    assert gs.equal(gs.fft.fftshift(x, axes=0), gs.fft.fftshift(x, dim=0))
    with pytest.raises(TypeError):
        gs.fft.fft(x, axes=0)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: gs.fft.dct(x, 5), ValueError, "must be 1, 2, 3 or 4, but is 5"),
        (lambda x: gs.fft.dct(x, 1, 1), RuntimeError, "needs two elements or more"),
        (lambda x: gs.fft.dct(x, n=0), RuntimeError, "Invalid number of data points"),
        (lambda x: gs.fft.dct(x, norm="unit"), RuntimeError, "Invalid normalization mode"),
        (lambda x: gs.fft.dct(x, dim=2), IndexError, "out of range"),
        (lambda x: gs.fft.dstn(x, dim=(0, -2)), RuntimeError, "dims must be unique"),
        (lambda x: gs.fft.dst(x.half()), RuntimeError, "float16"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(gs.ones(2, 3))
