"""Filters that feed their output back: `lfilter` and its like of ``gradsmith.scipy.signal``.

A filter is a sum of delayed inputs, which are ops like any others, and a recursion ``y[t] = v[t] - tail @ y[t-n:t]``
that SciPy runs. The recursion solves a triangular system of equations, so that each of its derivatives is the recursion
again: backwards in time for the input, and forwards for tangents. So there are derivatives of any order.
"""

from __future__ import annotations

from typing import Any

import gradsmith.generated as generated
from gradsmith.autograd.function import Function as CustomFunction
from gradsmith.numpy.arguments import array_of, as_tensor, axis_of, common, floating, np, without_data
from gradsmith.runtime.tensors.factories.creation import zeros_like
from gradsmith.utils.optional import required

__all__ = ["lfilter", "lfilter_zi", "sosfilt"]


def lfilter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """Filter with the numerator `b` and the denominator `a`, differentiable by them, by `x` and by `zi`.

    Parameters
    ----------
    b, a : array_like
        Coefficients, of one dimension; those of `a` begin with one that is not zero.
    x : array_like
        Filtered along `axis`.
    zi : array_like, optional
        The state at the start: as `x`, with ``max(len(a), len(b)) - 1`` elements along `axis`.

    Returns
    -------
    Tensor, or (Tensor, Tensor)
        The output, and with `zi` the state at the end.
    """
    given = [floating(as_tensor(one)) for one in (b, a, x, *(() if zi is None else (zi,)))]
    numerator, denominator, signal, *start = common(given)
    if numerator.ndim != 1 or denominator.ndim != 1:
        raise ValueError("lfilter: object of too small depth for desired array; b and a must have one dimension")
    if not numerator.shape[0] or not denominator.shape[0] or not signal.ndim:
        raise ValueError("lfilter: b, a and x must have at least one element along their dimension")
    place = axis_of(axis, signal.ndim)
    signal = signal.movedim(place, -1)
    count = max(numerator.shape[0], denominator.shape[0]) - 1
    numerator, tail = _normalized(numerator, denominator, count)
    state = _state(start[0].movedim(place, -1), signal, count) if start else None
    result = _recursion(tail, _delayed(numerator, signal, state))
    if state is None:
        return result.movedim(-1, place)
    return result.movedim(-1, place), _end(numerator, tail, signal, result, state).movedim(-1, place)


def _normalized(numerator: Any, denominator: Any, count: int) -> tuple[Any, Any]:
    """Both of the same length, with a first element 1 of the denominator, which is left out."""
    first = denominator[:1]
    if not without_data([first]) and (array_of(first) == 0).any():
        raise ValueError("lfilter: a[0] must not be zero, since everything is divided by it")
    return _longer(numerator / first, count + 1), _longer(denominator / first, count + 1)[1:]


def _longer(row: Any, count: int) -> Any:
    missing = count - row.shape[-1]
    return generated.cat([row, row.new_zeros((*row.shape[:-1], missing))], -1) if missing else row


def _state(start: Any, signal: Any, count: int) -> Any:
    wanted = (*signal.shape[:-1], count)
    if start.ndim != signal.ndim or any(n not in (1, m) for n, m in zip(start.shape, wanted)):
        raise ValueError(
            f"lfilter: unexpected shape for zi: expected {wanted}, with the filtered axis last, found "
            f"{tuple(start.shape)}"
        )
    return start.expand(*wanted)


def _delayed(numerator: Any, signal: Any, state: Any) -> Any:
    """What enters the recursion: the delayed inputs, and the state, of which one element comes in at each time."""
    total = numerator[0] * signal
    for lag in range(1, min(numerator.shape[0], signal.shape[-1])):
        total = total + numerator[lag] * _later(signal, lag)
    if state is None or not state.shape[-1]:
        return total
    entering = state[..., : signal.shape[-1]]
    return total + _longer(entering, signal.shape[-1])


def _later(signal: Any, lag: int) -> Any:
    kept = max(signal.shape[-1] - lag, 0)
    zeros = signal.new_zeros((*signal.shape[:-1], signal.shape[-1] - kept))
    return generated.cat([zeros, signal[..., :kept]], -1)


