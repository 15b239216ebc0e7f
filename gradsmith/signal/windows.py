"""Windows of signals, with PyTorch's names and arguments: ``gs.signal.windows.hann(8, sym=False)``.

A symmetric window is for filters. One that is not, `sym=False`, is a period of a window one element longer, and for
spectra.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.dtypes import MissingDtype, get_default_dtype
from gradsmith.runtime.arrays.memory_format import layout as Layout
from gradsmith.runtime.arrays.memory_format import strided
from gradsmith.runtime.tensors.factories.creation import tensor

__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming",
    "hann", "kaiser", "nuttall",
]  # fmt: skip

Array: TypeAlias = NDArray[np.float64]


def bartlett(
    M: int, *, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None
) -> Tensor:
    """Triangle whose ends are zero; see `hann` for the parameters."""
    expect_strided("bartlett", layout)
    return made("bartlett", M, sym, lambda x: 1 - np.abs(2 * x - 1), dtype, device, requires_grad)


def blackman(
    M: int, *, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None
) -> Tensor:
    """Sum of three cosines; see `hann` for the parameters."""
    expect_strided("blackman", layout)
    return made("blackman", M, sym, cosines([0.42, 0.5, 0.08]), dtype, device, requires_grad)


def cosine(
    M: int, *, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None
) -> Tensor:
    """Half a period of a sine, without its zeros; see `hann` for the parameters."""
    expect_strided("cosine", layout)
    places = numbers("cosine", M)
    period = _last(M, sym) + 1
    return finished("cosine", np.sin(np.pi * (places + 0.5) / period), dtype, device, requires_grad)


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
) -> Tensor:
    """Exponential decay with the constant `tau` on both sides of `center`, the middle unless the window is periodic.

    Raises
    ------
    ValueError
        `tau` is not positive, or a symmetric window has a `center`. See also `hann`, for the other parameters too.
    """
    expect_strided("exponential", layout)
    if tau <= 0:
        raise ValueError(f"exponential: Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("exponential: Center must be None for symmetric windows.")
    places = numbers("exponential", M)
    middle = _last(M, sym) / 2 if center is None else center
    return finished("exponential", np.exp(-np.abs(places - middle) / tau), dtype, device, requires_grad)


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
) -> Tensor:
    """Bell curve with the standard deviation `std`, in elements; see `hann` for the other parameters.

    Raises
    ------
    ValueError
        `std` is not positive.
    """
    expect_strided("gaussian", layout)
    if std <= 0:
        raise ValueError(f"gaussian: Standard deviation must be positive, got: {std} instead.")
    places = numbers("gaussian", M) - _last(M, sym) / 2
    return finished("gaussian", np.exp(-0.5 * (places / std) ** 2), dtype, device, requires_grad)


def general_cosine(
    M: int,
    *,
    a: Sequence[float],
    sym: bool = True,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
) -> Tensor:
    """Sum of cosines with the coefficients `a`, of alternating signs; see `hann` for the other parameters.

    Raises
    ------
    TypeError
        `a` is no sequence.
    ValueError
        `a` is empty.
    """
    expect_strided("general_cosine", layout)
    if not isinstance(a, Sequence):
        raise TypeError(f"general_cosine: Coefficients must be a list/tuple, but are {type(a).__name__}")
    if not a:
        raise ValueError("general_cosine: Coefficients cannot be empty")
    return made("general_cosine", M, sym, cosines(a), dtype, device, requires_grad)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
) -> Tensor:
    """Raised cosine of mean `alpha`, one in the middle; see `hann` for the other parameters."""
    expect_strided("general_hamming", layout)
    return made("general_hamming", M, sym, cosines([alpha, 1 - alpha]), dtype, device, requires_grad)


def hamming(
    M: int, *, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None
) -> Tensor:
    """Raised cosine whose ends are 0.08; see `hann` for the parameters."""
    expect_strided("hamming", layout)
    return made("hamming", M, sym, cosines([0.54, 0.46]), dtype, device, requires_grad)


def hann(
    M: int, *, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None
) -> Tensor:
    """Raised cosine whose ends are zero.

    Parameters
    ----------
    M : int
        Number of elements.
    sym : bool, default True
        A symmetric window, for filters; False: one that continues periodically, for spectra.
    dtype, device, requires_grad, layout
        Of the result. By default the default dtype.

    Returns
    -------
    Tensor

    Raises
    ------
    TypeError
        `M` is no integer.
    ValueError
        `M` is negative, or the dtype is neither float32 nor float64.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.signal.windows.hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    expect_strided("hann", layout)
    return made("hann", M, sym, cosines([0.5, 0.5]), dtype, device, requires_grad)


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    layout: Any = None,
) -> Tensor:
    """Window of Bessel functions, the narrower the greater `beta`; see `hann` for the other parameters.

    Raises
    ------
    ValueError
        `beta` is negative.
    """
    expect_strided("kaiser", layout)
    if beta < 0:
        raise ValueError(f"kaiser: beta must be non-negative, got: {beta} instead.")
    return made("kaiser", M, sym, bessel(beta), dtype, device, requires_grad)


