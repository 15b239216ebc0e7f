"""SciPy's discrete transforms for tensors: ``gradsmith.scipy.fft``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradsmith.fft
import gradsmith.numpy.fft
from gradsmith.numpy.arguments import as_tensor, axes_of, floating

ours: Any = gradsmith.fft
like_numpy: Any = gradsmith.numpy.fft
fftfreq, rfftfreq = like_numpy.fftfreq, like_numpy.rfftfreq
fftshift, ifftshift = like_numpy.fftshift, like_numpy.ifftshift

FOURIER = "fft ifft rfft irfft hfft ihfft"
FOURIERS = "fft2 ifft2 rfft2 irfft2 hfft2 ihfft2 fftn ifftn rfftn irfftn hfftn ihfftn"
COSINES = "dct idct dst idst"
SEVERAL = "dctn idctn dstn idstn"

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]
__all__ += [name for names in (FOURIER, FOURIERS, COSINES, SEVERAL) for name in names.split()]


def _along_one(name: str) -> Callable[..., Any]:
    def function(
        x: Any, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
        plan: Any = None,
    ) -> Any:  # fmt: skip
        return getattr(ours, name)(floating(as_tensor(x)), n, axis, norm)

    return function


def _along_several(name: str) -> Callable[..., Any]:
    usual = (-2, -1) if name.endswith("2") else None

    def function(
        x: Any, s: Any = None, axes: Any = usual, norm: Any = None, overwrite_x: bool = False, workers: Any = None, *,
        plan: Any = None,
    ) -> Any:  # fmt: skip
        return getattr(ours, name)(floating(as_tensor(x)), s, axes, norm)

    return function


def _of_reals(name: str) -> Callable[..., Any]:
    def function(
        x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None, overwrite_x: bool = False,
        workers: Any = None, orthogonalize: Any = None,
    ) -> Any:  # fmt: skip
        _require_usual(name, norm, orthogonalize)
        return getattr(ours, name)(floating(as_tensor(x)), type, n, axis, norm)

    return function


def _of_reals_several(name: str) -> Callable[..., Any]:
    def function(
        x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None, overwrite_x: bool = False,
        workers: Any = None, *, orthogonalize: Any = None,
    ) -> Any:  # fmt: skip
        _require_usual(name, norm, orthogonalize)
        tensor = floating(as_tensor(x))
        return getattr(ours, name)(tensor, type, s, None if axes is None else axes_of(axes, tensor.ndim), norm)

    return function


def _require_usual(name: str, norm: Any, orthogonalize: Any) -> None:
    if orthogonalize is not None and bool(orthogonalize) != (norm == "ortho"):
        raise ValueError(f"{name}: orthogonalize goes with norm='ortho' here")


for _names, _made in (
    (FOURIER, _along_one),
    (FOURIERS, _along_several),
    (COSINES, _of_reals),
    (SEVERAL, _of_reals_several),
):
    for _name in _names.split():
        _function = _made(_name)
        _function.__name__ = _function.__qualname__ = _name
        _function.__doc__ = (
            f"SciPy's `{_name}` for tensors: "
            f"https://docs.scipy.org/doc/scipy/reference/generated/scipy.fft.{_name}.html\n"
        )
        globals()[_name] = _function
