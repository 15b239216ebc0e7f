"""`assert_close`: values that should be equal but for rounding, compared with PyTorch's rules and tolerances."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradsmith.runtime.arrays import dtypes
from gradsmith.runtime.tensors.factories.creation import as_tensor
from gradsmith.runtime.tensors.factories.python_data import is_tensor

Message = str | Callable[[str], str] | None

# dtype -> relative and absolute tolerance; whatever is not here has to be equal.
_TOLERANCES = {
    dtypes.float16: (1e-3, 1e-5),
    dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7),
    dtypes.complex64: (1.3e-6, 1e-5),
    dtypes.complex128: (1e-7, 1e-7),
}
_NUMBERS = (bool, int, float, complex)


class _Checks(NamedTuple):
    """What is asked of a pair."""

    rtol: float | None
    atol: float | None
    equal_nan: bool
    device: bool
    dtype: bool
    layout: bool
    stride: bool
    allow_subclasses: bool

    def tolerances(self, *found: np.dtype[Any]) -> tuple[float, float]:
        """Those that were given, or the wider ones of the dtypes."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        pairs = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in found]
        return max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: Message = None,
) -> None:
    """Assert that all elements are close: ``|actual - expected| <= atol + rtol * |expected|``.

    Parameters
    ----------
    actual, expected : Tensor, number, ndarray, sequence or mapping
        Sequences and mappings are compared item by item, whatever their classes.
    allow_subclasses : bool
        Whether the two may be of different classes over Tensor.
    rtol, atol : float, optional
        Relative and absolute tolerance, both or none. Without them 1.3e-6 and 1e-5 for float32 and complex64, 1e-7 and
        1e-7 for float64 and complex128, 1e-3 and 1e-5 for float16, zero for all others.
    equal_nan : bool
        Whether NaN is close to NaN.
    check_device, check_dtype, check_layout, check_stride : bool
        Which properties have to be equal too. Shapes always are.
    msg : str or callable, optional
        The message, or a function that makes it of what it would be.

    Raises
    ------
    AssertionError
        For values that differ, with the greatest differences and where they are.
    ValueError
        For one tolerance without the other.
    TypeError
        For values that cannot be compared.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.testing.assert_close(gs.tensor([1.0]) / 3, gs.tensor([0.333333]))
    >>> gs.testing.assert_close(gs.tensor([1.0, 2.0]), gs.tensor([1.0, 2.5]))
    Traceback (most recent call last):
    AssertionError: Tensor-likes are not close!
    <BLANKLINE>
    Mismatched elements: 1 / 2 (50.0%)
    Greatest absolute difference: 0.5 at index (1,) (up to 1e-05 allowed)
    Greatest relative difference: 0.2 at index (1,) (up to 1.3e-06 allowed)
    """
    __tracebackhide__ = True
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    checks = _Checks(rtol, atol, equal_nan, check_device, check_dtype, check_layout, check_stride, allow_subclasses)
    for place, problem in _problems(actual, expected, checks, ()):
        where = f"\n\nThe failure occurred for item {''.join(f'[{key!r}]' for key in place)}" if place else ""
        text = problem + where
        raise AssertionError(msg(text) if callable(msg) else text if msg is None else msg)


def _problems(
    actual: Any, expected: Any, checks: _Checks, place: tuple[Any, ...]
) -> Iterator[tuple[tuple[Any, ...], str]]:
    """(place, problem) of every pair that differs."""
    if _are(actual, expected, Sequence) and not isinstance(actual, (str, bytes)):
        if len(actual) != len(expected):
            yield place, f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
            return
        for index, (one, other) in enumerate(zip(actual, expected, strict=True)):
            yield from _problems(one, other, checks, (*place, index))
    elif _are(actual, expected, Mapping):
        if actual.keys() != expected.keys():
            yield place, _different_keys(actual, expected)
            return
        for key in actual:
            yield from _problems(actual[key], expected[key], checks, (*place, key))
    elif problem := _problem_of_pair(actual, expected, checks):
        yield place, problem


def _are(actual: Any, expected: Any, kind: type) -> bool:
    return isinstance(actual, kind) and isinstance(expected, kind)


def _different_keys(actual: Mapping[Any, Any], expected: Mapping[Any, Any]) -> str:
    missing = sorted(expected.keys() - actual.keys(), key=str)
    additional = sorted(actual.keys() - expected.keys(), key=str)
    return (
        "The keys of the mappings do not match:\n"
        f"Missing keys in the actual mapping: {missing}\nAdditional keys in the actual mapping: {additional}"
    )


