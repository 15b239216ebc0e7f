"""NumPy's functions that become complex where their real arguments leave the domain: ``gradsmith.numpy.emath``.

The values decide about the dtype, so that in `vmap`, where each slice may have another one, there is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradsmith.numpy as like_numpy
from gradsmith.numpy.arguments import array_of, as_tensor, np, of_dtype
from gradsmith.numpy.published import describe

# Where NumPy computes with complex numbers, of the values.
OUTSIDE: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("log", "log10", "log2", "sqrt"), lambda x: x < 0),
    **dict.fromkeys(("arccos", "arcsin", "arctanh"), lambda x: np.abs(x) > 1),
}

__all__ = sorted({*OUTSIDE, "logn", "power"})


def _complex(x: Any) -> Any:
    return of_dtype(x, np.result_type(x.dtype, np.complex64))


def _checked(name: str, value: Any) -> Any:
    x = as_tensor(value)
    return _complex(x) if x.dtype.kind != "c" and OUTSIDE[name](array_of(x)).any() else x


def _function(name: str) -> Any:
    def function(x: Any) -> Any:
        return getattr(like_numpy, name)(_checked(name, x))

    return describe(function, f"emath.{name}", getattr(np.emath, name))


def logn(n: Any, x: Any) -> Any:
    return log(x) / log(n)


def power(x: Any, p: Any) -> Any:
    base, exponent = as_tensor(x), as_tensor(p)
    if base.dtype.kind != "c" and (array_of(base) < 0).any():
        base = _complex(base)
    if exponent.dtype.kind in "iu" and (array_of(exponent) < 0).any():
        exponent = of_dtype(exponent, np.float64)
    return like_numpy.power(base, exponent)


for _name in OUTSIDE:
    globals()[_name] = _function(_name)
log = _function("log")
for _name in ("logn", "power"):
    describe(globals()[_name], f"emath.{_name}", getattr(np.emath, _name))


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
