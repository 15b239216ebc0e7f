"""Complex numbers written where real ones are kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradsmith.runtime.arrays.warning_place import warn_caller


def real_where_kept(array: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The real parts of a complex array on its way to a real dtype, with a warning; any other array as it is.

    Whether a number is true depends on both of its parts, so bool gets them.
    """
    if array.dtype.kind != "c" or dtype.kind in "cb":
        return array
    warn_caller("Casting complex values to real discards the imaginary part")
    return array.real