def _problem_of_pair(actual: Any, expected: Any, checks: _Checks) -> str:
    if actual is None or expected is None:
        return "" if actual is expected else f"None mismatch: {actual} is not {expected}"
    if isinstance(actual, (bool, np.bool_)) and isinstance(expected, (bool, np.bool_)):
        return "" if bool(actual) == bool(expected) else f"Booleans mismatch: {actual} is not {expected}"
    if isinstance(actual, _NUMBERS) and isinstance(expected, _NUMBERS):
        return _problem_of_numbers(actual, expected, checks)
    if _is_tensor_like(actual) and _is_tensor_like(expected):
        return _problem_of_tensors(actual, expected, checks)
    raise TypeError(f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}.")


def _is_tensor_like(value: Any) -> bool:
    return is_tensor(value) or isinstance(value, (np.ndarray, np.generic))


# ---- numbers


def _problem_of_numbers(actual: Any, expected: Any, checks: _Checks) -> str:
    if checks.dtype and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}."
    rtol, atol = checks.tolerances(_own_dtype(actual), _own_dtype(expected))
    return _problem_of_scalars(actual, expected, rtol, atol, checks.equal_nan)


def _own_dtype(number: Any) -> np.dtype[Any]:
    return dtypes.float64 if isinstance(number, float) else dtypes.as_dtype(type(number), "assert_close")


def _problem_of_scalars(actual: Any, expected: Any, rtol: float, atol: float, equal_nan: bool) -> str:
    if bool(np.all(_are_close(np.asarray(actual), np.asarray(expected), rtol, atol, equal_nan))):
        return ""
    difference = abs(actual - expected)
    relative = difference / abs(expected) if expected else float("inf")
    exact = rtol == atol == 0
    return (
        f"Scalars are not {'equal' if exact else 'close'}!\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {difference}{_allowed(atol, exact)}\n"
        f"Relative difference: {relative}{_allowed(rtol, exact)}"
    )


def _allowed(tolerance: float, exact: bool) -> str:
    return "" if exact else f" (up to {tolerance} allowed)"


# ---- tensors


def _problem_of_tensors(actual: Any, expected: Any, checks: _Checks) -> str:
    if not checks.allow_subclasses and type(actual) is not type(expected):
        raise TypeError(f"assert_close(): the classes differ, {type(actual)} and {type(expected)}")
    one, other = as_tensor(actual).detach(), as_tensor(expected).detach()
    problem = _different_properties(one, other, checks)
    if problem or one.is_meta or other.is_meta:
        return problem
    rtol, atol = checks.tolerances(one.dtype, other.dtype)
    a, b = one.numpy(force=True), other.numpy(force=True)
    if a.dtype != b.dtype:
        common = dtypes.promote_types(a.dtype, b.dtype)
        a, b = a.astype(common), b.astype(common)
    close = _are_close(a, b, rtol, atol, checks.equal_nan)
    if close.all():
        return ""
    if a.ndim == 0:
        return _problem_of_scalars(a.item(), b.item(), rtol, atol, checks.equal_nan)
    return _text(a, b, close, rtol, atol)


def _different_properties(one: Any, other: Any, checks: _Checks) -> str:
    compared = {"shape": True, "device": checks.device, "dtype": checks.dtype, "layout": checks.layout}
    for name, asked in compared.items():
        found, wanted = getattr(one, name), getattr(other, name)
        if asked and found != wanted:
            return f"The values for attribute '{name}' do not match: {found} != {wanted}."
    if checks.stride and one.stride() != other.stride():
        return f"The values for attribute 'stride()' do not match: {one.stride()} != {other.stride()}."
    return ""


def _are_close(a: Any, b: Any, rtol: float, atol: float, equal_nan: bool) -> Any:
    if a.dtype.kind in "biu" and rtol == atol == 0:
        return a == b
    with np.errstate(invalid="ignore", over="ignore"):
        return np.isclose(_wide(a), _wide(b), rtol, atol, equal_nan)


def _wide(array: Any) -> Any:
    """Differences of integers and of float16 do not fit their own dtypes."""
    if array.dtype.kind == "c":
        return array.astype(np.complex128)
    return array.astype(np.float64)


def _text(a: Any, b: Any, close: Any, rtol: float, atol: float) -> str:
    exact = rtol == atol == 0
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        difference = np.where(close, 0, np.abs(_wide(a) - _wide(b)))
        relative = np.where(close, 0, difference / np.abs(_wide(b)))
    wrong = int((~close).sum())
    is_integer = a.dtype.kind in "biu"
    return (
        f"Tensor-likes are not {'equal' if exact else 'close'}!\n\n"
        f"Mismatched elements: {wrong} / {a.size} ({wrong / a.size:.1%})\n"
        f"Greatest absolute difference: {_greatest(difference, is_integer)}{_allowed(atol, exact)}\n"
        f"Greatest relative difference: {_greatest(relative, False)}{_allowed(rtol, exact)}"
    )


def _greatest(differences: Any, is_integer: bool) -> str:
    place = np.unravel_index(int(np.argmax(differences)), differences.shape)  # the first NaN is the greatest
    value = differences[place].item()
    return f"{int(value) if is_integer else value} at index {tuple(map(int, place))}"
