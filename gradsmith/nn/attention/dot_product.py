"""Attention, with the arguments that ``torch.nn.functional`` has for it."""

from __future__ import annotations

import math

import numpy as np

from gradsmith.generated import masked_fill, matmul, repeat_interleave, softmax
from gradsmith.generated.similarities import attention
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.dropouts import dropout

__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    """Averages of values, weighted by the softmax of the products of queries with keys.

    Parameters
    ----------
    query : Tensor
        Of shape (*, heads, L, E).
    key : Tensor
        Of shape (*, heads, S, E).
    value : Tensor
        Of shape (*, heads, S, V).
    attn_mask : Tensor, optional
        Of a shape that broadcasts with (*, heads, L, S): True where a query may see a key, or a term of their product.
    dropout_p : float, optional
        The probability that a weight becomes zero.
    is_causal : bool, optional
        A query sees the keys up to its own place alone.
    scale : float, optional
        The factor that scales the products of queries and keys; 1 / sqrt(E) by default.
    enable_gqa : bool, optional
        Queries may have more heads than keys and values, whose heads are then shared.

    Returns
    -------
    Tensor
        Of shape (*, heads, L, V). A query that may see nothing gets zeros.

    Raises
    ------
    RuntimeError
        There are a mask and `is_causal`, or sizes or dtypes do not go together.

    Notes
    -----
    Source: Vaswani et al., Attention Is All You Need, 2017, equation 1. Weights are never all in memory, unless
    some of them are dropped or the mask has a gradient: see Dao et al., FlashAttention, 2022.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import gradsmith.nn.functional as F
    >>> x = gs.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> F.scaled_dot_product_attention(x, x, x, is_causal=True, scale=0.0)
    tensor([[1.0000, 0.0000],
            [0.5000, 0.5000]])
    """
    if is_causal and attn_mask is not None:
        raise RuntimeError("scaled_dot_product_attention(): attn_mask should not be set when is_causal=True")
    _expect_sizes(query, key, value)
    _expect_mask(attn_mask, query)
    factor = 1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else scale
    if dropout_p > 0:
        return _composed(query, key, value, attn_mask, dropout_p, is_causal, factor, enable_gqa)
    if enable_gqa and query.shape[-3] != key.shape[-3]:
        return _of_grouped_heads(query, key, value, attn_mask, is_causal, factor)
    return _attended(query, key, value, attn_mask, is_causal, factor)


def _expect_sizes(query: Tensor, key: Tensor, value: Tensor) -> None:
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise RuntimeError(
            "scaled_dot_product_attention(): query, key and value have two dimensions at least, but their sizes are "
            f"{list(query.shape)}, {list(key.shape)}, {list(value.shape)}"
        )
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise RuntimeError(
            "scaled_dot_product_attention(): query and key have one last size, key and value one size before, but "
            f"their sizes are {list(query.shape)}, {list(key.shape)}, {list(value.shape)}"
        )
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError(
            "scaled_dot_product_attention(): expected query, key and value to have the same dtype, but got "
            f"{query.dtype}, {key.dtype}, {value.dtype}"
        )


def _expect_mask(mask: Tensor | None, query: Tensor) -> None:
    if mask is not None and mask.dtype != bool and not mask.is_floating_point():
        raise RuntimeError(
            "scaled_dot_product_attention(): expected attn_mask of dtype bool or of that of the query, "
            f"{query.dtype}, but it is {mask.dtype}"
        )


def _attended(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool, scale: float
) -> Tensor:  # fmt: skip
    if mask is not None:
        mask = mask.expand(*mask.shape[:-2], query.shape[-2], key.shape[-2])
    if query.dtype == np.float16:
        wide = (query.float(), key.float(), value.float())
        return attention(*wide, mask, scale, is_causal)[0].to(query.dtype)
    return attention(query, key, value, mask, scale, is_causal)[0]


# ---- heads of queries that share heads of keys


def _of_grouped_heads(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, is_causal: bool, scale: float
) -> Tensor:  # fmt: skip
    """With a dimension for the queries' heads that share one of keys, along which keys and values broadcast."""
    heads, shared = query.shape[-3], _shared_heads(query, key)
    if value.shape[-3] != shared:
        value = repeat_interleave(value, shared // _shared_heads(key, value), -3)
    if mask is not None and mask.ndim >= 3:
        mask = mask.unsqueeze(-3) if mask.shape[-3] == 1 else mask.unflatten(-3, (shared, heads // shared))
    grouped = query.unflatten(-3, (shared, heads // shared))
    found = _attended(grouped, key.unsqueeze(-3), value.unsqueeze(-3), mask, is_causal, scale)
    return found.flatten(-4, -3)


def _shared_heads(query: Tensor, shared: Tensor) -> int:
    heads, own = query.shape[-3], shared.shape[-3]
    if own == 0 or heads % own:
        raise RuntimeError(
            f"scaled_dot_product_attention(): {heads} heads of queries cannot share {own} heads of keys and values"
        )
    return own


# ---- with weights that are written out


def _composed(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool, scale: float,
    enable_gqa: bool,
) -> Tensor:  # fmt: skip
    if enable_gqa:
        key, value = (
            repeat_interleave(shared, query.shape[-3] // _shared_heads(query, shared), -3) for shared in (key, value)
        )
    products = matmul(query * scale, key.transpose(-2, -1))
    weights = attention_weights(products, _causal(products) if is_causal else mask)
    return matmul(dropout(weights, dropout_p), value)


def _causal(products: Tensor) -> Tensor:
    """Keys up to the place of the query."""
    return products.detach().new_ones(products.shape[-2:]).tril().bool()


def attention_weights(products: Tensor, mask: Tensor | None) -> Tensor:
    """The softmax over what may be seen. A row of which nothing may has no weights, where a softmax would have NaN."""
    if mask is None:
        return softmax(products, -1)
    is_plain = mask.dtype == bool
    seen = mask if is_plain else mask != -math.inf
    some = seen.any(-1, True)
    hidden = seen.logical_not().logical_and(some)
    if not is_plain:
        products = products + masked_fill(mask, seen.logical_not(), 0)
    return softmax(masked_fill(products, hidden, -math.inf), -1) * some
