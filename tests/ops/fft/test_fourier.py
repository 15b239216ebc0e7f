"""Fourier transforms against NumPy's: sizes, norms, dtypes, errors."""

import numpy as np
import pytest

import gradsmith as gs

RNG = np.random.default_rng(5)
ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
MANY = ["fft", "ifft", "rfft", "irfft"]
REAL_INPUT = {"rfft", "ihfft", "rfft2", "rfftn"}


def values(name, shape):
    real = RNG.standard_normal(shape)
    return real if name in REAL_INPUT else real + 1j * RNG.standard_normal(shape)


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 1, 4, 5, 9])
@pytest.mark.parametrize("name", ONE)
def test_sizes_and_norms(name, n, norm):
    for length in (2, 5, 6):
        x = values(name, (3, length))
        expected = getattr(np.fft, name)(x, n, -1, norm)
        np.testing.assert_allclose(getattr(gs.fft, name)(gs.tensor(x), n, -1, norm).numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("name", MANY)
def test_several_dimensions(name):
    x = values(name, (3, 4, 5))
    for given in ({}, {"s": (2, 6)}, {"dim": (0, 2), "s": (4, 3)}, {"dim": (-1,)}, {"s": (-1, 4), "norm": "ortho"}):
        arguments = dict(given)
        size, dims = arguments.pop("s", None), arguments.pop("dim", None)
        dims = (1, 2) if dims is None and size is not None else dims
        expected = getattr(np.fft, f"{name}n")(x, size, dims, **arguments)
        found = getattr(gs.fft, f"{name}n")(gs.tensor(x), **given).numpy()
        np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(getattr(gs.fft, f"{name}2")(gs.tensor(x)).numpy(), getattr(np.fft, f"{name}2")(x))


def test_hermitian_signals_of_several_dimensions():
    """What PyTorch defines them by: transforms along all dimensions but the last, and hfft along that one."""
    x = gs.tensor(values("hfft", (3, 4, 3)))
    for norm in (None, "ortho", "forward"):
        expected = gs.fft.hfft(gs.fft.fftn(x, dim=(0, 1), norm=norm), 5, norm=norm)
        found = gs.fft.hfftn(x, (3, 4, 5), norm=norm)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), atol=1e-12)
        back = gs.fft.ifftn(gs.fft.ihfft(found, norm=norm), dim=(0, 1), norm=norm)
        np.testing.assert_allclose(gs.fft.ihfftn(found, norm=norm).numpy(), back.numpy(), atol=1e-12)


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("bool", "complex64"), ("int64", "complex64"), ("float32", "complex64"), ("float64", "complex128")],
)
def test_dtypes(dtype, expected):
    x = gs.tensor(np.array([1, 0, 1, 1]).astype(dtype))
    assert str(gs.fft.fft(x).dtype) == str(gs.fft.rfft(x).dtype) == expected
    assert str(gs.fft.irfft(x).dtype) == {"complex64": "float32", "complex128": "float64"}[expected]
    assert str(gs.fft.fftshift(x).dtype) == dtype


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: gs.fft.fft(x, 0), RuntimeError, r"Invalid number of data points \(0\)"),
        (lambda x: gs.fft.fft(x, n=-1), RuntimeError, r"Invalid number of data points \(-1\)"),
        (lambda x: gs.fft.irfft(x, n=-1), RuntimeError, r"Invalid number of data points \(-1\)"),
        (lambda x: gs.fft.fftn(x[0], dim=(0, 0)), IndexError, "Dimension specified as 0 but tensor has no dimensions"),
        (lambda x: gs.fft.fftshift(x[0], dim=0), IndexError, "Dimension specified as 0 but tensor has no dimensions"),
        (lambda x: gs.fft.irfft(x[:1]), RuntimeError, r"Invalid number of data points \(0\)"),
        (lambda x: gs.fft.fft(x, norm="unit"), RuntimeError, "Invalid normalization mode: 'unit'"),
        (lambda x: gs.fft.fft(x, dim=1), IndexError, "Dimension out of range"),
        (lambda x: gs.fft.fft(x[0]), IndexError, "tensor has no dimensions"),
        (lambda x: gs.fft.fftn(x, dim=(0, -1)), RuntimeError, "dims must be unique"),
        (lambda x: gs.fft.fftn(x, (2, 2)), RuntimeError, "Got shape with 2 values but input tensor only has 1"),
        (lambda x: gs.fft.fftn(x, (2, 2), (0,)), RuntimeError, "must have the same length"),
        (lambda x: gs.fft.irfftn(x[0]), RuntimeError, "must transform at least one axis"),
        (lambda x: gs.fft.rfft(x + 1j), RuntimeError, "rfft"),
        (lambda x: gs.fft.fft(x.half()), RuntimeError, "float16"),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(gs.ones(4))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "ihfft", "irfft", "hfft"])
