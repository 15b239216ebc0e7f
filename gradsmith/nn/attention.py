"""Attention, with the arguments that ``torch.nn.functional`` has for it."""

from __future__ import annotations

import math

from gradsmith.generated import masked_fill, matmul, repeat_interleave, softmax
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
        What products are multiplied by; 1 / sqrt(E) by default.
    enable_gqa : bool, optional
        Queries may have more heads than keys and values, whose heads are then shared.

    Returns
    -------
    Tensor
        Of shape (*, heads, L, V). A query that may see nothing gets zeros.

    Raises
    ------
    RuntimeError
        There are a mask and `is_causal`, or sizes do not fit.

    Notes
    -----
    Source: Vaswani et al., Attention Is All You Need, 2017, equation 1.

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
    if enable_gqa:
        key, value = (_with_heads_of(query, shared) for shared in (key, value))
    factor = 1 / math.sqrt(max(query.shape[-1], 1)) if scale is None else scale
    products = matmul(query * factor, key.transpose(-2, -1))
    weights = _weights(products, _causal(products) if is_causal else attn_mask)
    return matmul(dropout(weights, dropout_p), value)


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


def _with_heads_of(query: Tensor, shared: Tensor) -> Tensor:
    heads, own = query.shape[-3], shared.shape[-3]
    if own == 0 or heads % own:
        raise RuntimeError(
            f"scaled_dot_product_attention(): {heads} heads of queries cannot share {own} heads of keys and values"
        )
    return repeat_interleave(shared, heads // own, -3)


def _causal(products: Tensor) -> Tensor:
    """Keys up to the place of the query."""
    return products.detach().new_ones(products.shape[-2:]).tril().bool()


def _weights(products: Tensor, mask: Tensor | None) -> Tensor:
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
