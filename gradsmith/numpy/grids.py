"""What NumPy has as objects to index with slices, and `vectorize`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradsmith.generated as generated
from gradsmith.numpy.arguments import as_tensor, is_tensor, np, unwrapped, wrapped
from gradsmith.numpy.moves import moved


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
