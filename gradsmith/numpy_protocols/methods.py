"""Methods of tensors in functions of arrays, where they mean what they mean in NumPy.

Note [Methods in functions of arrays]
Some methods mean one thing in PyTorch and another in NumPy: `x.std()` divides by n - 1 or by n, `x.max(1)` is a pair or
an array. A function that a transform calls for arrays is a NumPy program, and gets NumPy's meaning. Two things say
otherwise: arguments that only PyTorch's method has (`dim=`, `correction=`), and a caller within this package, whose
layers and losses are written in PyTorch's words and may be part of such a function.

The Tensor class gets these methods when the first function of arrays is transformed, so that programs written with
tensors do not pay for them.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import gradsmith.numpy as gnp
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.array_functions import is_in_function_of_arrays
from gradsmith.runtime.tensors.factories.python_data import is_tensor

# Arguments of PyTorch's methods that NumPy's do not have.
OF_PYTORCH = {
    "as_tuple", "correction", "descending", "dim", "dim0", "dim1", "end_dim", "index", "keepdim", "other", "repeats",
    "shape", "stable", "start_dim", "tensor", "unbiased",
}  # fmt: skip

Method = Callable[..., Any]


_lock = threading.Lock()


def put_methods() -> None:
    """Give the Tensor class the methods below; once."""
    if MEANINGS:
        with _lock:
            while MEANINGS:
                name = next(iter(MEANINGS))
                setattr(Tensor, name, _either(getattr(Tensor, name), MEANINGS[name]))
                del MEANINGS[name]


def _either(of_tensors: Method, of_arrays: Method) -> Method:
    """PyTorch's method, and NumPy's where the note above says so."""

    @functools.wraps(of_tensors)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_in_function_of_arrays() and OF_PYTORCH.isdisjoint(kwargs) and not _is_own(sys._getframe(1)):
            result = of_arrays(self, *args, **kwargs)
            if result is not NotImplemented:
                return result
        return of_tensors(self, *args, **kwargs)

    return method


def _is_own(frame: Any) -> bool:
    return bool(frame.f_globals.get("__name__", "").startswith("gradsmith."))


# ---- NumPy's meanings; NotImplemented where PyTorch's is the same


def _function(name: str) -> Method:
    return lambda *args, **kwargs: getattr(gnp, name)(*args, **kwargs)


def _extreme(name: str) -> Method:
    def extreme(x: Any, *args: Any, **kwargs: Any) -> Any:
        is_of_pairs = args and (is_tensor(args[0]) or isinstance(args[0], np.ndarray))
        return NotImplemented if is_of_pairs else getattr(gnp, name)(x, *args, **kwargs)

    return extreme


def _cumulative(name: str) -> Method:
    def cumulative(x: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        return getattr(gnp, name)(x, axis, dtype, out)

    return cumulative


def mean(x: Any, *args: Any, **kwargs: Any) -> Any:
    """Of integers and bools, which PyTorch has no means of."""
    return gnp.mean(x, *args, **kwargs) if x.dtype.kind in "biu" else NotImplemented


def transpose(x: Any, *axes: Any) -> Any:
    is_spread = len(axes) != 1 or isinstance(axes[0], int)
    return gnp.transpose(x, (axes or None) if is_spread else axes[0])


def reshape(x: Any, *shape: Any, order: str = "C") -> Any:
    if order == "C":
        return NotImplemented
    return gnp.reshape(x, shape[0] if len(shape) == 1 else shape, order=order)


def ravel(x: Any, order: str = "C") -> Any:
    return NotImplemented if order == "C" else gnp.ravel(x, order)


def round_(x: Any, decimals: int = 0, out: Any = None) -> Any:
    return gnp.round(x, decimals, out)


def squeeze(x: Any, axis: Any = None) -> Any:
    return gnp.squeeze(x, axis)


def argsort(x: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    return gnp.argsort(x, axis)


def sort(x: Any, *args: Any, **kwargs: Any) -> Any:
    raise TypeError("sort(): a tensor that is being differentiated is not sorted in place; write x = np.sort(x)")


MEANINGS: dict[str, Method] = {
    **{name: _function(name) for name in ("std", "var", "repeat", "nonzero", "dot", "take")},
    **{name: _extreme(name) for name in ("max", "min")},
    **{name: _cumulative(name) for name in ("cumsum", "cumprod")},
    "transpose": transpose, "reshape": reshape, "ravel": ravel, "flatten": ravel, "round": round_, "squeeze": squeeze,
    "argsort": argsort, "mean": mean, "sort": sort,
}  # fmt: skip

upcalls.fill(put_numpy_methods=put_methods)
