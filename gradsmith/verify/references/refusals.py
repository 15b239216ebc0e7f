"""The errors by which an op, or its reference, says that it does not take some arguments."""

from __future__ import annotations

import numpy as np

from .expected import NotAvailable

REFUSALS = (
    RuntimeError,
    ValueError,
    IndexError,
    TypeError,
    ArithmeticError,
    KeyError,
    NotAvailable,
    np.linalg.LinAlgError,
)
