"""Functions that have no gradient anywhere, computed by NumPy itself on the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.numpy_protocols.composed.operands import as_arrays

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
