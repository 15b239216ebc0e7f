"""Are two arrays of numbers of one dtype, and the same but for rounding."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..samples import Array, Place

NOTICED = 1e-7  # relative to the largest element
ROUNDED = 1e-10

Gradients = Mapping["Place", "Array"]


def differ(found: Gradients, expected: Gradients, tolerance: float = NOTICED) -> bool:
    """Does any of the arrays differ by more than the tolerance."""
    return any(differs(found[place], expected[place], tolerance) for place in found)


def differs(found: Array, expected: Array, tolerance: float) -> bool:
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return True
    finite = np.abs(expected[np.isfinite(expected)])
    scale = float(np.max(finite)) if finite.size else 0.0
    return not np.allclose(found, expected, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
