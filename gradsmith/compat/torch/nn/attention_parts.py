"""Parts of PyTorch's attention that programs take for layers of their own."""

from __future__ import annotations

import math
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.nn.functional import linear
from gradsmith.runtime.arrays.warning_place import warn_caller

__all__ = ["_canonical_mask", "_get_softmax_dim", "_in_projection", "_in_projection_packed", "_none_or_dtype"]


def _in_projection(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    b_q: Tensor | None = None,
    b_k: Tensor | None = None,
    b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values, each by weights of its own."""
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _in_projection_packed(
    q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values by weights that stand one below the other."""
    if q is k is v:
        return linear(q, w, b).chunk(3, dim=-1)  # type: ignore[return-value]  # one product
    biases: Any = (None, None, None) if b is None else b.chunk(3)
    return _in_projection(q, k, v, *w.chunk(3), *biases)


def _none_or_dtype(input: Tensor | None) -> Any:
    """The dtype of a tensor, if there is one."""
    return None if input is None else input.dtype


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: Any,
    other_name: str,
    target_type: Any,
    check_other: bool = True,
) -> Tensor | None:
    """A mask as numbers to add: minus infinity for True, and numbers as they are."""
    if mask is None or mask.is_floating_point():
        return mask
    if mask.dtype.kind != "b":
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warn_caller(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead."
        )
    return mask.new_zeros(mask.shape, dtype=target_type).masked_fill_(mask, -math.inf)


def _get_softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension of a softmax that is called without one: the first, or the second of 2 or of more than 3."""
    warn_caller(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument."
    )
    return 0 if ndim in (0, 1, 3) else 1
