"""Indexing, ``x[...]``: which op is called, and with which arguments.

Integers, slices, None and Ellipsis select a view; a mask, an integer array or a list among them makes a copy, as in
NumPy and PyTorch. Indices are NumPy's in every detail but two, which are PyTorch's: a full integer index gives a 0-d
tensor, not a number; and integers beside arrays select first, so that ``x[0, :, [1, 2]]`` is ``x[0][:, [1, 2]]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradsmith.runtime.arrays.array import element_of, wrapped_element
from gradsmith.runtime.arrays.dtypes import can_cast
from gradsmith.runtime.arrays.masks import uint8_mask, warn_of_uint8_mask
from gradsmith.runtime.arrays.separate_arrays import separate
from gradsmith.runtime.arrays.warning_place import warn_caller
from gradsmith.runtime.batching.batch import is_batched_tensor, is_tracing
from gradsmith.runtime.calls.forward_ad import all_tangents
from gradsmith.runtime.calls.inplace import refuse_repeated_elements
from gradsmith.runtime.graph.tensor import TensorBase, from_array, from_shared_array
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.array_functions import is_in_function_of_arrays
from gradsmith.runtime.tensors.index_errors import MASK_KINDS, explained, is_array, width

_INTEGER_KINDS = frozenset(char for char in "ilq" if np.dtype(char) in (np.int32, np.int64))
_INDEX_KINDS = _INTEGER_KINDS | MASK_KINDS
_PLAIN = (int, slice, type(None), type(Ellipsis))
_NO_NUMBERS = (TensorBase, np.ndarray, Sequence, slice, type(None), type(Ellipsis))


def getitem(tensor: Any, key: Any) -> Any:
    """``tensor[key]``.

    Raises
    ------
    IndexError
        Out of range, too many indices, a mask of another shape, an index of a type that NumPy does not take.
    """
    index, is_basic = _normalise(tensor, key)
    try:
        return upcalls.basic_index(tensor, index) if is_basic else upcalls.index(tensor, index)
    except IndexError as error:
        raise explained(error, tensor.shape, index) from None


def setitem(tensor: Any, key: Any, value: Any) -> None:
    """``tensor[key] = value``, recorded; `value` is broadcast to the places."""
    if isinstance(key, bool):
        _set_all_or_none(tensor, key, value)
        return
    index, is_basic = _normalise(tensor, key)
    try:
        _set_places(tensor, index, is_basic, value)
    except IndexError as error:
        raise explained(error, tensor.shape, index) from None


def _set_places(tensor: Any, index: tuple[Any, ...], is_basic: bool, value: Any) -> None:
    if is_basic and isinstance(value, (int, float, complex)) and tensor.dtype != np.float16:
        part = _part(tensor, index)
        refuse_repeated_elements("copy_", part)  # unlike fill_ itself, as in PyTorch
        upcalls.fill_(part, value)
        return
    source = _without_leading_ones(_as_source(tensor, value))
    if is_basic:
        upcalls.copy_(_part(tensor, index), source)
    else:
        part, arrays = _split(tensor, index)
        if isinstance(value, TensorBase) and value.numel() == 1 and _is_one_mask(arrays):
            source = source.clone()  # one number, which is read before anything is written
        if is_in_function_of_arrays() and _is_recorded(source) and _names_twice(arrays, part.shape):
            arrays, source = _last_of_each(part, arrays, source)
        upcalls.index_put_(part, arrays, source)


def _is_recorded(source: Any) -> bool:
    return source.numel() > 1 and bool(source.requires_grad or all_tangents(source) or is_batched_tensor(source))


def _names_twice(index: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Do arrays of integers whose values are known name a place twice? In NumPy the last value stays there, and has the
    gradient; the op sends it to all of them, as PyTorch's does."""
    if Ellipsis in [part for part in index if not is_array(part)]:
        index = _without_ellipsis(index, len(shape))
    arrays, sizes = [], []
    for part, size in zip(index, shape):
        if not is_array(part):
            continue
        if part.dtype.kind == "b" or (isinstance(part, TensorBase) and (is_batched_tensor(part) or is_tracing())):
            return False  # what a mask names is named once
        arrays.append(part.numpy(force=True) if isinstance(part, TensorBase) else part)
        sizes.append(size)
    found: Any = arrays[0] if len(arrays) == 1 else np.broadcast(*arrays)
    if found.size < 2:
        return False
    if found.size < 50 and len(arrays) == 1:
        distinct = {place % (sizes[0] or 1) for place in found.ravel().tolist()}
        return len(distinct) < int(found.size)
    order = np.arange(found.size).reshape(found.shape)
    last, places = np.empty(sizes, np.intp), tuple(arrays)
    last[places] = order
    return bool((last[places] != order).any())


def _without_ellipsis(index: tuple[Any, ...], ndim: int) -> tuple[Any, ...]:
    place = next(n for n, part in enumerate(index) if part is Ellipsis)
    return (*index[:place], *[slice(None)] * (ndim - len(index) + 1), *index[place + 1 :])


