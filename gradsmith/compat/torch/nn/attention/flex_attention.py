"""``torch.nn.attention.flex_attention``: attention with scores and masks that functions of places change.

>>> import gradsmith as gs
>>> from gradsmith.nn.attention.flex_attention import create_block_mask, flex_attention
>>> causal = create_block_mask(lambda b, h, q_idx, kv_idx: q_idx >= kv_idx, None, None, 2, 2)
>>> x = gs.tensor([[[[1.0, 0.0], [0.0, 1.0]]]])
>>> flex_attention(x, x, x, block_mask=causal, scale=0.0)
tensor([[[[1.0000, 0.0000],
          [0.5000, 0.5000]]]])
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from gradsmith.compat.torch.nn.attention.block_mask import (
    _DEFAULT_SPARSE_BLOCK_SIZE,  # noqa: F401  # of which libraries make masks
    BlockMask,
    and_masks,
    at_all_places,
    create_block_mask,
    create_mask,
    is_of_a_slice,
    noop_mask,
    or_masks,
)
from gradsmith.generated import where
from gradsmith.generated.tensor import Tensor
from gradsmith.names.missing import raise_missing
from gradsmith.runtime.arrays.dtypes import float16, float32

__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "FlexKernelOptions", "and_masks", "create_block_mask", "create_mask",
    "flex_attention", "noop_mask", "or_masks",
]  # fmt: skip
__getattr__ = raise_missing(__name__)

FlexKernelOptions = dict[str, Any]


class AuxRequest(NamedTuple):
    """What `flex_attention` shall give besides."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was asked for by `AuxRequest`; None for the rest."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Tensor] | None = None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: FlexKernelOptions | None = None,
    *,
    return_aux: AuxRequest | None = None,
) -> Any:
    """Averages of values, weighted by the softmax of products of queries with keys that functions change.

    Parameters
    ----------
    query : Tensor
        Of shape (B, heads, L, E).
    key, value : Tensor
        Of shapes (B, heads, S, E) and (B, heads, S, V).
    score_mod : callable, optional
        Gives the new score for a score and the numbers of sequence, head, query and key. It is called under `vmap`,
        with tensors of no dimensions; it may use other tensors, which get gradients.
    block_mask : BlockMask, optional
        Which keys a query sees.
    scale : float, optional
        The factor that scales the products of queries and keys; 1 / sqrt(E) by default.
    enable_gqa : bool, optional
        Queries may have more heads than keys and values, whose heads are then shared.
    return_lse : bool, optional
        The older word for ``return_aux=AuxRequest(lse=True)``, with the tensor alone as second result.
    kernel_options : dict, optional
        Has no effect.
    return_aux : AuxRequest, optional
        Asks for logarithms of the sums of exponentials of scores, and for the largest scores.

    Returns
    -------
    Tensor, or a tuple of Tensor and AuxOutput
        Of shape (B, heads, L, V). A query that sees nothing gets zeros.

    Raises
    ------
    ValueError
        Numbers of heads, sequences, queries or keys do not go together.

    Notes
    -----
    All scores are in memory, also in blocks that are empty: what is gained over
    `nn.functional.scaled_dot_product_attention` is the freedom of the functions, not time.
    """
    _expect_sizes(query, key, value, block_mask, enable_gqa)
    if return_lse and return_aux is not None:
        raise ValueError("flex_attention(): Cannot specify both return_lse and return_aux")
    shared = query.shape[1] // key.shape[1]
    keys, values = key.repeat_interleave(shared, 1), value.repeat_interleave(shared, 1)
    scores = _scores(query, keys, score_mod, 1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    seen = None if block_mask is None else _seen(block_mask, scores)
    if seen is not None:
        scores = scores.masked_fill(~seen, -math.inf)
    result = _weights(scores).to(query.dtype) @ values.to(query.dtype)
    if return_aux is not None:
        lse = _logsumexp(scores) if return_aux.lse else None
        return result, AuxOutput(lse, scores.amax(-1) if return_aux.max_scores else None)
    return (result, _logsumexp(scores)) if return_lse else result


def _scores(query: Tensor, key: Tensor, score_mod: Callable[..., Tensor] | None, scale: float) -> Tensor:
    if query.dtype == float16:
        query, key = query.to(float32), key.to(float32)
    scores = query @ key.transpose(-2, -1) * scale
    return scores if score_mod is None else at_all_places(score_mod, scores)


def _seen(mask: BlockMask, scores: Tensor) -> Tensor:
    """Which keys are seen: those in blocks of the mask for which its function says so."""
    return mask.seen_blocks() & at_all_places(mask.mask_mod, sizes=tuple(scores.shape))


def _weights(scores: Tensor) -> Tensor:
    """The softmax of scores; zeros where all are minus infinity, without NaN in the gradient."""
    nothing = scores.isneginf().all(-1, True)
    return scores.masked_fill(nothing, 0.0).softmax(-1).masked_fill(nothing, 0.0)


def _logsumexp(scores: Tensor) -> Tensor:
    nothing = scores.isneginf().all(-1)
    found = scores.masked_fill(nothing.unsqueeze(-1), 0.0).logsumexp(-1)
    return where(nothing, -math.inf, found)


def _expect_sizes(query: Tensor, key: Tensor, value: Tensor, mask: BlockMask | None, grouped: bool) -> None:
    if not query.dim() == key.dim() == value.dim() == 4:
        raise NotImplementedError(
            "flex_attention(): query, key, and value must be 4D tensors (batch, heads, length, features), but got "
            f"shapes {list(query.shape)}, {list(key.shape)} and {list(value.shape)}"
        )
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "flex_attention(): Expect query and key/value to have the same embedding dimension but got "
            f"E={query.shape[-1]} and E={key.shape[-1]}."
        )
    _expect_heads(query.shape[1], key.shape[1], grouped)
    if query.shape[0] != key.shape[0] and (mask is None or key.shape[0] != 1):
        raise ValueError(
            "flex_attention(): Expect query and key/value to have the same batch size but got "
            f"Bq={query.shape[0]} and Bkv={key.shape[0]}."
        )
    if mask is not None:
        _expect_mask(mask, query.shape[-2], key.shape[-2])


def _expect_heads(of_queries: int, of_keys: int, grouped: bool) -> None:
    if of_queries != of_keys and not grouped:
        raise ValueError(
            "flex_attention(): Expect query and key/value to have the same number of heads but got "
            f"Hq={of_queries} and Hkv={of_keys}. Try setting enable_gqa=True for GQA."
        )
    if of_queries % of_keys:
        raise ValueError(
            "flex_attention(): Expect number of query heads to be a multiple of kv heads for GQA but got "
            f"Hq={of_queries} and Hkv={of_keys}."
        )


def _expect_mask(mask: BlockMask, queries: int, keys: int) -> None:
    if is_of_a_slice(mask):
        raise RuntimeError("Cannot use mask_mod from a sliced BlockMask; set the mask_mod of the slice")
    if mask.seq_lengths != (queries, keys):
        raise ValueError(
            f"flex_attention(): block_mask was created for block_mask.shape={mask.shape} but got q_len={queries} and "
            f"kv_len={keys}. Create a mask for these lengths."
        )
