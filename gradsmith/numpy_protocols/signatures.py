"""Signatures of NumPy's functions, also of those in C that older NumPys do not tell."""

from __future__ import annotations

import inspect
from typing import Any

_OF_FUNCTIONS_IN_C = {
    "bincount": "x, /, weights=None, minlength=0",
    "concatenate": "arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind'",
    "copyto": "dst, src, casting='same_kind', where=True",
    "dot": "a, b, out=None",
    "empty_like": "prototype, /, dtype=None, order='K', subok=True, shape=None, *, device=None",
    "inner": "a, b, /",
    "lexsort": "keys, axis=-1",
    "putmask": "a, /, mask, values",
    "ravel_multi_index": "multi_index, dims, mode='raise', order='C'",
    "unravel_index": "indices, shape, order='C'",
    "vdot": "a, b, /",
    "where": "condition, x=None, y=None, /",
}


def signature_of(func: Any) -> inspect.Signature:
    """The parameters of a function of NumPy's.

    Raises
    ------
    ValueError
        The function does not tell them, and they are not known here.
    """
    try:
        return inspect.signature(func)
    except ValueError:
        if func.__name__ not in _OF_FUNCTIONS_IN_C:
            raise
        return inspect.signature(eval(f"lambda {_OF_FUNCTIONS_IN_C[func.__name__]}: None"))
