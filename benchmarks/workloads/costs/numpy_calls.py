"""What NumPy's own functions cost when a tensor is given to them, beside the same calls of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case, Program, arrays_of
from ...contestants import library
from ..data import numbers

# Each is given the module whose functions it calls, and x. Bars are asked of ufuncs; others say what they cost.
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "exp": lambda np_, x: np_.exp(x),
    "multiply": lambda np_, x: np_.multiply(x, x),
    "sum": lambda np_, x: np_.sum(x),
    "mean of an axis": lambda np_, x: np_.mean(np_.reshape(x, (2, -1)), axis=0),
    "concatenate": lambda np_, x: np_.concatenate([x, x]),
    "stack": lambda np_, x: np_.stack([x, x]),
    "where": lambda np_, x: np_.where(x > 0, x, 0.0),
    "dot": lambda np_, x: np_.dot(x, x),
}


def call(name: str, size: int, module: str) -> Builders:
    """The call of a recorded tensor, by NumPy itself or by a namespace of gradsmith's."""
    return {"gradsmith": partial(_of_tensor, name, size, module), "numpy": partial(_of_array, name, size)}


def _of_array(name: str, size: int) -> Program:
    return _compared(partial(CALLS[name], np, numbers(size)))


def _of_tensor(name: str, size: int, module: str) -> Program:
    lib = library("gradsmith")
    x = lib.tensor(numbers(size), requires_grad=True)
    return _compared(partial(CALLS[name], {"": np, "numpy": lib.numpy, "array_api": lib.array_api}[module], x))


def _compared(run: Callable[[], Any]) -> Program:
    return Program(run, lambda: arrays_of(run()))


def gradient(size: int) -> Builders:
    """The gradient of a function of NumPy's by a small array: by gradsmith, and written out."""

    def objective(x: Any) -> Any:
        return np.sum(np.tanh(x) ** 2 * np.exp(-x) + np.sin(x) * np.cos(x))

    def by_hand(x: Array) -> Any:
        t, e = np.tanh(x), np.exp(-x)
        return 2 * t * (1 - t * t) * e - t * t * e + np.cos(2 * x)

    x = numbers(size)
    return {
        "gradsmith": lambda: _compared(partial(library("gradsmith").grad(objective), x)),
        "numpy": lambda: _compared(partial(by_hand, x)),
    }


def rows() -> Iterator[Case]:
    for name in CALLS:
        for size in (4, 10_000):
            bar = "numpy 1.6" if name in ("exp", "multiply") and size > 4 else ""
            yield Case(f"np.{name} of a tensor, n = {size}", call, (name, size, ""), (name, 4, ""), bar, tolerance=1e-9)
    for module in ("numpy", "array_api"):
        for name in ("exp", "sum", "concatenate"):
            if module == "array_api" and name == "concatenate":
                continue  # the standard calls it concat
            yield Case(f"{module}.{name}, n = 4", call, (name, 4, module), tolerance=1e-9)
    for size in (5, 10_000):
        yield Case(f"gradient of a function of NumPy, n = {size}", gradient, (size,), (5,), tolerance=1e-9)