def _last_of_each(part: Any, index: tuple[Any, ...], source: Any) -> tuple[tuple[Any, ...], Any]:
    """The places that an index names, each once, and what is written there last."""
    arrays = tuple(one.numpy(force=True) if isinstance(one, TensorBase) else one for one in index)
    named = np.arange(part.numel()).reshape(tuple(part.shape))[arrays]
    places, at = np.unique(named.reshape(-1)[::-1], return_index=True)
    values = source.expand(named.shape).reshape(-1)
    kept = upcalls.index(values, (named.size - 1 - at,))
    return tuple(np.unravel_index(places, tuple(part.shape))), kept


def _set_all_or_none(tensor: Any, everything: bool, value: Any) -> None:
    """``tensor[True] = value`` is a copy to all of it, ``tensor[False] = value`` does nothing at all."""
    source = _as_source(tensor, value)
    if everything:
        upcalls.copy_(tensor[None], _without_leading_ones(source))


def _split(tensor: Any, index: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Split an index: the view that integers, slices and None select, and the rest for the arrays."""
    if all(is_array(part) or part is Ellipsis or _is_whole(part) for part in index):
        return tensor, index
    basic: list[Any] = []
    arrays: list[Any] = []
    for part in index:
        if is_array(part):
            basic += [slice(None)] * width(part)
            arrays.append(part)
        else:
            basic.append(part)
            if not isinstance(part, int):
                arrays.append(part if part is Ellipsis else slice(None))
    return upcalls.basic_index(tensor, tuple(basic)), tuple(arrays)


def _is_one_mask(index: tuple[Any, ...]) -> bool:
    arrays = [part for part in index if is_array(part)]
    return len(arrays) == 1 and arrays[0].dtype == np.bool_ and arrays[0].ndim > 0


def _is_whole(part: Any) -> bool:
    return isinstance(part, slice) and part == slice(None)


def _part(tensor: Any, index: tuple[Any, ...]) -> Any:
    """The view to write to; the tensor itself when that is all of it, so that its history holds no view."""
    return tensor if _selects_all(index, tensor.shape) else upcalls.basic_index(tensor, index)


def _selects_all(index: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Whether an index, in which there is an Ellipsis, is made of slices over all of their dimensions."""
    place = index.index(Ellipsis)
    before, after = index[:place], index[place + 1 :]
    if len(before) + len(after) > len(shape):
        return False
    return all(map(_is_all, before, shape)) and all(map(_is_all, reversed(after), reversed(shape)))


def _is_all(part: Any, length: int) -> bool:
    """Whether a part of an index is a slice that leaves nothing out; like PyTorch, -2: does not count."""
    if type(part) is not slice or part.start not in (None, 0) or part.step not in (None, 1):
        return False
    return part.stop is None or (type(part.stop) is int and part.stop >= length)


def _as_source(tensor: Any, value: Any) -> Any:
    if isinstance(value, TensorBase):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, int, float, complex)):
        return from_array(_element(value, tensor.dtype))
    if isinstance(value, (list, tuple)) and is_in_function_of_arrays() and _has_tensors(value):
        return _joined(value, tensor.dtype)
    array = np.asarray(value)
    if array.dtype.kind not in "biufc":
        raise TypeError(
            f"can't assign a {type(value).__name__} to a {tensor.dtype} tensor; expected a number, an array or a Tensor"
        )
    if can_cast(array.dtype, tensor.dtype):
        return from_array(array.astype(tensor.dtype))
    return from_shared_array(array)  # which is refused where it is written


def _has_tensors(value: Sequence[Any]) -> bool:
    return any(
        isinstance(part, TensorBase) or (isinstance(part, (list, tuple)) and _has_tensors(part)) for part in value
    )


def _joined(value: Sequence[Any], dtype: np.dtype[Any]) -> Any:
    """A list of numbers and tensors, which keep their history."""
    parts = []
    for part in value:
        if isinstance(part, (list, tuple)):
            parts.append(_joined(part, dtype)[None])
        elif isinstance(part, TensorBase):
            parts.append(upcalls.unsqueeze(part, 0))
        else:
            parts.append(from_array(np.asarray(part, dtype)[None]))
    return upcalls.cat(parts, 0)


