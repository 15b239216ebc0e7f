"""What ops of two vectors, or of two batches of them, expect of their shapes."""

import numpy as np


cpdef object common_shape(object one, object other):
    """The shape to which two tensors broadcast."""
    try:
        return np.broadcast_shapes(one, other)
    except ValueError:
        raise RuntimeError(
            f"cosine_similarity(): sizes {list(one)} and {list(other)} do not broadcast; each dimension must be the "
            "same, or 1, in both"
        ) from None


cpdef object fitting_weight(object weight, object one, object other):
    """The weight of bilinear, of shape (outputs, features of the first input, features of the second)."""
    if one.ndim != other.ndim or one.shape[:one.ndim - 1] != other.shape[:other.ndim - 1]:
        raise RuntimeError(
            f"bilinear(): input dimensions do not match but for the last: got {list(one.shape)} and {list(other.shape)}"
        )
    if weight.ndim != 3 or one.ndim == 0 or weight.shape[1:] != (one.shape[one.ndim - 1], other.shape[other.ndim - 1]):
        raise RuntimeError(
            f"bilinear(): weight of size {list(weight.shape)} does not go with inputs of sizes {list(one.shape)} and "
            f"{list(other.shape)}: it is (outputs, last size of input1, last size of input2)"
        )
    return weight
