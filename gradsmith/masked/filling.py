"""Tensors whose elements outside of a mask are replaced by a number that changes no result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from gradsmith.generated import broadcast_to, where
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.creation import ones_like
from gradsmith.runtime.tensors.factories.python_data import is_tensor

Dims: TypeAlias = int | Sequence[int] | None


def filled(op: str, input: Tensor, mask: Tensor | None, value: float, name: str = "mask") -> Tensor:
    """`input` where the mask is true, and `value` elsewhere, where the gradient is zero."""
    if not is_tensor(input):
        raise TypeError(f"masked.{op}(): argument 'input' must be Tensor, not {type(input).__name__}")
    return input if mask is None else where(whole_mask(op, input, mask, name), input, input.new_full((), value))


def counted(op: str, input: Tensor, mask: Tensor | None, name: str = "mask") -> Tensor:
    """Which elements count, as bools: all of them without a mask."""
    return ones_like(input.detach(), dtype=np.bool_) if mask is None else whole_mask(op, input, mask, name)


def whole_mask(op: str, input: Tensor, mask: Tensor, name: str = "mask") -> Tensor:
    """The mask as bools, of the shape of `input`."""
    if not is_tensor(mask):
        raise TypeError(f"masked.{op}(): argument '{name}' must be Tensor, not {type(mask).__name__}")
    if mask.ndim > input.ndim:
        raise IndexError(
            f"masked.{op}(): expected {name} of at most {input.ndim} dimensions, as the input has, but got {mask.ndim}"
        )
    return broadcast_to(mask.bool(), input.shape)


def lowest(dtype: np.dtype[Any]) -> float:
    """What no element is less than."""
    return -math.inf if dtype.kind in "fc" else int(np.iinfo(dtype).min)


def highest(dtype: np.dtype[Any]) -> float:
    return math.inf if dtype.kind in "fc" else int(np.iinfo(dtype).max)


def ordered(op: str, input: Tensor) -> Tensor:
    """`input`, of a dtype that has a lowest and a highest number."""
    if is_tensor(input) and input.dtype.kind not in "fiu":
        raise NotImplementedError(f"masked.{op}(): not defined for {input.dtype} tensors, which have no order")
    return input


def dims_of(op: str, dim: Dims, ndim: int) -> tuple[int, ...]:
    """Dimensions in ascending order, counted from the front; all of them for None and for none at all."""
    if dim is None or dim == () or dim == []:
        return tuple(range(ndim))
    found = [place_of(op, each, ndim) for each in ([dim] if isinstance(dim, int) else dim)]
    if len({*found}) < len(found):
        raise RuntimeError(f"masked.{op}(): a dimension appears multiple times in dim={dim}")
    return tuple(sorted(found))


def place_of(op: str, dim: int, ndim: int) -> int:
    size = max(ndim, 1)
    if not -size <= dim < size:
        raise IndexError(
            f"masked.{op}(): Dimension out of range (expected to be in range of [{-size}, {size - 1}], but got {dim})"
        )
    return dim % size