def test_minus_one_is_no_size_of_a_single_dimension(name):
    """Among several sizes it stands for that of the tensor."""
    with pytest.raises(RuntimeError, match=r"Invalid number of data points \(-1\)"):
        getattr(gs.fft, name)(gs.ones(2, 4), -1)
    several = getattr(gs.fft, f"{name}n")(gs.ones(2, 4), (-1,), (1,))
    np.testing.assert_allclose(several.numpy(), getattr(gs.fft, name)(gs.ones(2, 4)).numpy(), atol=1e-6)


def test_a_dimension_may_be_shifted_twice():
    x = gs.arange(5.0)
    assert gs.fft.fftshift(x, dim=(0, -1)).tolist() == np.roll(np.arange(5.0), 4).tolist()
    assert gs.fft.ifftshift(gs.fft.fftshift(x, dim=(0, 0)), dim=(0, 0)).tolist() == x.tolist()


def test_shapes_without_data():
    x = gs.ones(2, 6, device="meta")
    assert gs.fft.fft(x).shape == (2, 6) and gs.fft.fft(x).dtype == gs.complex64
    assert gs.fft.rfft(x, 9).shape == (2, 5) and gs.fft.irfftn(x).shape == (2, 10)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies(n):
    for name in ("fftfreq", "rfftfreq"):
        np.testing.assert_allclose(getattr(gs.fft, name)(n, 0.5).numpy(), getattr(np.fft, name)(n, 0.5))
    assert gs.fft.fftfreq(n, dtype=gs.float64).dtype == gs.float64
    assert gs.fft.fftfreq(n, requires_grad=True).requires_grad


def test_frequencies_of_samples_at_no_distance():
    np.testing.assert_array_equal(gs.fft.fftfreq(3, 0.0).numpy(), [np.nan, np.inf, -np.inf])
    np.testing.assert_array_equal(gs.fft.fftfreq(3, -0.0).numpy(), [np.nan, -np.inf, np.inf])
    np.testing.assert_array_equal(gs.fft.rfftfreq(4, 0.0).numpy(), [np.nan, np.inf, np.inf])
    np.testing.assert_array_equal(gs.fft.rfftfreq(0).numpy(), [np.nan])
    assert gs.fft.fftfreq(0).shape == (0,)


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies_that_there_are_not(name):
    with pytest.raises(RuntimeError, match="n must be greater or equal to 0, got -1"):
        getattr(gs.fft, name)(-1)
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'n' must be int, not float"):
        getattr(gs.fft, name)(3.5)
    with pytest.raises(RuntimeError, match=f"{name} requires a floating point or complex dtype, got int32"):
        getattr(gs.fft, name)(3, dtype=gs.int32)


@pytest.mark.parametrize("n", [1, 4, 5])
def test_shifts_are_inverse(n):
    x = gs.arange(3 * n).reshape(3, n)
    np.testing.assert_array_equal(gs.fft.fftshift(x).numpy(), np.fft.fftshift(x.numpy()))
    assert gs.equal(gs.fft.ifftshift(gs.fft.fftshift(x)), x)
    assert gs.equal(gs.fft.ifftshift(gs.fft.fftshift(x, 1), 1), x)