def nuttall(
    M: int, *, sym: bool = True, dtype: Any = None, device: Any = None, requires_grad: bool = False, layout: Any = None
) -> Tensor:
    """Sum of four cosines; see `hann` for the parameters."""
    expect_strided("nuttall", layout)
    return made("nuttall", M, sym, cosines([0.3635819, 0.4891775, 0.1365995, 0.0106411]), dtype, device, requires_grad)


# ---- helpers


def expect_strided(op: str, layout: Any) -> None:
    """Refuse a layout that no window has; None is `strided`, too."""
    if layout is None or layout is strided:
        return
    kind = ValueError if isinstance(layout, Layout) else TypeError
    raise kind(f"{op} is implemented for strided tensors only, got: {layout!r}; leave `layout` out")


def made(op: str, M: int, sym: bool, shape: Callable[[Array], Array], *faces: Any) -> Tensor:
    """A window by its shape between 0 and 1. One element alone is 1."""
    places, intervals = numbers(op, M), _last(M, sym)
    return finished(op, shape(places / intervals) if M > 1 else np.ones_like(places), *faces)


def _last(M: int, sym: bool) -> int:
    """Number of the last element of the whole window, of which one that is not symmetric lacks the last."""
    return M - 1 if sym or M == 1 else M


def numbers(op: str, M: int) -> Array:
    """The numbers of the elements of a window of this length."""
    try:
        length = operator.index(M)
    except TypeError:
        raise TypeError(f"{op}(): argument 'M' must be int, not {type(M).__name__}") from None
    if length < 0:
        raise ValueError(f"{op} requires non-negative window length, got M={M}")
    return np.arange(length, dtype=np.float64)


def finished(op: str, values: Array, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    """Computed in double precision, then rounded once."""
    wanted = get_default_dtype() if dtype is None else dtype
    if isinstance(wanted, MissingDtype) or np.dtype(wanted) not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ValueError(f"{op} expects float32 or float64 dtypes, got: {wanted}; .to(dtype) converts the result")
    return tensor(values, dtype=wanted, device=device, requires_grad=requires_grad)


def cosines(coefficients: Sequence[float]) -> Callable[[Array], Array]:
    def shape(x: Array) -> Array:
        result = np.full_like(x, coefficients[0])
        for i, a in enumerate(coefficients[1:], 1):
            result += (-1) ** i * a * np.cos(2 * np.pi * i * x)
        return result

    return shape


def bessel(beta: float) -> Callable[[Array], Array]:
    return lambda x: np.i0(beta * np.sqrt(np.maximum(1 - (2 * x - 1) ** 2, 0))) / np.i0(beta)