def _element(value: complex, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A number that has to fit, but for float16, where it may become infinite: as in PyTorch."""
    return (wrapped_element if dtype == np.float16 else element_of)(value, dtype)


def _without_leading_ones(source: Any) -> Any:
    """Values may have more dimensions than their places, as far as these have size one."""
    shape = source.shape
    if not shape or shape[0] != 1:
        return source
    extra = next((n for n, size in enumerate(shape) if size != 1), len(shape))
    return source.reshape(shape[extra:])


def _normalise(tensor: Any, key: Any) -> tuple[tuple[Any, ...], bool]:
    """Key as a tuple of what NumPy takes, and whether it selects a view."""
    parts = key if isinstance(key, tuple) else _as_tuple(key)
    is_basic = True
    found = []
    ellipses = 0
    for part in parts:
        if type(part) in _PLAIN:
            ellipses += part is Ellipsis
            found.append(part)
            continue
        part, plain = _convert(part)
        is_basic = is_basic and plain
        found.append(part)
    if ellipses > 1:
        found = _with_one_ellipsis(found, tensor.ndim)
    elif is_basic and not ellipses:
        found.append(Ellipsis)  # NumPy then gives a 0-d view where it would give a number
    return tuple(found), is_basic


def _with_one_ellipsis(parts: list[Any], ndim: int) -> list[Any]:
    """Several ellipses, as PyTorch reads them: each skips as many dimensions as the other parts leave over.

    So none may follow the first, unless nothing is left over or they come last.
    """
    first = next(n for n, part in enumerate(parts) if part is Ellipsis)
    rest = [part for part in parts[first + 1 :] if part is not Ellipsis]
    is_last = all(part is not Ellipsis for part in parts[first + 1 : first + 1 + len(rest)])
    if not is_last and sum(width(part) for part in parts) != ndim:
        raise IndexError(
            f"an index with several ellipses ('...') that skip dimensions is out of range for a tensor of {ndim} "
            "dimensions; write one ellipsis"
        )
    return [*parts[: first + 1], *rest]


def _as_tuple(key: Any) -> tuple[Any, ...]:
    """A key that is no tuple. PyTorch takes a short list that holds more than numbers for one, and warns."""
    if isinstance(key, TensorBase) or type(key) in _PLAIN or _is_list_of_integers(key):
        return (key,)  # the usual ones, which need not ask an abstract class
    if not isinstance(key, Sequence) or isinstance(key, (str, bytes, bytearray)) or len(key) >= 32:
        return (key,)
    if not any(isinstance(part, _NO_NUMBERS) for part in key):
        return (key,)
    warn_caller(
        f"a {type(key).__name__} with sequences, tensors, slices, None or ... in it is taken for a tuple of indices, "
        "which is deprecated; write x[tuple(indices)], or x[gradsmith.tensor(indices)] for one index"
    )
    return tuple(key)


def _is_list_of_integers(key: Any) -> bool:
    return type(key) is list and set(map(type, key)) == {int}


def _convert(part: Any) -> tuple[Any, bool]:
    if isinstance(part, TensorBase):
        return _convert_tensor(part)
    if isinstance(part, (bool, np.bool_)):
        return np.asarray(part), False
    if isinstance(part, np.ndarray):
        return _convert_array(separate(part))
    if isinstance(part, (list, tuple, range)):
        array = np.asarray(part)
        is_integer = array.size == 0 or array.dtype.kind in "iu"
        return _convert_array(array.astype(np.int64, copy=False) if is_integer else array)
    if isinstance(part, slice):
        return part, True
    if hasattr(part, "__index__") and not getattr(part, "ndim", 0):
        return part.__index__(), True
    if hasattr(part, "__array__"):  # of another library: columns of tables
        return _convert_array(separate(np.asarray(part)))
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
        f"{type(part).__name__}); a Variable is a tensor, an array or a list, of integers or bools"
    )


def _convert_tensor(tensor: Any) -> tuple[Any, bool]:
    """A tensor goes on as it is: backward finds out whether it was changed in the meantime."""
    kind = tensor.dtype.char
    if kind == "B" and is_in_function_of_arrays():
        tensor, kind = tensor.to(np.dtype(np.int64)), "l"
    if kind in _INTEGER_KINDS and tensor.ndim:
        return tensor, False
    is_mask = kind in MASK_KINDS
    if tensor.is_meta and is_mask:
        raise NotImplementedError("how many elements a mask selects depends on its values, and a meta tensor has none")
    if tensor.ndim == 0 and is_batched_tensor(tensor):
        _check_index_dtype(tensor.dtype)
        return tensor, False
    if tensor.ndim == 0:
        return _convert_array(tensor.numpy(force=True))
    if is_mask and kind != "?":
        warn_of_uint8_mask("indexing")
    _check_index_dtype(tensor.dtype)
    return tensor, False


def _convert_array(array: np.ndarray[Any, Any]) -> tuple[Any, bool]:
    """In PyTorch bytes are a mask; in a function of arrays they are numbers, as in NumPy."""
    if array.dtype.char == "B" and is_in_function_of_arrays():
        array = array.astype(np.int64)
    if array.dtype.char == "B":
        return (uint8_mask("indexing", array) if array.ndim else np.asarray(array != 0)), False
    if array.ndim == 0 and array.dtype.kind in "iu":
        return int(array), True
    _check_index_dtype(array.dtype)
    return array, False


def _check_index_dtype(dtype: np.dtype[Any]) -> None:
    if dtype.char not in _INDEX_KINDS:
        raise IndexError(
            "tensors used as indices must be long, int, byte or bool tensors, that is of dtype int64, int32, uint8 or "
            f"bool, got {dtype}"
        )
