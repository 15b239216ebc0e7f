"""The two entries: a call of a ufunc, and one of another function."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np

from gradsmith.numpy.arguments import numpys_error
from gradsmith.numpy_protocols import options, rows, ufunc_methods, ufuncs
from gradsmith.numpy_protocols.composed.operands import as_inexact
from gradsmith.numpy_protocols.constants import CONSTANT, are_constants, are_values, computed_by_numpy
from gradsmith.runtime.graph.tensor import TensorBase
from gradsmith.runtime.switches.array_functions import is_in_function_of_arrays
from gradsmith.runtime.tensors.factories.python_data import is_tensor
from gradsmith.runtime.tensors.plain_methods import is_foreign, set_row_of_function

_KNOWN = (TensorBase, np.ndarray)


def call_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What ``ufunc(*inputs)`` gives, or ``ufunc.reduce(...)``, where an operand or the output is a tensor."""
    if is_foreign(*inputs):
        return NotImplemented
    op = ufuncs.expect_op(ufunc)
    if op is None:
        if are_constants(inputs, kwargs):
            return computed_by_numpy(getattr(ufunc, method), inputs, kwargs)
        raise _no_op(ufunc.__name__, [name for name in dir(np) if isinstance(getattr(np, name), np.ufunc)])
    if method != "__call__":
        return ufunc_methods.call(ufunc, op, method, inputs, kwargs)
    if is_in_function_of_arrays() and any(map(_is_exact, inputs)):
        return _of_integers(ufunc, op, inputs, kwargs)
    if kwargs:
        return options.called(ufunc, op, inputs, kwargs)
    try:
        return op(*inputs)
    except RuntimeError as error:
        raise numpys_error(error, inputs) from None


def _is_exact(value: Any) -> bool:
    return is_tensor(value) and value.dtype.kind in "biu"


def _of_integers(ufunc: np.ufunc, op: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """In a function of arrays, integers become what NumPy makes of them; ops compute floats in the default dtype."""
    function = options.of_namespace(ufunc)
    if function is not None:
        return function(*inputs, **kwargs)
    inputs = tuple(as_inexact(value) if _is_exact(value) else value for value in inputs)
    return options.called(ufunc, op, inputs, kwargs) if kwargs else op(*inputs)


def call_numpy(func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What another function of NumPy gives, of which an argument is, or has in it, a tensor."""
    for kind in types:
        if not issubclass(kind, _KNOWN):
            return NotImplemented
    row = rows.expect_row(func)
    if row is not None:
        set_row_of_function(func, row)
        return row(args, kwargs)
    if func in CONSTANT or are_values(args, kwargs):
        return computed_by_numpy(func, args, kwargs)
    function = rows.expect_function(func)
    if function is not None:
        return function(*args, **kwargs)
    if are_constants(args, kwargs):
        return computed_by_numpy(func, args, kwargs)
    raise _no_op(_name_of(func), rows.names())


def call_numpy_by_solver(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The same where a solver of SciPy calls, whose compiled parts want arrays: NumPy's own result for constants.

    That is what it gets of tensors of PyTorch, such as the gradient that an objective function returns.
    """
    return computed_by_numpy(func, args, kwargs) if are_values(args, kwargs) else NotImplemented


def _name_of(func: Any) -> str:
    module = getattr(func, "__module__", None) or "numpy"
    return f"{module}.{func.__name__}".removeprefix("numpy.")


def _no_op(name: str, names: list[str]) -> TypeError:
    near = difflib.get_close_matches(name, [other for other in names if other != name], 3, 0.5)
    hint = f" The nearest that there are: {', '.join('np.' + other for other in near)}." if near else ""
    return TypeError(
        f"np.{name}() of tensors: there is no op for it, and the gradient would be lost.{hint} "
        "Give it x.detach().numpy() if the result is to be a constant."
    )
