"""Recorded ops of ten elements, beside NumPy's alone; and NumPy's own functions, called with tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...cases import Builders, Case, Program, arrays_of
from ...contestants import library
from ...contestants.functional import by_hand
from ..data import numbers

IN_NUMPY = {"floor": "floor", "asin": "arcsin", "atan": "arctan", "exp2": "exp2", "log10": "log10", "asinh": "arcsinh"}
CALLS: dict[str, tuple[Callable[..., Any], int, str]] = {
    "np.exp(t)": (np.exp, 1, "1.6"), "np.add(t, t)": (np.add, 2, "1.6"),
    "np.sum(t, axis=0)": (lambda t: np.sum(t, axis=0), 1, "2.0"),
}  # fmt: skip


def own(make: Callable[[Any, Any], Callable[[], Any]], array: Any) -> Builders:
    """A call of a tensor that requires grad."""

    def builder() -> Program:
        lib = library("gradsmith")
        run = make(lib, lib.tensor(array, requires_grad=True))
        return Program(run, lambda: arrays_of(run()))

    return {"gradsmith": builder}


def recorded(name: str) -> Builders:
    x = numbers(10) * 0.6

    def make(lib: Any, tensor: Any) -> Callable[[], Any]:
        function = getattr(lib, name)
        return lambda: function(tensor)

    return own(make, x) | by_hand(getattr(np, IN_NUMPY[name]), x)


def called_by_numpy(name: str) -> Builders:
    call, count, _ = CALLS[name]
    x = numbers(10)

    def make(lib: Any, tensor: Any) -> Callable[[], Any]:
        operands = (tensor,) * count
        return lambda: call(*operands)

    return own(make, x) | by_hand(call, *[x] * count)


def rows() -> Iterator[Case]:
    for name in IN_NUMPY:
        yield Case(f"record {name}, 10 elements", recorded, (name,), must="numpy 0.6")
    for name, (_, _, must) in CALLS.items():
        yield Case(f"record {name}, 10 elements", called_by_numpy, (name,), must=f"numpy {must}")
