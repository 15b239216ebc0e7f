"""NumPy's functions that choose elements, and those that write at places of an array."""

from __future__ import annotations

import functools
from typing import Any

import gradsmith.generated as generated
from gradsmith.numpy.arguments import (
    NO_VALUE,
    array_of,
    as_tensor,
    axis_of,
    contains_tensor,
    delivered,
    is_recorded,
    is_tensor,
    mapped,
    np,
    result_type,
    unwrapped,
    without_data,
    wrapped,
)
from gradsmith.numpy.moves import along, moved


def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    mask = as_tensor(condition, bool)
    if x is None and y is None:
        return wrapped(np.nonzero(array_of(mask)))
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    kind = result_type(x, y)
    return generated.where(mask, as_tensor(x, kind), as_tensor(y, kind))


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    x = as_tensor(a)
    if is_tensor(indices) and without_data([indices]):
        return delivered(np.take(x, indices, axis, mode=mode), out)
    index = unwrapped(indices) if not contains_tensor(indices) else array_of(as_tensor(indices))
    if axis is None or x.ndim == 0:
        x, axis = x.reshape(-1), 0 if axis is None else axis
    axis = axis_of(axis, x.ndim)
    places = wrapped(np.take(np.arange(x.shape[axis]), index, mode=mode))
    found = x.index_select(axis, places.reshape(-1)).reshape((*x.shape[:axis], *places.shape, *x.shape[axis + 1 :]))
    return delivered(found, out)


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    if is_tensor(indices) and without_data([indices]):
        return np.take_along_axis(as_tensor(arr), indices, axis)
    index = array_of(as_tensor(indices))
    return moved(lambda places: np.take_along_axis(places, index, axis), arr)


def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    mask = array_of(as_tensor(condition))
    return delivered(along(lambda places: np.compress(mask, places), a, axis), out)


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    if is_tensor(a) and without_data([a]):
        return delivered(np.choose(a, choices, mode=mode), out)
    index = array_of(as_tensor(a))
    several = list(choices.unbind(0)) if is_tensor(choices) else list(choices)
    return delivered(moved(lambda *places: np.choose(index, places, mode=mode), *several), out)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    conditions, choices = list(condlist), list(choicelist)
    if len(conditions) != len(choices):
        raise ValueError("list of cases must be same length as list of conditions")
    if not conditions:
        raise ValueError("select with an empty condition list is not possible")
    kind = result_type(*choices, default)
    start = as_tensor(default, kind)
    pairs = reversed(list(zip(conditions, choices)))
    return functools.reduce(
        lambda found, pair: generated.where(_mask(pair[0]), as_tensor(pair[1], kind), found), pairs, start
    )


def _mask(condition: Any) -> Any:
    mask = as_tensor(condition)
    if mask.dtype.kind != "b":
        raise TypeError(f"invalid entry in condlist: should be boolean ndarray, not {mask.dtype}")
    return mask


def clip(
    a: Any, a_min: Any = NO_VALUE, a_max: Any = NO_VALUE, out: Any = None, *, min: Any = NO_VALUE,
    max: Any = NO_VALUE, **kwargs: Any,
) -> Any:  # fmt: skip
    from gradsmith.numpy.ufuncs import ufunc

    low, high = _given(a_min, min), _given(a_max, max)
    result = as_tensor(a)
    if low is not None:
        result = ufunc("maximum")(result, low, **kwargs)
    if high is not None:
        result = ufunc("minimum")(result, high, **kwargs)
    return delivered(result.clone() if result is a else result, out)


def _given(*values: Any) -> Any:
    return next((value for value in values if value is not NO_VALUE and value is not None), None)


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    if without_data([one for one in (a, b) if is_tensor(one)]):
        return np.isclose(a, b, rtol, atol, equal_nan)
    return wrapped(np.isclose(*(array_of(as_tensor(one)) for one in (a, b)), *unwrapped((rtol, atol)), equal_nan))


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    tensor = as_tensor(x)
    if tensor.dtype.kind not in "fc":
        return tensor.clone() if copy else tensor
    result = _finite(tensor, nan, posinf, neginf)
    return result if copy or not is_tensor(x) else x.copy_(result)


