"""The standard's extension for Fourier transforms: ``gradsmith.array_api.fft``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import gradsmith as gs
from gradsmith.array_api.operands import DType, Tensor, tensor_of

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip

Norm = Literal["backward", "ortho", "forward"]


# ---- along one axis


def fft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Discrete Fourier transform."""
    return gs.fft.fft(tensor_of("fft", x), n, axis, norm)


def ifft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Inverse of `fft`."""
    return gs.fft.ifft(tensor_of("ifft", x), n, axis, norm)


def rfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """`fft` of real elements, without the half that follows from the other."""
    return gs.fft.rfft(tensor_of("rfft", x), n, axis, norm)


def irfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Inverse of `rfft`, of `n` real elements."""
    return gs.fft.irfft(tensor_of("irfft", x), n, axis, norm)


def hfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """`fft` of elements that mirror their conjugates, of which one half is given."""
    return gs.fft.hfft(tensor_of("hfft", x), n, axis, norm)


def ihfft(x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Tensor:
    """Inverse of `hfft`."""
    return gs.fft.ihfft(tensor_of("ihfft", x), n, axis, norm)


# ---- along several


def fftn(
    x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Tensor:
    """Discrete Fourier transform along several axes."""
    return gs.fft.fftn(tensor_of("fftn", x), s, axes, norm)


def ifftn(
    x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Tensor:
    """Inverse of `fftn`."""
    return gs.fft.ifftn(tensor_of("ifftn", x), s, axes, norm)


def rfftn(
    x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Tensor:
    """`fftn` of real elements, without the half that follows from the other."""
    return gs.fft.rfftn(tensor_of("rfftn", x), s, axes, norm)


def irfftn(
    x: Tensor, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Tensor:
    """Inverse of `rfftn`."""
    return gs.fft.irfftn(tensor_of("irfftn", x), s, axes, norm)


# ---- frequencies


def fftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Frequencies of the results of `fft` of `n` samples at a distance `d`, in their order."""
    return gs.fft.fftfreq(n, d, dtype=dtype, device=device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: DType | None = None, device: Any = None) -> Tensor:
    """Frequencies of the results of `rfft` of `n` samples at a distance `d`."""
    return gs.fft.rfftfreq(n, d, dtype=dtype, device=device)


def fftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """The elements moved so that frequency zero is in the middle."""
    return gs.fft.fftshift(tensor_of("fftshift", x), axes)


def ifftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """Inverse of `fftshift`."""
    return gs.fft.ifftshift(tensor_of("ifftshift", x), axes)
