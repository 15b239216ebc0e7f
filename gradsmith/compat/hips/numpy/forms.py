"""NumPy's names that are more than functions of arrays: joining what is iterated over, `r_` and `c_`, `vectorize`."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gradsmith.numpy as _ours
from gradsmith.compat.hips.boxes import ArrayBox, boxed, getval, has_box, unboxed
from gradsmith.numpy.arguments import np

# How many of the first arguments are sequences of arrays, in whose place any iterables may be given.
ITERABLES = {
    "column_stack": 1, "concat": 1, "concatenate": 1, "dstack": 1, "hstack": 1, "select": 2, "stack": 1,
    "vstack": 1,
}  # fmt: skip


def of_iterables(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A function of lists of arrays as one of iterables, its first `count` arguments."""

    @functools.wraps(function)
    def of_lists(*args: Any, **kwargs: Any) -> Any:
        return function(*map(_listed, args[:count]), *args[count:], **kwargs)

    return of_lists


def _listed(value: Any) -> Any:
    is_array = isinstance(value, (list, tuple)) or hasattr(value, "shape")
    return value if is_array or not isinstance(value, Iterable) else list(value)


class Joined:
    """``r_[x, 0, 1:3]`` of arrays, numbers and boxes."""

    def __init__(self, ours: Any, own: Any) -> None:
        self.ours, self.own = ours, own
        self.__doc__ = own.__doc__

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if any(has_box([part.start, part.stop, part.step]) for part in parts if isinstance(part, slice)):
            raise TypeError("a box in a slice would lose its derivative; use np.linspace or np.arange(n) * step")
        return boxed(self.ours[unboxed(key)]) if has_box(key) else self.own[key]

    def __len__(self) -> int:
        return 0


r_, c_ = Joined(_ours.r_, np.r_), Joined(_ours.c_, np.c_)


class vectorize(np.vectorize):  # type: ignore[misc]
    """NumPy's, and with boxes among the arguments each call is recorded."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not (has_box(args) or has_box(kwargs)):
            return super().__call__(*args, **kwargs)
        places: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        cores = dict(enumerate(self._cores()))
        looped = {place: _array(value) for place, value in places.items() if place not in self.excluded}
        shapes = [_outer(array, cores.get(place, 0)) for place, array in looped.items()]
        shape = np.broadcast_shapes(*shapes)
        rows = {place: iter(_rows(array, shape, cores.get(place, 0))) for place, array in looped.items()}
        results = [
            self._one({place: next(rows[place]) if place in rows else value for place, value in places.items()})
            for _ in range(int(np.prod(shape)))
        ]
        if not results:
            raise ValueError("cannot call `vectorize` on boxes of size 0")
        if not isinstance(results[0], tuple):
            return self._stacked(results, shape, 0)
        return tuple(self._stacked(column, shape, number) for number, column in enumerate(zip(*results)))

    def _cores(self) -> Iterator[int]:
        """How many of the last axes of each argument go to the function together."""
        inputs = (self.signature or "").partition("->")[0]
        return (len(re.findall(r"\w+", dims)) for dims in re.findall(r"\(([^)]*)\)", inputs))

    def _one(self, values: dict[Any, Any]) -> Any:
        named = {place: value for place, value in values.items() if isinstance(place, str)}
        return self.pyfunc(*(value for place, value in values.items() if not isinstance(place, str)), **named)

    def _stacked(self, results: Any, shape: tuple[int, ...], number: int) -> Any:
        stacked = boxed(_ours.stack(unboxed(list(results))))
        stacked = stacked.reshape((*shape, *stacked.shape[1:]))
        kind = self.otypes[number] if self.otypes else "O"
        return stacked if kind == "O" else stacked.astype(kind)


def _array(value: Any) -> Any:
    return value if isinstance(value, ArrayBox) else boxed(_ours.asarray(unboxed(value)))


def _outer(array: Any, core: int) -> tuple[int, ...]:
    shape: tuple[int, ...] = np.shape(getval(array))
    return shape[: len(shape) - core]


def _rows(array: Any, shape: tuple[int, ...], core: int) -> Any:
    """The parts of an array that each call of the function receives."""
    inner = np.shape(getval(array))[len(_outer(array, core)) :]
    spread = _ours.broadcast_to(unboxed(array), (*shape, *inner))
    return boxed(spread.reshape(-1, *inner))
