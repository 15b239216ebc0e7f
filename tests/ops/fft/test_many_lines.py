"""Transforms of many lines of complex numbers, which are computed side by side: NumPy's in higher precision."""

import numpy as np
import pytest

import gradsmith as gs

LENGTHS = [8, 9, 10, 15, 16, 60, 64, 81, 125, 128, 243, 256, 300, 512, 625, 1000, 2048, 4096, 4097, 5000, 7, 11, 77]


def numbers(shape, dtype="c16"):
    generator = np.random.default_rng(0)
    return (generator.standard_normal(shape) + 1j * generator.standard_normal(shape)).astype(dtype)


def error(found, exact):
    return np.abs(found - exact).max() / np.sqrt(np.mean(np.abs(exact) ** 2))


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("length", LENGTHS)
def test_a_transform_is_as_exact_as_its_numbers(length, dtype):
    least = 2e-6 if dtype == "c8" else 6e-15 if length == 4097 else 2e-15
    for shape, dim in (((9, length), 1), ((length, 11), 0), ((2, length, 13), 1), ((8, length, 1), -2)):
        a = numbers(shape, dtype)
        x = gs.from_numpy(a)
        wide = a.astype(np.clongdouble)
        for norm in ("backward", "ortho", "forward"):
            found, back = gs.fft.fft(x, dim=dim, norm=norm), gs.fft.ifft(x, dim=dim, norm=norm)
            assert found.dtype == back.dtype == a.dtype
            assert error(found.numpy(), np.fft.fft(wide, axis=dim, norm=norm)) < least
            assert error(back.numpy(), np.fft.ifft(wide, axis=dim, norm=norm)) < least


def test_single_precision_is_that_of_the_result():
    """As NumPy's where nothing is scaled: rounded once, from double precision."""
    for shape in ((50, 64), (50, 1000), (40, 625)):
        a = numbers(shape, "c8")
        exact = np.fft.fft(a.astype("c16")).astype("c8")
        np.testing.assert_allclose(gs.fft.fft(gs.from_numpy(a)).numpy(), exact, rtol=2e-7)


@pytest.mark.parametrize("shape", [(64, 64), (3, 40, 50), (100, 129), (2, 3, 16, 24)])
def test_transforms_of_planes(shape):
    a = numbers(shape)
    x = gs.from_numpy(a)
    np.testing.assert_allclose(gs.fft.fft2(x).numpy(), np.fft.fft2(a), atol=1e-11)
    np.testing.assert_allclose(gs.fft.ifft2(x).numpy(), np.fft.ifft2(a), atol=1e-13)
    np.testing.assert_allclose(gs.fft.fftn(x).numpy(), np.fft.fftn(a), atol=1e-10)
    np.testing.assert_allclose(gs.fft.rfft2(x.real).numpy(), np.fft.rfft2(a.real), atol=1e-11)
    np.testing.assert_allclose(gs.fft.irfft2(x).numpy(), np.fft.irfft2(a), atol=1e-13)
    np.testing.assert_allclose(gs.fft.ifft2(gs.fft.fft2(x)).numpy(), a, atol=1e-13)


def test_other_layouts_and_what_belongs_to_others():
    a = numbers((64, 40, 32))
    for b in (a.T, a[::2], a[:, ::-1], a.swapaxes(0, 1), np.broadcast_to(a[:1], a.shape)):
        for dim in range(3):
            found = gs.fft.fft(gs.from_numpy(b), dim=dim).numpy()
            np.testing.assert_allclose(found, np.fft.fft(b, axis=dim), atol=1e-12)
    x = gs.from_numpy(a)
    before = a.copy()
    gs.fft.fft2(x)
    np.testing.assert_array_equal(a, before)
    assert gs.fft.fft(gs.ones(0, 64, dtype=gs.complex128)).shape == (0, 64)
    assert gs.fft.fft2(gs.ones(64, 0, 64, dtype=gs.complex64), dim=(0, 2)).shape == (64, 0, 64)


@pytest.mark.parametrize("special", [np.nan, np.inf, complex(0, np.inf), 1e308])
def test_a_line_does_not_meet_its_neighbours(special):
    a = numbers((20, 64))
    alone = gs.fft.fft(gs.from_numpy(a)).numpy()
    a[5, 3] = special
    with np.errstate(all="ignore"):
        expected = np.fft.fft(a[5])
    found = gs.fft.fft(gs.from_numpy(a)).numpy()
    np.testing.assert_array_equal(np.isfinite(found[5]), np.isfinite(expected))
    np.testing.assert_array_equal(np.delete(found, 5, 0), np.delete(alone, 5, 0))
    columns = gs.fft.fft(gs.from_numpy(np.ascontiguousarray(a.T)), dim=0).numpy().T
    np.testing.assert_array_equal(columns, found)


def test_threads_change_no_bit():
    x = gs.from_numpy(numbers((300, 256)))
    threads = gs.get_num_threads()
    try:
        gs.set_num_threads(1)
        one = gs.fft.fft2(x).numpy()
        gs.set_num_threads(2)
        np.testing.assert_array_equal(gs.fft.fft2(x).numpy(), one)
    finally:
        gs.set_num_threads(threads)


def test_gradients():
    x = gs.from_numpy(numbers((9, 12))).requires_grad_()
    assert gs.autograd.gradcheck(lambda x: gs.fft.fft2(x), (x,))
    assert gs.autograd.gradcheck(lambda x: gs.fft.ifft(x, dim=0, norm="ortho"), (x,))
