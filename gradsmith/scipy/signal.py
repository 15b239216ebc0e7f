"""SciPy's convolutions, filters and windows for tensors: ``gradsmith.scipy.signal``."""

from __future__ import annotations

import itertools
from typing import Any

import gradsmith.fft as fft
import gradsmith.generated as generated
import gradsmith.signal
from gradsmith.numpy.arguments import as_tensor, common, floating, is_tensor, np, wrapped
from gradsmith.numpy.shapes import pad
from gradsmith.scipy.recursive_filters import lfilter, lfilter_zi, sosfilt
from gradsmith.signal import windows

ours: Any = gradsmith.signal

__all__ = [
    "convolve", "convolve2d", "correlate", "correlate2d", "detrend", "fftconvolve", "hilbert", "lfilter", "lfilter_zi",
    "sosfilt", "windows",
]  # fmt: skip


def _pair(in1: Any, in2: Any) -> list[Any]:
    return common([as_tensor(in1), as_tensor(in2)])


def convolve(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """Convolution over all dimensions."""
    return ours.convolve(*_pair(in1, in2), mode, method)


def correlate(in1: Any, in2: Any, mode: str = "full", method: str = "auto") -> Any:
    """Cross-correlation over all dimensions."""
    return ours.correlate(*_pair(in1, in2), mode, method)


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Any:
    """Convolution by Fourier transforms."""
    return ours.fftconvolve(*[floating(one) for one in _pair(in1, in2)], mode, axes)


def convolve2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    """Convolution of matrices, with zeros or another number, copies, or mirror images beyond the edges."""
    return _planar(ours.convolve, in1, in2, mode, boundary, fillvalue, correlated=False)


def correlate2d(in1: Any, in2: Any, mode: str = "full", boundary: str = "fill", fillvalue: Any = 0) -> Any:
    """Cross-correlation of matrices."""
    return _planar(ours.correlate, in1, in2, mode, boundary, fillvalue, correlated=True)


def _planar(function: Any, in1: Any, in2: Any, mode: str, boundary: str, fillvalue: Any, correlated: bool) -> Any:
    x, y = _pair(in1, in2)
    if x.ndim != 2 or y.ndim != 2:
        raise ValueError("convolve2d inputs must both be 2-D arrays")
    if mode == "valid" or (boundary == "fill" and not is_tensor(fillvalue) and fillvalue == 0):
        return function(x, y, mode)
    kinds = {"fill": "constant", "wrap": "wrap", "circular": "wrap", "symm": "symmetric", "symmetric": "symmetric"}
    if boundary not in kinds:
        raise ValueError("Acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm').")
    options = {"constant_values": fillvalue} if boundary == "fill" else {}
    around = [(n - 1, n - 1) for n in y.shape]
    whole = function(pad(x, around, kinds[boundary], **options), y, "valid")
    if mode == "full":
        return whole
    first = [n // 2 if correlated else (n - 1) // 2 for n in y.shape]
    return whole[first[0] : first[0] + x.shape[0], first[1] : first[1] + x.shape[1]]


def hilbert(x: Any, N: Any = None, axis: int = -1) -> Any:
    """Analytic signal: the Fourier transform without negative frequencies."""
    tensor = floating(as_tensor(x))
    if tensor.dtype.kind == "c":
        raise ValueError("x must be real.")
    count = tensor.shape[axis] if N is None else int(N)
    if count <= 0:
        raise ValueError("N must be positive.")
    gains = np.zeros(count)
    gains[0] = 1
    gains[1 : (count + 1) // 2] = 2
    if count % 2 == 0:
        gains[count // 2] = 1
    spectrum = fft.fft(tensor, count, axis).movedim(axis, -1)
    return fft.ifft(spectrum * wrapped(gains).to(tensor.dtype), None, -1).movedim(-1, axis)


def detrend(data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: bool = False) -> Any:
    """Without the mean, or the least-squares line, of each piece between the break points."""
    x = floating(as_tensor(data)).movedim(axis, -1)
    if type in ("constant", "c"):
        return (x - x.mean(-1, True)).movedim(-1, axis)
    if type not in ("linear", "l"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    edges = np.unique(np.concatenate([[0], np.atleast_1d(bp), [x.shape[-1]]])).astype(int)
    if edges[-1] > x.shape[-1]:
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    pieces = [_without_line(x[..., first:last]) for first, last in itertools.pairwise(edges)]
    return generated.cat(pieces, -1).movedim(-1, axis)


def _without_line(x: Any) -> Any:
    count = x.shape[-1]
    basis = np.linalg.qr(np.stack([np.ones(count), np.arange(count)], 1))[0]
    kept = wrapped(np.eye(count) - basis @ basis.T).to(x.dtype)
    return x @ kept
