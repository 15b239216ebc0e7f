"""Masks of attention."""

from __future__ import annotations

import math
import warnings
from typing import Any

from gradsmith.generated import triu
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.dtypes import bool_
from gradsmith.runtime.tensors.factories.creation import full, zeros_like


def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
    """Minus infinity above the diagonal of a square and zeros elsewhere: no step attends to one after it.

    Examples
    --------
    >>> from gradsmith import nn
    >>> nn.Transformer.generate_square_subsequent_mask(2)
    tensor([[0., -inf],
            [0., 0.]])
    """
    return triu(full((sz, sz), -math.inf, dtype=dtype, device=device), diagonal=1)


def as_numbers(mask: Tensor | None, name: str, dtype: Any, other: Tensor | None = None) -> Tensor | None:
    """A mask that is added to scores; of a mask of bools, minus infinity where it is True."""
    if mask is None:
        return None
    is_bool = mask.dtype == bool_
    if not is_bool and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None and other.dtype != mask.dtype:
        warnings.warn(
            f"Support for mismatched {name} and attention mask is deprecated. Use same type for both instead.",
            stacklevel=3,
        )
    return zeros_like(mask, dtype=dtype).masked_fill(mask, -math.inf) if is_bool else mask


def is_causal_mask(mask: Tensor | None, is_causal: bool | None, steps: int) -> bool:
    """Does a mask pass over all later steps? What the caller says of it counts, if it says anything."""
    if is_causal is not None or mask is None:
        return bool(is_causal)
    causal = generate_square_subsequent_mask(steps, device=mask.device, dtype=mask.dtype)
    return mask.shape == causal.shape and bool((mask == causal).all())


def steps_of(sequence: Tensor, batch_first: bool) -> int:
    """The number of steps of a sequence."""
    return sequence.shape[1 if batch_first and sequence.ndim == 3 else 0]
