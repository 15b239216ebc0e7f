"""Special functions of 10,000 numbers, beside SciPy's."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from ...cases import Array, Builders, Case, Program, arrays_of
from ...contestants import library
from ...contestants.functional import compared
from ..data import numbers

IN_SCIPY = {
    "digamma": "psi", "gammaln": "gammaln", "erfcx": "erfcx", "i0e": "i0e", "bessel_j1": "j1", "ndtri": "ndtri"
}  # fmt: skip


def special(name: str, n: int) -> Builders:
    x = numbers(n) * (0.6 if name == "ndtri" else 1.0)  # probabilities

    def own() -> Program:
        lib = library("gradsmith")
        tensor, function = lib.tensor(x), getattr(lib.special, name)
        return Program(lambda: function(tensor), lambda: arrays_of(function(tensor)))

    return {"gradsmith": own, "scipy": lambda: of_scipy(IN_SCIPY[name], x)}


def of_scipy(name: str, x: Array) -> Program:
    loop = getattr(importlib.import_module("scipy.special"), name)
    return compared(lambda: loop(x))


def rows() -> Iterator[Case]:
    for name in IN_SCIPY:
        yield Case(f"special {name}, 1e4", special, (name, 10**4), (name, 50), must="scipy 1.1", tolerance=1e-9)
