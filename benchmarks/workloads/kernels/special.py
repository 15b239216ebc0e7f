"""Special functions of 10,000 numbers and of a million, beside SciPy's."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from ...cases import Array, Builders, Case, Program, arrays_of
from ...contestants import library
from ...contestants.functional import compared
from ..data import numbers

IN_SCIPY = {
    "digamma": "psi", "gammaln": "gammaln", "erfcx": "erfcx", "i0e": "i0e", "bessel_j1": "j1", "ndtri": "ndtri",
    "beta": "beta", "xlog1py": "xlog1py",
}  # fmt: skip


OF_TWO = frozenset({"beta", "xlog1py"})  # both arguments are the same numbers


def special(name: str, n: int) -> Builders:
    x = numbers(n) * (0.6 if name == "ndtri" else 1.0)  # probabilities
    count = 2 if name in OF_TWO else 1

    def own() -> Program:
        lib = library("gradsmith")
        tensors, function = (lib.tensor(x),) * count, getattr(lib.special, name)
        return Program(lambda: function(*tensors), lambda: arrays_of(function(*tensors)))

    return {"gradsmith": own, "scipy": lambda: of_scipy(IN_SCIPY[name], (x,) * count)}


def of_scipy(name: str, arrays: tuple[Array, ...]) -> Program:
    loop = getattr(importlib.import_module("scipy.special"), name)
    return compared(lambda: loop(*arrays))


def rows() -> Iterator[Case]:
    for name in IN_SCIPY:
        for label, n in (("1e4", 10**4), ("1e6", 10**6)):
            yield Case(f"special {name}, {label}", special, (name, n), (name, 50), must="scipy 1.1", tolerance=1e-9)
