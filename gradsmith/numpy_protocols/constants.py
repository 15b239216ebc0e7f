"""Functions that have no gradient anywhere, computed by NumPy itself on the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.numpy.arguments import by_numpy, mapped, without_data
from gradsmith.numpy_protocols.composed.operands import as_arrays, has_tensors, is_recorded
from gradsmith.runtime.batching.batch import is_tracing
from gradsmith.runtime.tensors.factories.python_data import is_tensor

# Their results are truths, counts, places, dtypes or text: a step function at most.
_NAMES = [
    "allclose",
    "array_equal",
    "array_equiv",
    "array_repr",
    "array_str",
    "array2string",
    "argpartition",
    "can_cast",
    "common_type",
    "einsum_path",
    "iscomplexobj",
    "isrealobj",
    "lexsort",
    "may_share_memory",
    "min_scalar_type",
    "nanargmax",
    "nanargmin",
    "packbits",
    "result_type",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
    "shares_memory",
    "tril_indices_from",
    "triu_indices_from",
    "diag_indices_from",
    "unpackbits",
]

CONSTANT = frozenset(getattr(np, name) for name in _NAMES if hasattr(np, name))

# Of these the result follows from shapes and dtypes, which tensors without values have too.
_OF_KINDS = frozenset((
    np.can_cast, np.common_type, np.diag_indices_from, np.iscomplexobj, np.isrealobj, np.result_type,
    np.tril_indices_from, np.triu_indices_from,
))  # fmt: skip

# Arrays whose shapes do not depend on values, so that a program can call them in each run.
_OF_FIXED_SHAPE = frozenset((np.argpartition, np.lexsort, np.nanargmax, np.nanargmin, np.packbits, np.unpackbits))


def computed_by_numpy(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The function of arrays with the values of the tensors."""
    if func in _OF_KINDS:
        return func(*map(_stand_in, args), **{name: _stand_in(value) for name, value in kwargs.items()})
    is_ufunc = isinstance(getattr(func, "__self__", None), np.ufunc)
    if (func in _OF_FIXED_SHAPE or is_ufunc) and is_tracing():
        return by_numpy(func, *args, **kwargs)
    return func(*map(as_arrays, args), **as_arrays(kwargs))


def _stand_in(value: Any) -> Any:
    """An array of the same shape and dtype, of one element that is repeated."""
    return np.broadcast_to(np.zeros((), value.dtype), tuple(value.shape)) if is_tensor(value) else value


def are_values(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Are they constants whose values NumPy can compute with?"""
    tensors: list[Any] = []
    mapped(tensors.append, [list(args), kwargs])
    return are_constants(args, kwargs) and not without_data(tensors)


def are_constants(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Would no gradient be lost if all tensors among the arguments were taken for constants, and none be written to?"""
    if has_tensors(kwargs.get("out")):
        return False
    return not any(map(is_recorded, (*args, *kwargs.values())))
