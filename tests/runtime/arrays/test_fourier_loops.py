"""Transforms by NumPy's ufuncs and, where a version has none, by its functions: both are NumPy's results."""

from typing import Any

import numpy as np
import pytest

from gradsmith.runtime.arrays.functions import arrangements
from gradsmith.runtime.arrays.functions.spectra import fourier, loops

# NumPy's words for the powers, of a transform and of an inverse one.
NORMS: dict[float, tuple[Any, Any]] = {
    0.0: ("backward", "forward"),
    0.5: ("ortho", "ortho"),
    1.0: ("forward", "backward"),
}


def numbers(shape: tuple[int, ...], dtype: str, order: Any) -> Any:
    generator = np.random.default_rng(0)
    found = generator.standard_normal(shape)
    found = found + 1j * generator.standard_normal(shape) if dtype in "FD" else found
    return np.asarray(found, dtype, order=order)


@pytest.mark.parametrize("has_ufuncs", [True, False])
@pytest.mark.parametrize("power", NORMS)
@pytest.mark.parametrize("dtype", "fdFD")
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("shape", [(4,), (3, 5), (2, 3, 4), (1, 1000)])
def test_as_numpy(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], order: Any, dtype: str, power: float, has_ufuncs: bool
) -> None:
    if not has_ufuncs:
        monkeypatch.setattr(loops, "HAS_UFUNCS", False)
    a = numbers(shape, dtype, order)
    forward, backward = NORMS[power]
    for dim in range(-a.ndim, a.ndim):
        pairs = [
            (loops.along(a, dim, power, False), np.fft.fft(a, axis=dim, norm=forward)),
            (loops.along(a, dim, power, True), np.fft.ifft(a, axis=dim, norm=backward)),
        ]
        if dtype in "fd":
            half, length = np.fft.rfft(a, axis=dim, norm=forward), a.shape[dim]
            pairs += [
                (loops.real_along(a, dim, power), half),
                (loops.to_real_along(half, dim, power, length), np.fft.irfft(half, length, axis=dim, norm=backward)),
            ]
        for found, expected in pairs:
            assert found.dtype == expected.dtype
            if has_ufuncs:
                np.testing.assert_array_equal(found, expected)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 if dtype in "fF" else 1e-12)


def test_other_powers() -> None:
    a = numbers((4,), "d", "C")
    np.testing.assert_allclose(loops.along(a, 0, 0.25, False), np.fft.fft(a) / 4**0.25, rtol=1e-14)


def test_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match=r"nothing to transform along dimension 1 of size \[2, 0\]"):
        loops.along(np.zeros((2, 0)), 1, 0.0, False)


@pytest.mark.parametrize("power", NORMS)
@pytest.mark.parametrize("dtype", "fdFD")
@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize(
    "shape", [(1,), (4,), (7,), (255,), (256,), (257,), (3, 5), (2, 3, 4), (2, 1, 130), (0, 4)], ids=str
)
def test_few_numbers_have_the_bits_of_many(shape: tuple[int, ...], order: Any, dtype: str, power: float) -> None:
    a = numbers(shape, dtype, order)
    forward, backward = NORMS[power]
    for dim in range(-a.ndim, a.ndim):
        length = a.shape[dim]
        if length == 0:
            continue
        pairs = [
            (fourier.dft_of(a, (dim,), power, False), np.fft.fft(a, axis=dim, norm=forward)),
            (fourier.dft_of(a, (dim,), power, True), np.fft.ifft(a, axis=dim, norm=backward)),
        ]
        if dtype in "fd":
            half = np.fft.rfft(a, axis=dim, norm=forward)
            pairs += [
                (fourier.real_dft_of(a, (dim,), power), half),
                (
                    fourier.dft_to_real_of(half, (dim,), power, length),
                    np.fft.irfft(half, length, axis=dim, norm=backward),
                ),
            ]
        for found, expected in pairs:
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", "fdFD")
def test_several_dimensions_of_few_numbers(dtype: str) -> None:
    a = numbers((3, 4, 5), dtype, "C")
    np.testing.assert_array_equal(fourier.dft_of(a, (0, 2), 0.0, False), np.fft.fftn(a, axes=(0, 2)))
    np.testing.assert_array_equal(fourier.dft_of(a, (-1, 1), 1.0, True), np.fft.ifftn(a, axes=(-1, 1)))
    if dtype in "fd":
        half = np.fft.rfftn(a, axes=(0, 2))
        np.testing.assert_array_equal(fourier.real_dft_of(a, (0, 2), 0.0), half)
        np.testing.assert_array_equal(fourier.dft_to_real_of(half, (0, 2), 1.0, 5), np.fft.irfftn(half, (3, 5), (0, 2)))


@pytest.mark.parametrize("dims", [(0,), (0, 1), (-1, 0, 1), (1, 1)])
@pytest.mark.parametrize("shape", [(3, 4, 5), (40, 50, 60)], ids=["few", "many"])
def test_elements_go_around_several_dimensions(shape: tuple[int, ...], dims: tuple[int, ...]) -> None:
    a = numbers(shape, "f", "C")
    shifts = (2, -1, 7)[: len(dims)]
    np.testing.assert_array_equal(arrangements.roll_along_of(a, shifts, dims), np.roll(a, shifts, dims))
