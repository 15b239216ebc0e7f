"""Windows under PyTorch's and NumPy's top-level names: ``gs.hann_window(8)``, ``gs.hanning(8)``.

Those of PyTorch are periodic unless `periodic=False`, those of NumPy symmetric.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.dtypes import as_dtype, float16, float64, get_default_dtype
from gradsmith.runtime.arrays.memory_format import expect_strided
from gradsmith.runtime.switches.truth import with_flag
from gradsmith.runtime.tensors.factories.creation import as_count
from gradsmith.signal import windows

__all__ = [
    "bartlett", "bartlett_window", "blackman", "blackman_window", "hamming", "hamming_window", "hann_window", "hanning",
    "kaiser", "kaiser_window",
]  # fmt: skip


def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Raised cosine whose ends are zero; `options` are dtype, device, layout, pin_memory and requires_grad."""
    return checked("hann_window", windows.hann, window_length, periodic, options)


def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> Tensor:
    """The raised cosine ``alpha - beta * cos(2 * pi * n / N)``; `options` are those of `hann_window`."""
    return checked("hamming_window", windows.general_cosine, window_length, periodic, {"a": [alpha, beta], **options})


def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Sum of three cosines; `options` are dtype, device, layout, pin_memory and requires_grad."""
    return checked("blackman_window", windows.blackman, window_length, periodic, options)


def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Triangle whose ends are zero; `options` are dtype, device, layout, pin_memory and requires_grad."""
    return checked("bartlett_window", windows.bartlett, window_length, periodic, options)


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """Window of Bessel functions; `options` are dtype, device, layout, pin_memory and requires_grad."""
    return checked("kaiser_window", windows.kaiser, window_length, periodic, {"beta": beta, **options})


def hanning(M: int) -> Tensor:
    """Symmetric raised cosine whose ends are zero."""
    return windows.hann(max(M, 0))


def hamming(M: int) -> Tensor:
    """Symmetric raised cosine whose ends are 0.08."""
    return windows.hamming(max(M, 0))


def blackman(M: int) -> Tensor:
    """Symmetric sum of three cosines."""
    return windows.blackman(max(M, 0))


def bartlett(M: int) -> Tensor:
    """Symmetric triangle whose ends are zero."""
    return windows.bartlett(max(M, 0))


def kaiser(M: int, beta: float) -> Tensor:
    """Symmetric window of Bessel functions."""
    return windows.kaiser(max(M, 0), beta=abs(beta))


def checked(op: str, window: Callable[..., Tensor], length: int, periodic: bool, options: dict[str, Any]) -> Tensor:
    """The window, with errors of PyTorch's type; `pin_memory` has no effect.

    Half precision, which those of `windows` do not have, is rounded from double.
    """
    given = {"dtype": None, "layout": None, "requires_grad": False, **options}
    dtype, layout, requires_grad = given.pop("dtype"), given.pop("layout"), given.pop("requires_grad")
    given.pop("pin_memory", None)
    expect_strided(op, layout)
    wanted = get_default_dtype() if dtype is None else as_dtype(dtype, op)
    if wanted.kind != "f":
        raise RuntimeError(f"{op} expects floating point dtypes, got: {wanted}")
    count = _length(op, length)
    try:
        found = window(count, sym=not periodic, dtype=float64 if wanted == float16 else wanted, **given)
    except ValueError as error:
        raise RuntimeError(f"{op}: {error}") from None
    found = found.to(wanted)
    return with_flag(op, found, requires_grad)


def _length(op: str, length: Any) -> int:
    if not isinstance(length, bool) and isinstance(length, (int, np.integer)) and length < 0:
        raise RuntimeError(f"{op} requires non-negative window_length, got window_length={length}")
    return as_count(op, "window_length", length)
