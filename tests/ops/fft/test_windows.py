"""Windows against NumPy's and their definitions, and their arguments."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.signal import windows

ARGUMENTS = {"general_cosine": {"a": [0.5, 0.3, 0.2]}}


@pytest.mark.parametrize("length", [0, 1, 2, 7, 8])
@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning", "kaiser"])
def test_windows_of_numpy(name, length):
    more = (8.0,) if name == "kaiser" else ()
    found = getattr(gs, name)(length, *more)
    np.testing.assert_allclose(found.numpy(), getattr(np, name)(length, *more), atol=1e-6)


@pytest.mark.parametrize("length", [1, 5, 6])
@pytest.mark.parametrize("name", windows.__all__)
def test_periodic_windows_are_longer_ones_without_the_end(name, length):
    window, more = getattr(windows, name), ARGUMENTS.get(name, {})
    longer = window(length + 1, dtype=gs.float64, **more)
    np.testing.assert_allclose(window(length, sym=False, dtype=gs.float64, **more).numpy()[1:], longer.numpy()[1:-1])
    symmetric = window(length, dtype=gs.float64, **more).numpy()
    np.testing.assert_allclose(symmetric, symmetric[::-1], atol=1e-15)


def test_definitions():
    places = np.arange(5)
    cases = {
        "cosine": np.sin(np.pi * (places + 0.5) / 5),
        "exponential": np.exp(-np.abs(places - 2)),
        "gaussian": np.exp(-((places - 2) ** 2) / 2),
        "nuttall": [0.0003628, 0.2269824, 1, 0.2269824, 0.0003628],
    }
    for name, expected in cases.items():
        found = getattr(windows, name)(5, dtype=gs.float64).numpy()
        np.testing.assert_allclose(found, expected, atol=1e-7)
    moved = windows.exponential(4, center=1, tau=2, sym=False).numpy()
    np.testing.assert_allclose(moved, np.exp(-np.abs(np.arange(4) - 1) / 2), atol=1e-6)


@pytest.mark.parametrize("name", ["hann", "hamming", "blackman", "bartlett", "kaiser"])
def test_names_of_pytorch_at_the_top(name):
    window = getattr(gs, f"{name}_window")
    assert gs.equal(window(6), getattr(windows, name)(6, sym=False))
    assert gs.equal(window(6, False), getattr(windows, name)(6))
    assert window(3, dtype=gs.float64, requires_grad=True).requires_grad
    with pytest.raises(RuntimeError, match=f"{name}_window requires non-negative window_length, got window_length=-1"):
        window(-1)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: windows.hann(-1), "non-negative window length, got M=-1"),
        (lambda: windows.hann(3, dtype=gs.int64), "hann expects float32 or float64 dtypes, got: int64"),
        (lambda: windows.hann(3, layout=gs.sparse_coo), "implemented for strided tensors only, got: gradsmith.sparse"),
        (lambda: windows.gaussian(3, std=0), "must be positive"),
        (lambda: windows.exponential(3, tau=0), "must be positive"),
        (lambda: windows.exponential(3, center=1), "None for symmetric"),
        (lambda: windows.kaiser(3, beta=-1), "must be non-negative"),
        (lambda: windows.general_cosine(3, a=[]), "cannot be empty"),
    ],
)
def test_errors(call, text):
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize("name", windows.__all__)
def test_lengths_and_dtypes_that_no_window_has(name):
    window, more = getattr(windows, name), ARGUMENTS.get(name, {})
    for length in (5.5, "5", None):
        with pytest.raises(TypeError, match=rf"{name}\(\): argument 'M' must be int, not {type(length).__name__}"):
            window(length, **more)
    for dtype in (gs.float16, gs.bfloat16, gs.int32, gs.complex64):
        with pytest.raises(ValueError, match="expects float32 or float64 dtypes, got: "):
            window(3, dtype=dtype, **more)
    assert gs.equal(window(np.int64(3), **more), window(3, **more))


@pytest.mark.parametrize("name", ["hann", "hamming", "blackman", "bartlett", "kaiser"])
def test_lengths_and_dtypes_of_the_names_at_the_top(name):
    window = getattr(gs, f"{name}_window")
    for length in (5.5, "5", True):
        with pytest.raises(TypeError, match=rf"{name}_window\(\): argument 'window_length' must be int, not"):
            window(length)
    for dtype in (gs.int32, gs.complex64):
        with pytest.raises(RuntimeError, match=f"{name}_window expects floating point dtypes, got"):
            window(3, dtype=dtype)
    with gs.device("meta"):
        assert window(4).is_meta and window(4, dtype=gs.float16).shape == (4,)
    half = window(5, dtype=gs.float16)
    assert half.dtype == gs.float16
    assert gs.equal(half, window(5, dtype=gs.float64).half())


@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize("name", [name for name in gs.signal.windows.__all__ if name != "general_cosine"])
def test_one_element_is_one(name, sym):
    window = getattr(gs.signal.windows, name)
    assert window(0, sym=sym).tolist() == []
    assert window(1, sym=sym).tolist() == [1]


def test_a_center_beyond_one_element():
    np.testing.assert_allclose(gs.signal.windows.exponential(1, center=3, sym=False).numpy(), [np.exp(-3)], rtol=1e-6)