def _end(numerator: Any, tail: Any, signal: Any, result: Any, state: Any) -> Any:
    """The state after the last element."""
    count, length = state.shape[-1], signal.shape[-1]
    places = []
    for i in range(count):
        total = state[..., i + length] if i + length < count else signal.new_zeros(signal.shape[:-1])
        for lag in range(i + 1, min(count, i + length) + 1):
            time = length - (lag - i)
            total = total + numerator[lag] * signal[..., time] - tail[lag - 1] * result[..., time]
        places.append(total)
    return generated.stack(places, -1) if places else state


# ---- the recursion


def _recursion(tail: Any, entering: Any) -> Any:
    """``y[t] = entering[t] - tail[0] * y[t-1] - tail[1] * y[t-2] - ...``, with zeros before the first time."""
    return _Recursion.apply(tail, entering) if tail.shape[0] and entering.shape[-1] else entering


def _solved(tail: Any, entering: Any) -> Any:
    signal: Any = required("scipy", "gradsmith.scipy.signal.lfilter", "scipy.signal")
    coefficients = np.concatenate([np.ones(1, tail.dtype), tail])
    return np.asarray(signal.lfilter(np.ones(1, tail.dtype), coefficients, entering), entering.dtype)


class _Recursion(CustomFunction):
    @staticmethod
    def vmap(info: Any, in_dims: Any, tail: Any, entering: Any) -> Any:
        """Slices of the input are filtered at once, those of the coefficients one after another."""
        if in_dims[1] is not None:
            entering = entering.movedim(in_dims[1], 0)
        if in_dims[0] is None:
            return _recursion(tail, entering), 0
        inputs = entering.unbind(0) if in_dims[1] is not None else [entering] * info.batch_size
        return generated.stack([_recursion(*pair) for pair in zip(tail.movedim(in_dims[0], 0), inputs)]), 0

    @staticmethod
    def forward(tail: Any, entering: Any) -> Any:
        return entering.new_tensor(_solved(array_of(tail), array_of(entering)))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], output)
        ctx.save_for_forward(inputs[0], output)

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        tail, result = ctx.saved_tensors
        entering = _recursion(tail.conj(), grad.flip(-1)).flip(-1)
        lags = [_inner(_later(result, lag), entering) for lag in range(1, tail.shape[0] + 1)]
        return -generated.stack(lags), entering

    @staticmethod
    def jvp(ctx: Any, tail_t: Any, entering_t: Any) -> Any:
        tail, result = ctx.saved_tensors
        total = zeros_like(result) if entering_t is None else entering_t
        for lag in range(1, tail.shape[0] + 1 if tail_t is not None else 1):
            total = total - tail_t[lag - 1] * _later(result, lag)
        return _recursion(tail, total)


def _inner(one: Any, other: Any) -> Any:
    return (one.conj() * other).sum()


# ---- filters of filters


def lfilter_zi(b: Any, a: Any) -> Any:
    """The state in which a step of height 1 has a constant output."""
    numerator, denominator = common([floating(as_tensor(one)) for one in (b, a)])
    if numerator.ndim != 1 or denominator.ndim != 1:
        raise ValueError("lfilter_zi: Numerator b and denominator a must be 1-D")
    count = max(numerator.shape[0], denominator.shape[0]) - 1
    numerator, tail = _normalized(numerator, denominator, count)
    if not count:
        return numerator[:0]
    # The state of a constant input 1 and output y: zi[i] is the sum of b[k] - a[k] * y over k > i.
    constant = numerator.sum() / (1 + tail.sum())
    return (numerator[1:] - tail * constant).flip(0).cumsum(0).flip(0)


def sosfilt(sos: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """A cascade of filters of the second order: each row of `sos` has three coefficients of `b` and three of `a`."""
    sections = floating(as_tensor(sos))
    if sections.ndim != 2 or sections.shape[1] != 6:
        raise ValueError("sosfilt: sos array must be shape (n_sections, 6)")
    result = as_tensor(x)
    if zi is None:
        for section in sections.unbind(0):
            result = lfilter(section[:3], section[3:], result, axis)
        return result
    ends = []
    for section, start in zip(sections.unbind(0), as_tensor(zi).unbind(0)):
        result, end = lfilter(section[:3], section[3:], result, axis, start)
        ends.append(end)
    return result, generated.stack(ends)
