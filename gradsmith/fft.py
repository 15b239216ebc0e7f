"""Discrete Fourier transforms, with PyTorch's names and arguments: ``gs.fft.rfft(x)``."""

import math
from typing import Any

from gradsmith.generated.fft_namespace import *  # noqa: F403
from gradsmith.generated.fft_namespace import __all__ as _functions
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.dtypes import as_dtype, get_default_dtype
from gradsmith.runtime.arrays.memory_format import expect_strided
from gradsmith.runtime.tensors.factories.creation import arange, as_count, made

__all__ = ["fftfreq", "rfftfreq", *_functions]


def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Frequencies of the results of `fft`, in their order: zero, the positive and the negative ones.

    Parameters
    ----------
    n : int
        Number of elements that are transformed.
    d : float, default 1.0
        Distance of two samples.
    out : Tensor, optional
        A tensor that takes the frequencies.
    dtype, layout, device, requires_grad
        Of the result. By default the default dtype; a layout can only be ``gs.strided``.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    expect_strided("fftfreq", layout)
    numbers = _counted("fftfreq", as_count("fftfreq", "n", n), out, dtype, device)
    return _per_sample("fftfreq", (numbers + n // 2) % n - n // 2 if n else numbers, n * d, out, requires_grad)


def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Tensor | None = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Frequencies of the results of `rfft`, none of which is negative. The parameters are those of `fftfreq`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    expect_strided("rfftfreq", layout)
    count = as_count("rfftfreq", "n", n) // 2 + 1
    return _per_sample("rfftfreq", _counted("rfftfreq", count, out, dtype, device), n * d, out, requires_grad)


def _counted(op: str, count: int, out: Tensor | None, dtype: Any, device: Any) -> Tensor:
    wanted = get_default_dtype() if out is None else out.dtype
    if dtype is not None:
        wanted = as_dtype(dtype, op)
    if wanted.kind not in "fc":
        raise RuntimeError(f"{op} requires a floating point or complex dtype, got {wanted}")
    return arange(count, dtype=wanted, device=device)


def _per_sample(op: str, numbers: Tensor, length: float, out: Tensor | None, requires_grad: bool) -> Tensor:
    """Frequencies at a sampling distance of zero are infinite, and zero of them is NaN."""
    frequencies = numbers * (1.0 / length if length else math.copysign(math.inf, length))
    return (
        frequencies.requires_grad_(requires_grad) if out is None else made(frequencies.numpy(), requires_grad, op, out)
    )


def __getattr__(name: str) -> Any:
    from gradsmith.names.missing import missing_attribute

    raise missing_attribute(__name__, name)
