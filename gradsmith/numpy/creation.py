"""NumPy's functions and objects that make arrays. Of numbers that are tensors, arrays and ranges keep the history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradsmith.generated as generated
from gradsmith.numpy.arguments import (
    array_of,
    as_tensor,
    is_tensor,
    np,
    of_dtype,
    result_type,
    unwrapped,
    without_data,
    wrapped,
)
from gradsmith.numpy.moves import moved
from gradsmith.runtime.batching.batch import is_batched_tensor
from gradsmith.runtime.tensors.factories.creation import ones_like as ones_like_of
from gradsmith.runtime.tensors.factories.creation import zeros_like as zeros_like_of


def array(
    object: Any, dtype: Any = None, *, copy: Any = True, order: Any = "K", subok: bool = False, ndmin: int = 0,
    ndmax: int = 0, like: Any = None,
) -> Any:  # fmt: skip
    x = as_tensor(object, dtype)
    if copy and (x is object or isinstance(object, np.ndarray)):
        x = x.clone()
    elif copy is False and not is_tensor(object) and not isinstance(object, np.ndarray):
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return x.reshape((*[1] * (ndmin - x.ndim), *x.shape)) if ndmin > x.ndim else x


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Any:
    return array(a, dtype, copy=copy)


def asanyarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: Any = None, like: Any = None
) -> Any:
    return array(a, dtype, copy=copy)


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    x = as_tensor(a, dtype)
    np.asarray_chkfinite(array_of(x))
    return x


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    x = as_tensor(a, dtype).contiguous()
    return x.reshape(1) if x.ndim == 0 else x


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    x = as_tensor(a, dtype)
    return x.permute(tuple(range(x.ndim))[::-1]).contiguous().permute(tuple(range(x.ndim))[::-1])


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    wanted = {str(one).upper() for one in (requirements or ())}
    x = as_tensor(a, dtype)
    if wanted & {"F", "FORTRAN", "F_CONTIGUOUS"}:
        return asfortranarray(x)
    return x.contiguous() if wanted & {"C", "CONTIGUOUS", "C_CONTIGUOUS"} else x


# ---- filled with numbers


def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None
) -> Any:
    sizes = np.broadcast_shapes(unwrapped(shape))
    return as_tensor(fill_value, dtype).expand(sizes).clone()


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> Any:  # fmt: skip
    x = as_tensor(a)
    if shape is None and is_batched_tensor(x):
        found = _like(np.zeros, x, dtype, None)
        return found + as_tensor(fill_value, found.dtype) if is_tensor(fill_value) else found.fill_(fill_value)
    return full(tuple(x.shape) if shape is None else shape, fill_value, x.dtype if dtype is None else dtype)


def zeros_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    return _like(np.zeros, a, dtype, shape)


def ones_like(
    a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    return _like(np.ones, a, dtype, shape)


def empty_like(
    prototype: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Any:
    return _like(np.empty, prototype, dtype, shape)


def _like(made: Callable[..., Any], a: Any, dtype: Any, shape: Any) -> Any:
    """Only the shape and dtype of `a` count, and in a `vmap` its slices, each of which can be written to."""
    x = as_tensor(a)
    if shape is None and is_batched_tensor(x):
        like = ones_like_of if made is np.ones else zeros_like_of
        return like(x.detach(), dtype=x.dtype if dtype is None else np.dtype(dtype))
    return wrapped(made(tuple(x.shape) if shape is None else unwrapped(shape), x.dtype if dtype is None else dtype))


# ---- ranges


def linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    if not any(map(_is_differentiable, (start, stop))):
        found = np.linspace(*unwrapped((start, stop, num)), endpoint, retstep, dtype, axis)
        return wrapped(found)
    kind = result_type(start, stop, float(num))
    first, last = as_tensor(start, kind), as_tensor(stop, kind)
    shares = np.linspace(0.0, 1.0, num, endpoint)
    steps = wrapped(shares.reshape(-1, *[1] * max(first.ndim, last.ndim))).to(kind)
    values = first * (1 - steps) + last * steps
    parts = num - 1 if endpoint else num
    step = (last - first) / parts if parts else first * np.nan
    values = values.movedim(0, axis)
    values = values if dtype is None else of_dtype(values, dtype)
    return (values, step) if retstep else values


def _is_differentiable(value: Any) -> bool:
    return is_tensor(value) or type(value) in (list, tuple)


def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    if not any(map(_is_differentiable, (start, stop, base))):
        return wrapped(np.logspace(start, stop, num, endpoint, base, dtype, axis))
    powers = linspace(start, stop, num, endpoint)
    bases = as_tensor(base, powers.dtype)
    if bases.ndim:
        powers = linspace(start, stop, num, endpoint).reshape((num, *[1] * bases.ndim)) if powers.ndim == 1 else powers
    values = (bases**powers).movedim(0, axis)
    return values if dtype is None else of_dtype(values, dtype)


def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    if not any(map(_is_differentiable, (start, stop))):
        return wrapped(np.geomspace(start, stop, num, endpoint, dtype, axis))
    kind = np.result_type(result_type(start, stop, float(num)), np.float64)
    first, last = as_tensor(start, kind), as_tensor(stop, kind)
    if not without_data([first, last]) and (bool((first == 0).any()) or bool((last == 0).any())):
        raise ValueError("Geometric sequence cannot include zero")
    values = first * (last / first) ** linspace(np.zeros(tuple(first.shape)), as_tensor(1.0), num, endpoint).to(kind)
    values = values.movedim(0, axis)
    return values if dtype is None else of_dtype(values, dtype)


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    tensor = as_tensor(x)
    if tensor.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    return generated.vander(of_dtype(tensor, np.promote_types(tensor.dtype, np.int64)), N, increasing)


# ---- objects to index with slices, and `vectorize`


class Grid:
    """``mgrid[0:3, 0:2]``: coordinates of a grid, as tensors."""

    def __init__(self, own: Any) -> None:
        self.own = own

    def __getitem__(self, key: Any) -> Any:
        return wrapped(self.own[unwrapped(key)])


class Joined:
    """``r_[x, 0, 1:3]``: arrays, numbers and ranges in one tensor, which keeps the history of each."""

    def __init__(self, own: Any) -> None:
        self.own = own

    def __getitem__(self, key: Any) -> Any:
        parts = key if type(key) is tuple else (key,)
        options = [part for part in parts if isinstance(part, str)]
        arrays = [
            _range(part) if isinstance(part, slice) else as_tensor(part) for part in parts if not isinstance(part, str)
        ]
        kind = np.result_type(
            *[_weak(part, one) for part, one in zip([p for p in parts if not isinstance(p, str)], arrays)]
        )
        arrays = [as_tensor(one, kind) for one in arrays]
        return moved(lambda *places: self._of(options, places), *arrays)

    def _of(self, options: list[str], places: Any) -> Any:
        key = (*options, *places)
        return np.asarray(self.own[key])

    def __len__(self) -> int:
        return 0


def _range(part: slice) -> Any:
    return wrapped(np.r_[unwrapped(part)])


def _weak(part: Any, tensor: Any) -> Any:
    return tensor.dtype if is_tensor(part) or not isinstance(part, (int, float, complex)) else np.dtype(type(part))


mgrid, ogrid, r_, c_ = Grid(np.mgrid), Grid(np.ogrid), Joined(np.r_), Joined(np.c_)


class vectorize:
    """A function of numbers as a function of arrays: it is called for each element, and recorded."""

    def __init__(
        self,
        pyfunc: Callable[..., Any],
        otypes: Any = None,
        doc: str | None = None,
        excluded: Sequence[int | str] | None = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        if signature is not None:
            raise TypeError("vectorize: signatures of dimensions are what gradsmith.vmap is for")
        self.pyfunc, self.otypes, self.excluded = pyfunc, otypes, set(excluded or ())
        self.__doc__ = doc or pyfunc.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        places = [n for n in range(len(args)) if n not in self.excluded]
        tensors = {n: as_tensor(args[n]) for n in places}
        named = {key: as_tensor(value) for key, value in kwargs.items() if key not in self.excluded}
        shape = np.broadcast_shapes(*[tuple(one.shape) for one in (*tensors.values(), *named.values())])
        flat = {key: one.expand(shape).reshape(-1) for key, one in (*tensors.items(), *named.items())}
        results = [self._one(args, kwargs, flat, number) for number in range(int(np.prod(shape)))]
        if not results:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        if isinstance(results[0], tuple):
            return tuple(self._joined(column, shape, n) for n, column in enumerate(zip(*results)))
        return self._joined(results, shape, 0)

    def _one(self, args: Any, kwargs: Any, flat: Any, number: int) -> Any:
        positional = [flat[n][number] if n in flat else value for n, value in enumerate(args)]
        return self.pyfunc(*positional, **{k: flat[k][number] if k in flat else v for k, v in kwargs.items()})

    def _joined(self, results: Any, shape: Any, number: int) -> Any:
        kind = None if self.otypes is None else np.dtype(list(self.otypes)[number])
        return generated.stack([as_tensor(one, kind) for one in results]).reshape(shape)
