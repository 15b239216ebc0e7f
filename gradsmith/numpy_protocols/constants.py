"""Functions that have no gradient anywhere, computed by NumPy itself on the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.numpy_protocols.composed.operands import as_arrays, has_tensors, is_recorded

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
    "histogram",
    "histogram_bin_edges",
    "histogram2d",
    "histogramdd",
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


def computed_by_numpy(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The function of arrays with the values of the tensors."""
    return func(*map(as_arrays, args), **as_arrays(kwargs))


def are_constants(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Would no gradient be lost if all tensors among the arguments were taken for constants, and none be written to?"""
    if has_tensors(kwargs.get("out")):
        return False
    return not any(map(is_recorded, (*args, *kwargs.values())))
