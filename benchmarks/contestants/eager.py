"""Programs that gradsmith and PyTorch run as they stand: `build` is given the library and its tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..cases import Array, Builders, Program, Run, arrays_of, as_array
from . import library

NAMES = ("gradsmith", "torch")


def eager(build: Callable[..., Run | Program], *data: Array, requires_grad: bool = True) -> Builders:
    """The program of each library, which `build` makes from the library and its tensors.

    Contestants must agree on the program's results, on the gradients that its first run leaves in the tensors, and on
    the tensors that it changes. A `build` that returns a `Program` chooses for itself what to compare.
    """
    return {name: partial(_built, name, build, data, requires_grad) for name in NAMES}


def _built(name: str, build: Callable[..., Run | Program], data: Sequence[Array], requires_grad: bool) -> Program:
    lib = library(name)
    tensors = [lib.tensor(array, requires_grad=requires_grad and array.dtype.kind in "fc") for array in data]
    built = build(lib, *tensors)
    return built if isinstance(built, Program) else Program(built, partial(outcome, built, tensors))


def outcome(run: Run, leaves: Sequence[Any]) -> list[Array]:
    before = [as_array(leaf) for leaf in leaves]
    found = arrays_of(run())
    found += [as_array(leaf.grad) for leaf in leaves if leaf.grad is not None]
    after = [as_array(leaf) for leaf in leaves]
    return found + [now for then, now in zip(before, after) if not np.array_equal(then, now)]


def uncompared(build: Callable[..., Run], *data: Array, requires_grad: bool = True) -> Builders:
    """As `eager`, for programs that draw random numbers, or whose results may differ."""
    return eager(lambda *given: Program(build(*given), None), *data, requires_grad=requires_grad)


def gradients_of(objective: Callable[..., Any], *data: Array, constants: Sequence[Array] = ()) -> Builders:
    """The value of an objective ``(lib, *tensors, *constants)`` and its gradients by the tensors."""

    def build(lib: Any, *tensors: Any) -> Run:
        fixed = [lib.tensor(array) for array in constants]

        def run() -> Any:
            value = objective(lib, *tensors, *fixed)
            return (value, *lib.autograd.grad(value, tensors))

        return run

    return eager(build, *data)


def values_of(objective: Callable[..., Any], *data: Array) -> Builders:
    """The value of an objective alone; nothing is recorded."""
    return eager(lambda lib, *tensors: lambda: objective(lib, *tensors), *data, requires_grad=False)