def _finite(x: Any, nan: Any, posinf: Any, neginf: Any) -> Any:
    if x.dtype.kind == "c":
        from gradsmith.generated.complex_numbers import complex_of_parts

        return complex_of_parts(_finite(x.real, nan, posinf, neginf), _finite(x.imag, nan, posinf, neginf))
    largest = np.finfo(x.dtype)
    for test, value in (("isnan", nan), ("isposinf", posinf), ("isneginf", neginf)):
        value = (largest.max if test == "isposinf" else largest.min) if value is None else value
        x = generated.where(getattr(generated, test)(x), as_tensor(value, x.dtype), x)
    return x


def real_if_close(a: Any, tol: Any = 100) -> Any:
    x = as_tensor(a)
    if x.dtype.kind != "c":
        return x
    return x.real if np.real_if_close(array_of(x), tol).dtype.kind == "f" else x


# ---- in place


def _written(name: str, target: Any, args: tuple[Any, ...], **options: Any) -> bool:
    """Whether NumPy itself has written, into an array."""
    if is_tensor(target):
        return False
    found: list[Any] = []
    mapped(found.append, [list(args), options])
    if any(is_recorded(one) for one in found):
        raise RuntimeError(f"{name}: an array would lose the history of what is written; give a tensor")
    getattr(np, name)(target, *unwrapped(args), **unwrapped(options))
    return True


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    if _written("copyto", dst, (src,), casting=casting, where=where):
        return
    if not np.can_cast(src if isinstance(src, (np.ndarray, np.generic)) else result_type(src, dst), dst.dtype, casting):
        raise TypeError(f"Cannot cast to {dst.dtype!r} according to the rule {casting!r}")
    values = as_tensor(src, dst.dtype).expand(dst.shape)
    dst.copy_(values if where is True else generated.where(as_tensor(where, bool), values, dst))


def _put(target: Any, places: Any, values: Any) -> None:
    """Elements at places of memory order, in place; the last of several at one place counts."""
    last = {int(place): number for number, place in enumerate(places.reshape(-1))}
    at, chosen = np.array(list(last), np.int64), np.array(list(last.values()), np.int64)
    target.put_(wrapped(at), values.reshape(-1)[wrapped(chosen)])


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    if _written("put", a, (ind, v), mode=mode):
        return
    index = np.asarray(array_of(as_tensor(ind)))
    places = np.take(np.arange(a.numel()), index, mode=mode).reshape(-1)
    values = as_tensor(v, a.dtype).reshape(-1)
    if places.size and values.numel():
        _put(a, places, values[wrapped(np.arange(places.size) % values.numel())])


def putmask(a: Any, mask: Any, values: Any) -> None:
    if _written("putmask", a, (mask, values)):
        return
    places = np.flatnonzero(array_of(as_tensor(mask)))
    flat = as_tensor(values, a.dtype).reshape(-1)
    if places.size and flat.numel():
        _put(a, places, flat[wrapped(places % flat.numel())])


def place(arr: Any, mask: Any, vals: Any) -> None:
    if _written("place", arr, (mask, vals)):
        return
    places = np.flatnonzero(array_of(as_tensor(mask)))
    flat = as_tensor(vals, arr.dtype).reshape(-1)
    if places.size and not flat.numel():
        raise ValueError("Cannot insert from an empty array!")
    if places.size:
        _put(arr, places, flat[wrapped(np.arange(places.size) % flat.numel())])


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    if _written("put_along_axis", arr, (indices, values, axis)):
        return
    index = array_of(as_tensor(indices))
    places = np.take_along_axis(np.arange(arr.numel()).reshape(tuple(arr.shape)), index, axis)
    _put(arr, places, as_tensor(values, arr.dtype).expand(places.shape))


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    if _written("fill_diagonal", a, (val,), wrap=wrap):
        return
    marks = np.zeros(tuple(a.shape), bool)
    np.fill_diagonal(marks, True, wrap=wrap)
    places = np.flatnonzero(marks)
    flat = as_tensor(val, a.dtype).reshape(-1)
    _put(a, places, flat[wrapped(np.arange(places.size) % flat.numel())])
