"""The standard basis of the space of several tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradsmith.runtime.graph.tensor import from_array


def _construct_standard_basis_for(tensors: Sequence[Any], tensor_numels: Sequence[int]) -> tuple[Any, ...]:
    """The unit vectors of all elements of all tensors together, as the rows of one matrix for each tensor.

    Parameters
    ----------
    tensors : sequence of Tensor
        Give the dtypes and devices.
    tensor_numels : sequence of int
        How many elements each has.

    Returns
    -------
    tuple of Tensor
        Of shape ``(sum(tensor_numels), tensor_numels[i])``; side by side they are the unit matrix.
    """
    if len(tensors) != len(tensor_numels):
        raise AssertionError(f"len(tensors) = {len(tensors)}, but len(tensor_numels) = {len(tensor_numels)}")
    if not tensors:
        raise AssertionError("Expected at least one tensor")
    return tuple(_columns(tensors, tensor_numels))


def _columns(tensors: Sequence[Any], numels: Sequence[int]) -> Iterator[Any]:
    first = 0
    for tensor, numel in zip(tensors, numels):
        yield from_array(np.eye(sum(numels), numel, -first, tensor.dtype)).to(tensor.device)
        first += numel
