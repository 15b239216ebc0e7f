"""Decompositions of `numpy.linalg` in the dtype of the matrices, as in PyTorch.

`numpy.linalg` converts float32 to float64 and complex64 to complex128, also where a function behind it takes them.
Those functions are called here where this NumPy has them under these names; else `numpy.linalg` is.
"""

from __future__ import annotations

from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

_functions: Any = getattr(np.linalg, "_umath_linalg", None)


def eig(a: Array) -> tuple[Array, Array]:
    """``numpy.linalg.eig(a)``, complex whatever the eigenvalues are."""
    values, vectors = _computed("eig", a, "f->FF", "d->DD", "D->DD") or _complex(*np.linalg.eig(a))
    return values, vectors


def eigvals(a: Array) -> Array:
    """``numpy.linalg.eigvals(a)``, complex whatever they are."""
    return (_computed("eigvals", a, "f->F", "d->D", "D->D") or _complex(np.linalg.eigvals(a)))[0]


# Real matrices that come here are too small for it to matter; in float64, vectors have the signs of NumPy's.


def eigh(a: Array) -> tuple[Array, Array]:
    values, vectors = _computed("eigh_lo", a, "F->fF", "D->dD") or np.linalg.eigh(a)
    return values, vectors


def eigvalsh(a: Array) -> Array:
    return (_computed("eigvalsh_lo", a, "F->f", "D->d") or (np.linalg.eigvalsh(a),))[0]


def svd(a: Array, full_matrices: bool) -> tuple[Array, Array, Array]:
    name = "svd_f" if full_matrices else "svd_s"
    return _computed(name, a, "F->FfF", "D->DdD") or tuple(np.linalg.svd(a, full_matrices))


def svdvals(a: Array) -> Array:
    return (_computed("svd", a, "F->f", "D->d") or (np.linalg.svdvals(a),))[0]


def _complex(*results: Array) -> tuple[Array, ...]:
    return tuple(result.astype(np.result_type(result, np.complex64), copy=False) for result in results)


def _computed(name: str, a: Array, *loops: str) -> Any:
    """The results of a function that computes in the dtype of `a`; None where it does not, or has no matrix."""
    function: Any = getattr(_functions, name, None)
    loop = next((loop for loop in loops if loop[0] == a.dtype.char), "")
    if loop not in getattr(function, "types", ()) or a.ndim < 2 or not a.size:
        return None
    with np.errstate(call=_not_converged, invalid="call", over="ignore", divide="ignore", under="ignore"):
        results = function(a, signature=loop)
    return results if isinstance(results, tuple) else (results,)


def _not_converged(kind: str, flag: int) -> NoReturn:
    raise np.linalg.LinAlgError("The algorithm did not converge")
