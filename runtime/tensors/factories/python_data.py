"""From Python data (numbers, nested lists, arrays, tensors) to one ndarray.

PyTorch's rules: Python floats take the default dtype, integers int64, a list takes the
highest category in it; whatever already has a dtype (arrays, NumPy scalars, tensors)
keeps it.  NumPy's own inference differs (float64, object arrays, numbers out of text),
so the types of the leaves are looked at first and the dtype is told to NumPy.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Set
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from gradsmith.runtime.arrays.dtypes import check_array_dtype, get_default_dtype, number_dtype, promote_types
from gradsmith.runtime.graph.tensor import TensorBase

if TYPE_CHECKING:
    from gradsmith.generated.tensor import Tensor

_NUMBERS = (bool, int, float, complex)
_NESTED = (list, tuple)
# Deeper than NumPy's dimensions go; also what stops a list that contains itself.
_DEEPEST = 64


def is_tensor(value: Any) -> TypeGuard[Tensor]:
    return isinstance(value, TensorBase)


def array_of_data(data: Any, dtype: np.dtype[Any] | None, op: str) -> np.ndarray[Any, Any]:
    """A new array with the values of `data`, of `dtype` or of the dtype that the values imply."""
    if isinstance(data, np.generic) and dtype is not None:
        data = data.item()  # a number, which has to fit
    if type(data) in _NUMBERS:
        return _convert(data, dtype or number_dtype(data), op)
    existing = existing_array(data)
    if existing is not None:
        return np.array(existing, dtype=dtype)
    data = _with_numbers(data, 0)
    # Looked at even when a dtype is given: NumPy would make numbers of text.
    dtypes = None
    with contextlib.suppress(RuntimeError):  # for a leaf that is no number, but perhaps like a list
        dtypes = _dtypes_of_leaves(data, op, depth=0)
    if dtypes is None:
        data = _in_lists(data, 0)
        dtypes = _dtypes_of_leaves(data, op, depth=0)
    return _convert(data, dtype or _promoted(dtypes), op)


def _in_lists(data: Any, depth: int) -> Any:
    """The data, with a list for each object that is only like one: it has a length and items by number."""
    if isinstance(data, _NESTED):
        return [_in_lists(item, depth + 1) for item in data] if depth < _DEEPEST else data
    return [_in_lists(data[i], depth + 1) for i in range(len(data))] if _is_like_list(data) else data


def _with_numbers(data: Any, depth: int) -> Any:
    """The data, with an array without dimensions for each tensor of one element, which is a number, as in PyTorch."""
    if isinstance(data, _NESTED):
        if depth == _DEEPEST or all(type(item) in _NUMBERS for item in data):
            return data
        return [_with_numbers(item, depth + 1) for item in data]
    return data.numpy(force=True).reshape(()) if is_tensor(data) and data.ndim and data.numel() == 1 else data


def _is_like_list(data: Any) -> bool:
    kind = type(data)
    if not (hasattr(kind, "__len__") and hasattr(kind, "__getitem__")):
        return False
    return not isinstance(data, (str, bytes, Mapping, Set)) and existing_array(data) is None


def _promoted(dtypes: set[np.dtype[Any]]) -> np.dtype[Any]:
    if not dtypes:
        return get_default_dtype()
    return reduce(promote_types, sorted(dtypes, key=str)) if len(dtypes) > 1 else dtypes.pop()


def existing_array(data: Any) -> np.ndarray[Any, Any] | None:
    """The ndarray that `data` is, wraps or exports (sharing memory), or None for Python data."""
    if is_tensor(data):
        return data.numpy(force=True)
    if isinstance(data, (*_NUMBERS, *_NESTED, str, bytes)) and not isinstance(data, np.generic):
        return None
    if not (isinstance(data, (bytearray, memoryview)) or hasattr(data, "__array__") or _exports_buffer(data)):
        return None
    refuse_masked(data)
    array = np.asarray(_without_history(data))
    check_array_dtype(array)
    return array


def _without_history(data: Any) -> Any:
    """Of a tensor of PyTorch's, which else would not give its array."""
    return data.detach() if getattr(data, "requires_grad", False) is True and hasattr(data, "detach") else data


def refuse_masked(data: Any) -> None:
    if isinstance(data, np.ma.MaskedArray):
        raise TypeError("a masked array has no place for its mask in a tensor; fill it first: array.filled(value)")


