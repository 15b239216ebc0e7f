"""Single ops from one element up: recorded, not recorded, and under `no_grad`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...cases import Builders, Case, Program, Run
from ...contestants.eager import eager, outcome
from ...contestants.functional import compared
from ..data import pair, short

SIZES = (1, 10, 100, 1000, 10**4, 10**5, 10**6, 10**7)
# Each makes the call that is timed, with nothing around it that would be timed too.
OPS: dict[str, Callable[..., Run]] = {
    "a*b": lambda lib, a, b: lambda: a * b,
    "sum(a)": lambda lib, a, b: lambda: a.sum(),
}
IN_NUMPY: dict[str, Callable[..., Run]] = {
    "a*b": lambda a, b: lambda: np.multiply(a, b), "sum(a)": lambda a, b: lambda: np.sum(a)
}  # fmt: skip
BARS = {1: "numpy 0.50, torch 1/18", 10: "numpy 0.50, torch 1/18"}


def recorded(op: str, n: int) -> Builders:
    return eager(OPS[op], *pair(n)) | numpy_call(op, n)


def not_recorded(op: str, n: int) -> Builders:
    return eager(OPS[op], *pair(n), requires_grad=False) | numpy_call(op, n)


def without_grad(op: str, n: int) -> Builders:
    """The recorded op, called where nothing is recorded; switching that off is not timed."""

    def build(lib: Any, *tensors: Any) -> Program:
        run = within_no_grad(lib, OPS[op](lib, *tensors))
        return Program(run, lambda: outcome(run, tensors))

    return eager(build, *pair(n))


def within_no_grad(lib: Any, call: Run, times: int = 100) -> Run:
    def run() -> Any:
        with lib.no_grad():
            for _ in range(times):
                found = call()
        return found

    return run


def numpy_call(op: str, n: int) -> Builders:
    return {"numpy": lambda: compared(IN_NUMPY[op](*pair(n)))}


def recorded_scalar(n: int) -> Builders:
    a, _ = pair(n)
    return eager(lambda lib, x: lambda: x * 2.0, a) | {"numpy": lambda: compared(lambda: np.multiply(a, 2.0))}


def backward_alone(n: int) -> Builders:
    """The way back through one product, again and again."""

    def build(lib: Any, a: Any, b: Any) -> Run:
        y, seed = a * b, lib.ones(n)
        return lambda: lib.autograd.grad(y, (a, b), seed, retain_graph=True)

    return eager(build, *pair(n))


def rows() -> Iterator[Case]:
    ways = {"record": recorded, "not recorded": not_recorded}
    for op in OPS:
        for n in SIZES:
            for way, make in ways.items():
                yield row(f"{way} {op}", make, op, n, must=BARS.get(n, "") if (way, op) == ("record", "a*b") else "")
            if n <= 10**4:  # beyond, the way makes no difference
                yield row(f"no_grad {op}", without_grad, op, n, per=100)
    yield Case("record a*2.0, 1 element", recorded_scalar, (1,), must="torch 1/20")
    for n in SIZES:
        name = "backward of a*b"
        yield Case(f"{name}, {elements(n)}", backward_alone, (n,), (10,), series=name, size=n, rounds=rounds_of(n))


def row(name: str, make: Callable[..., Builders], op: str, n: int, **more: Any) -> Case:
    return Case(f"{name}, {elements(n)}", make, (op, n), (op, 10), series=name, size=n, rounds=rounds_of(n), **more)


def elements(n: int) -> str:
    return f"{short(n)} element{'s' if n > 1 else ''}"


def rounds_of(n: int) -> int:
    return 5 if n >= 10**7 else 15
