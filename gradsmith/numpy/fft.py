"""NumPy's discrete Fourier transforms for tensors: ``gradsmith.numpy.fft``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.lib.array_utils import normalize_axis_tuple

import gradsmith.fft as ours
from gradsmith.numpy.arguments import as_tensor, delivered, exact, is_tensor, np, of_dtype, wrapped
from gradsmith.numpy.published import describe

ALONG_ONE = ("fft", "hfft", "ifft", "ihfft", "irfft", "rfft")
ALONG_SEVERAL = ("fft2", "fftn", "ifft2", "ifftn", "irfft2", "irfftn", "rfft2", "rfftn")

FREQUENCIES = ("fftfreq", "rfftfreq")

__all__ = [*ALONG_ONE, *ALONG_SEVERAL, *FREQUENCIES, "fftshift", "ifftshift"]


def _inexact(a: Any) -> Any:
    x = as_tensor(a)
    return of_dtype(x, np.float64 if exact(x) else np.float32 if x.dtype == np.float16 else x.dtype)


def _along_one(name: str) -> Any:
    transform = getattr(ours, name)

    def function(a: Any, n: Any = None, axis: int = -1, norm: Any = None, out: Any = None) -> Any:
        return delivered(transform(_inexact(a), n, axis, norm), out)

    return function


def _along_several(name: str) -> Any:
    transform = getattr(ours, name)
    usual = (-2, -1) if name.endswith("2") else None

    def function(a: Any, s: Any = None, axes: Any = usual, norm: Any = None, out: Any = None) -> Any:
        x = _inexact(a)
        if axes is None and s is not None:
            axes = range(-len(s), 0)
        if axes is not None:
            axes = tuple(axes)
        return delivered(transform(x, s, axes, norm), out)

    return function


def fftshift(x: Any, axes: Any = None) -> Any:
    return _shifted(x, axes, lambda size: size // 2)


def ifftshift(x: Any, axes: Any = None) -> Any:
    return _shifted(x, axes, lambda size: -(size // 2))


def _shifted(a: Any, axes: Any, by: Callable[[int], int]) -> Any:
    x = as_tensor(a)
    each = normalize_axis_tuple(range(x.ndim) if axes is None else axes, x.ndim, allow_duplicate=True)
    return x.roll([by(x.shape[axis]) for axis in each], each) if each else x.clone()


def _frequencies(own: Any) -> Any:
    def function(n: Any, d: Any = 1.0, device: Any = None) -> Any:
        return wrapped(own(n)) / d if is_tensor(d) else wrapped(own(n, d))

    return function


globals().update({name: _along_one(name) for name in ALONG_ONE})
globals().update({name: _along_several(name) for name in ALONG_SEVERAL})
globals().update({name: _frequencies(getattr(np.fft, name)) for name in FREQUENCIES})
for _name in __all__:
    describe(globals()[_name], f"fft.{_name}", getattr(np.fft, _name))