def _exports_buffer(data: Any) -> bool:
    """Whether `data` is an `array.array` or the like."""
    try:
        memoryview(data).release()
    except TypeError:
        return False
    return True


def _dtypes_of_leaves(data: Any, op: str, depth: int) -> set[np.dtype[Any]]:
    """Every dtype that a leaf of the nested lists has or implies; the error for a leaf that is no number."""
    if depth > _DEEPEST:
        raise ValueError(f"{op}(): the data is nested more than {_DEEPEST} deep")
    if not isinstance(data, _NESTED):
        return {_dtype_of_leaf(data, op)}
    found: set[np.dtype[Any]] = set()
    # Python numbers are judged by type, once per list, which keeps long lists fast.
    for kind in set(map(type, data)):
        if kind in _NUMBERS:
            found.add(number_dtype(kind()))
        else:
            for item in data:
                if type(item) is kind:
                    found |= _dtypes_of_leaves(item, op, depth + 1)
    return found


def _dtype_of_leaf(value: Any, op: str) -> np.dtype[Any]:
    existing = existing_array(value)
    if existing is not None:
        dtype: np.dtype[Any] = existing.dtype
        return dtype
    if isinstance(value, _NUMBERS):
        return number_dtype(value)
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{op}(): invalid data type '{type(value).__name__}': {value!r} is not a number")
    raise RuntimeError(f"{op}(): could not infer dtype of {type(value).__name__}")


def _convert(data: Any, dtype: np.dtype[Any], op: str, is_plain: bool = False) -> np.ndarray[Any, Any]:
    try:
        with np.errstate(over="ignore"):  # a float too large for float32 is infinite
            return _integers(data, dtype) if dtype.kind in "iu" else np.array(data, dtype=dtype)
    except OverflowError:
        raise RuntimeError(f"{op}(): a value cannot be converted to type {dtype.name} without overflow") from None
    except RuntimeError:  # a tensor in the list that requires grad does not give its array by itself
        if is_plain:
            raise
        return _convert(_without_tensors(data), dtype, op, is_plain=True)
    except ValueError as error:
        _require_regular(data, op)
        raise ValueError(f"{op}(): {error}") from None


def _integers(data: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array of integers. In unsigned types negative ones wrap around, as in PyTorch; whatever else must fit.

    NumPy looks at Python's integers alone: fractions and integers that have a dtype it converts as they come.
    """
    try:
        exact = np.array(data)
    except (ValueError, RuntimeError):
        return np.array(data, dtype=dtype)  # what is wrong with it is reported there
    if exact.dtype.kind not in "iuf" or exact.size == 0:
        return np.array(data, dtype=dtype)
    bounds = np.iinfo(dtype)
    lowest = -bounds.max if dtype.kind == "u" and exact.dtype.kind != "f" and dtype.itemsize < 8 else bounds.min
    if not (exact.min() >= lowest and exact.max() <= bounds.max):
        raise OverflowError
    return exact.astype(dtype) if exact.dtype.kind in "iu" else np.array(data, dtype=dtype)


def _without_tensors(data: Any) -> Any:
    if is_tensor(data):
        return data.numpy(force=True)
    return [_without_tensors(item) for item in data] if isinstance(data, _NESTED) else _without_history(data)


def _require_regular(data: Any, op: str) -> None:
    """Raise, naming the place, unless all lists of one depth are equally long."""
    lengths: dict[int, int | None] = {}
    for place, length in _lengths(data, ()):
        expected = lengths.setdefault(len(place), length)
        if length == expected:
            continue
        where = "".join(f"[{index}]" for index in place)
        if length is None or expected is None:
            raise ValueError(
                f"{op}(): expected {_described(expected)} at data{where}, got {_described(length)}: "
                "lists of one depth must be equally deep"
            )
        raise ValueError(
            f"{op}(): expected sequence of length {expected} at dim {len(place)} (got {length}), at data{where}"
        )


def _lengths(data: Any, place: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], int | None]]:
    """Every element of the nest with its place and length, None for a number."""
    if not isinstance(data, (*_NESTED, np.ndarray, TensorBase)) or getattr(data, "ndim", 1) == 0:
        yield place, None
        return
    items: Any = data
    yield place, len(items)
    for index, item in enumerate(items):
        yield from _lengths(item, (*place, index))


def _described(length: int | None) -> str:
    return "a number" if length is None else f"a sequence of length {length}"
