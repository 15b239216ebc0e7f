"""Orthogonal polynomials and their derivatives."""

from __future__ import annotations

import numpy as np

from gradsmith.runtime.arrays.functions.special.recurrences import MAX_ORDER, Recurrence, put_polynomial
from gradsmith.runtime.arrays.functions.special.scipy_loops import Array, Operand, floats_of

# Name of a polynomial -> recurrence, first, constant.
_KINDS = {
    "chebyshev_polynomial_t": (Recurrence.CHEBYSHEV, 1.0, 0.0),
    "chebyshev_polynomial_u": (Recurrence.CHEBYSHEV, 2.0, 0.0),
    "chebyshev_polynomial_v": (Recurrence.CHEBYSHEV, 2.0, -1.0),
    "chebyshev_polynomial_w": (Recurrence.CHEBYSHEV, 2.0, 1.0),
    "hermite_polynomial_h": (Recurrence.HERMITE_H, 2.0, 0.0),
    "hermite_polynomial_he": (Recurrence.HERMITE_HE, 1.0, 0.0),
    "laguerre_polynomial_l": (Recurrence.LAGUERRE, -1.0, 1.0),
    "legendre_polynomial_p": (Recurrence.LEGENDRE, 1.0, 0.0),
}


def polynomial_of(kind: str, order: int, x: Operand, n: Operand) -> Array:
    """Derivative of some order of a polynomial of degree `n`, which is cut to a whole number, as in PyTorch.

    Polynomials of negative degree are zero. Those called "shifted" are the others at 2 x - 1.
    """
    if order > MAX_ORDER:
        raise NotImplementedError(f"{kind}(): derivatives exist up to order {MAX_ORDER}, not of order {order}")
    shifted = kind.startswith("shifted_")
    known = _KINDS.get(kind.removeprefix("shifted_"))
    if known is None:
        raise ValueError(f"polynomial(): kind must be one of {', '.join(_KINDS)}, got {kind!r}")

    def derivative(x: Array, n: Array, out: Array | None = None) -> Array:
        if np.ndim(n) and n.shape == x.shape and n.size and not any(n.strides):  # one degree, broadcast
            n = n[(0,) * n.ndim]
        elements, degrees = np.asarray(x), np.asarray(n, np.float64)
        if degrees.ndim:
            elements, degrees = np.broadcast_arrays(elements, degrees)
        found = out if out is not None and out.flags.c_contiguous else np.empty(elements.shape, elements.dtype)
        points, numbers, results = (np.ascontiguousarray(array).reshape(-1) for array in (elements, degrees, found))
        put_polynomial(points, numbers, results, order, *known, shifted)
        if out is None or found is out:
            return found
        out[...] = found
        return out

    return floats_of(derivative, x, n)
