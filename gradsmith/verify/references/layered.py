"""References of the layers of networks: tables, convolutions, pooling."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


# ---- rows of tables


def row_shares(indices: Array, padding_idx: int, by_frequency: bool) -> Array:
    """What the gradient of each row that is looked up in a table is multiplied by."""
    _, places, counts = np.unique(indices, return_inverse=True, return_counts=True)
    shares = 1 / counts[places.reshape(indices.shape)] if by_frequency else np.ones(indices.shape)
    return np.where(indices == padding_idx, 0, shares)[..., None]


DEFINITIONS = (row_shares,)
