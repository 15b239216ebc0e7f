"""Attention with several heads and the projections around it, with the arguments that ``torch.nn.functional`` has."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

from gradsmith.generated import cat, linear, masked_fill, matmul, softmax
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.attention.dot_product import scaled_dot_product_attention
from gradsmith.nn.dropouts import dropout

__all__ = ["multi_head_attention_forward"]


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Queries, keys and values are projected, heads of them attend, and what they find is projected once more.

    Parameters
    ----------
    query : Tensor
        Of shape (L, N, E), or (L, E) without a batch.
    key, value : Tensor
        Of shape (S, N, E), or (S, E); with projections of their own the last size may be another.
    embed_dim_to_check : int
        E.
    num_heads : int
        Of E / num_heads columns each.
    in_proj_weight : Tensor or None
        The projections of query, key and value one below the other, of shape (3 E, E).
    in_proj_bias : Tensor or None
        Of shape (3 E,).
    bias_k, bias_v : Tensor or None
        Of shape (1, 1, E) or (E,): a key and a value more, after the projections.
    add_zero_attn : bool
        Add a key and a value of zeros.
    dropout_p : float
        The probability that a weight becomes zero in training.
    out_proj_weight, out_proj_bias : Tensor
        Of shape (E, E) and (E,); the latter may be None.
    training : bool, optional
        Are weights dropped?
    key_padding_mask : Tensor, optional
        Of shape (N, S), or (S,): True for keys that nothing may see, or a term of their products.
    need_weights : bool, optional
        Return the weights too. Without them they are never all in memory.
    attn_mask : Tensor, optional
        Of shape (L, S) or (N * num_heads, L, S): True where a query may not see a key, or a term of their product.
    use_separate_proj_weight : bool, optional
        Take the next three in place of `in_proj_weight`.
    q_proj_weight, k_proj_weight, v_proj_weight : Tensor, optional
        Of shape (E, E), (E, last size of key), (E, last size of value).
    static_k, static_v : Tensor, optional
        Of shape (N * num_heads, S, E / num_heads), in place of projected keys and values.
    average_attn_weights : bool, optional
        Return the mean of the weights over the heads.
    is_causal : bool, optional
        `attn_mask` is known to hide what comes later. It must be there; weights and padding need it nevertheless.

    Returns
    -------
    result : Tensor
        Of the shape of the query.
    weights : Tensor or None
        Of shape (N, L, S), or (N, num_heads, L, S) of all heads; without N where there is no batch.

    Raises
    ------
    AssertionError
        Sizes do not go together, an argument that another one needs is missing, or a mask is neither of booleans nor of
        floating numbers.
    RuntimeError
        The size of `attn_mask` is wrong, or there is none with `is_causal`.

    Notes
    -----
    Source: Vaswani et al., Attention Is All You Need, 2017, section 3.2.2.
    """
    is_batched = _is_batched(query, key, value, key_padding_mask, attn_mask)
    if not is_batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    if is_causal and attn_mask is None:
        raise RuntimeError("multi_head_attention_forward(): Need attn_mask if specifying the is_causal hint.")
    _expect_widths(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    # Then the mask says the same as the hint, and is not read.
    is_hint = is_causal and key_padding_mask is None and not need_weights
    masks = _Masks(None if is_hint else attn_mask, key_padding_mask)
    masks.check(query, key, num_heads)
    if use_separate_proj_weight:
        projected = _projected_apart(query, key, value, (q_proj_weight, k_proj_weight, v_proj_weight), in_proj_bias)
    else:
        projected = _projected_together(query, key, value, in_proj_weight, in_proj_bias)
    projected, added = _with_biases(projected, bias_k, bias_v, static_k, static_v)
    heads = _Heads.of(projected, static_k, static_v, num_heads)
    if add_zero_attn:
        heads, added = heads.with_zeros(), added + 1
    dropped = dropout_p if training else 0.0
    if need_weights:
        found, weights = heads.attended_with_weights(masks.added_to(heads, added), dropped)
    else:
        mask = masks.seen_by(heads, added)
        found = scaled_dot_product_attention(heads.query, heads.key, heads.value, mask, dropped, is_hint)
        weights = None
    result = linear(found.permute(2, 0, 1, 3).reshape(query.shape), out_proj_weight, out_proj_bias)
    if weights is not None and average_attn_weights:
        weights = weights.mean(1)
    if not is_batched:
        return result.squeeze(1), None if weights is None else weights.squeeze(0)
    return result, weights


# ---- what goes together


def _is_batched(query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, mask: Tensor | None) -> bool:
    if query.ndim not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {query.ndim}-D query tensor"
        )
    kind = "batched (3-D)" if query.ndim == 3 else "unbatched (2-D)"
    if key.ndim != query.ndim or value.ndim != query.ndim:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {query.ndim}-D but found {key.ndim}-D and "
            f"{value.ndim}-D tensors respectively"
        )
    if padding is not None and padding.ndim != query.ndim - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {query.ndim - 1}-D but found "
            f"{padding.ndim}-D tensor instead"
        )
    if mask is not None and mask.ndim not in (2, 3):
        raise AssertionError(
            f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {mask.ndim}-D tensor instead"
        )
    return query.ndim == 3


def _expect_widths(query: Tensor, key: Tensor, value: Tensor, width: int, heads: int, apart: bool) -> None:
    if query.shape[-1] != width:
        raise AssertionError(f"was expecting embedding dimension of {width}, but got {query.shape[-1]}")
    if heads < 1 or width % heads:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {heads}")
    if key.shape[:2] != value.shape[:2] or (not apart and key.shape != value.shape):
        raise AssertionError(f"key shape {list(key.shape)} does not match value shape {list(value.shape)}")
    if key.shape[1] != query.shape[1]:
        raise AssertionError(
            f"query and key have one batch size, but their shapes are {list(query.shape)} and {list(key.shape)}"
        )


# ---- projections


def _projected_together(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor | None, bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """One product where the same tensor is projected more than once."""
    if weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    width = query.shape[-1]
    if tuple(weight.shape) != (3 * width, width):
        raise AssertionError(f"expecting in_proj_weight of shape {[3 * width, width]}, but got {list(weight.shape)}")
    if query is key is value:
        q, k, v = linear(query, weight, bias).chunk(3, -1)
        return q, k, v
    weights = weight.chunk(3)
    biases = (None, None, None) if bias is None else bias.chunk(3)
    q = linear(query, weights[0], biases[0])
    if key is value:
        k, v = linear(key, weight[width:], None if bias is None else bias[width:]).chunk(2, -1)
        return q, k, v
    return q, linear(key, weights[1], biases[1]), linear(value, weights[2], biases[2])


def _projected_apart(
    query: Tensor, key: Tensor, value: Tensor, weights: tuple[Tensor | None, ...], bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    biases = (None, None, None) if bias is None else bias.chunk(3)
    width, found = query.shape[-1], []
    for name, x, weight, term in zip("qkv", (query, key, value), weights, biases, strict=True):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
        if tuple(weight.shape) != (width, x.shape[-1]):
            raise AssertionError(
                f"expecting {name}_proj_weight of shape {[width, x.shape[-1]]}, but got {list(weight.shape)}"
            )
        found.append(linear(x, weight, term))
    return found[0], found[1], found[2]


def _with_biases(
    projected: tuple[Tensor, Tensor, Tensor], bias_k: Tensor | None, bias_v: Tensor | None, static_k: Tensor | None,
    static_v: Tensor | None,
) -> tuple[tuple[Tensor, Tensor, Tensor], int]:  # fmt: skip
    """Keys and values with those that are the same for all, and how many these are."""
    if bias_k is None and bias_v is None:
        return projected, 0
    if bias_k is None or bias_v is None:
        raise AssertionError(
            "bias_k is set but bias_v is None" if bias_v is None else "bias_v is set but bias_k is None"
        )
    if static_k is not None or static_v is not None:
        raise AssertionError(f"bias cannot be added to static {'key' if static_k is not None else 'value'}.")
    query, key, value = projected
    for name, bias in (("bias_k", bias_k), ("bias_v", bias_v)):
        width = key.shape[-1]
        if tuple(bias.shape) not in ((1, 1, width), (width,)):
            raise AssertionError(f"expecting {name} of shape {[1, 1, width]} or {[width]}, but got {list(bias.shape)}")
    size = (1, key.shape[1], key.shape[2])
    return (query, cat([key, bias_k.expand(size)]), cat([value, bias_v.expand(size)])), 1


# ---- heads


@dataclass(frozen=True)
class _Heads:
    """Each of shape (N, heads, places, columns of a head)."""

    query: Tensor
    key: Tensor
    value: Tensor

    @staticmethod
    def of(
        projected: tuple[Tensor, Tensor, Tensor], static_k: Tensor | None, static_v: Tensor | None, heads: int
    ) -> _Heads:
        batch, columns = projected[0].shape[1], projected[0].shape[2] // heads
        query, key, value = (x.unflatten(-1, (heads, columns)).permute(1, 2, 0, 3) for x in projected)
        if static_k is not None:
            key = _static("static_k", static_k, batch, heads, columns)
        if static_v is not None:
            value = _static("static_v", static_v, batch, heads, columns)
        return _Heads(query, key, value)

    def with_zeros(self) -> _Heads:
        """A key and a value of zeros more."""
        key, value = (cat([x, x.new_zeros((*x.shape[:2], 1, x.shape[3]))], 2) for x in (self.key, self.value))
        return _Heads(self.query, key, value)

    def attended_with_weights(self, terms: Tensor | None, dropout_p: float) -> tuple[Tensor, Tensor]:
        """The averages and their weights. A query that may see nothing has weights of NaN."""
        products = matmul(self.query * math.sqrt(1 / max(self.query.shape[-1], 1)), self.key.transpose(-2, -1))
        weights = dropout(softmax(products if terms is None else products + terms, -1), dropout_p)
        return matmul(weights, self.value), weights


def _static(name: str, given: Tensor, batch: int, heads: int, columns: int) -> Tensor:
    if given.ndim != 3 or given.shape[0] != batch * heads or given.shape[2] != columns:
        raise AssertionError(f"expecting {name} of shape [{batch * heads}, S, {columns}], but got {list(given.shape)}")
    return given.unflatten(0, (batch, heads))


# ---- masks


@dataclass(frozen=True)
class _Masks:
    """Mask of the keys that queries must not attend to: boolean, or a term added to the scores."""

    of_pairs: Tensor | None  # (L, S) or (N * heads, L, S)
    of_keys: Tensor | None  # (N, S)

    def check(self, query: Tensor, key: Tensor, heads: int) -> None:
        for name, mask in (("attn_mask", self.of_pairs), ("key_padding_mask", self.of_keys)):
            if mask is not None and mask.dtype != bool and not mask.is_floating_point():
                raise AssertionError(f"only bool and floating types of {name} are supported, but it is {mask.dtype}")
        (queries, batch), keys = query.shape[:2], key.shape[0]
        if self.of_pairs is not None:
            wanted = (queries, keys) if self.of_pairs.ndim == 2 else (batch * heads, queries, keys)
            if tuple(self.of_pairs.shape) != wanted:
                raise RuntimeError(
                    f"The shape of the {self.of_pairs.ndim}D attn_mask is {list(self.of_pairs.shape)}, but should be "
                    f"{list(wanted)}."
                )
        if self.of_keys is not None and tuple(self.of_keys.shape) != (batch, keys):
            raise AssertionError(
                f"Expected key_padding_mask of shape {[batch, keys]}, but got {list(self.of_keys.shape)}"
            )
        if self.of_keys is not None and self.of_pairs is not None and self.of_keys.dtype != self.of_pairs.dtype:
            warnings.warn(
                "Support for mismatched key_padding_mask and attn_mask is deprecated. Use same type for both instead.",
                stacklevel=3,
            )

    def seen_by(self, heads: _Heads, added: int) -> Tensor | None:
        """As `scaled_dot_product_attention` wants it: True for what may be seen, or terms."""
        masks = self._broadcast(heads, added)
        if masks and all(mask.dtype == bool for mask in masks):
            hidden = masks[0] if len(masks) == 1 else masks[0].logical_or(masks[1])
            return hidden.logical_not()
        return self.added_to(heads, added)

    def added_to(self, heads: _Heads, added: int) -> Tensor | None:
        """Terms of products, -inf for what is hidden."""
        terms = [
            masked_fill(heads.query.new_zeros(mask.shape), mask, -math.inf) if mask.dtype == bool else mask
            for mask in self._broadcast(heads, added)
        ]
        return None if not terms else terms[0] if len(terms) == 1 else terms[0] + terms[1]

    def _broadcast(self, heads: _Heads, added: int) -> list[Tensor]:
        """Each of four dimensions, which broadcast with (N, heads, L, S); nothing hides the keys that were added."""
        found = []
        if self.of_pairs is not None:
            pairs = _wider(self.of_pairs, added)
            found.append(pairs if pairs.ndim == 2 else pairs.unflatten(0, tuple(heads.query.shape[:2])))
        if self.of_keys is not None:
            found.append(_wider(self.of_keys, added).unsqueeze(1).unsqueeze(1))
        return found


def _wider(mask: Tensor, added: int) -> Tensor:
    return mask if added == 0 else cat([mask, mask.new_zeros((*mask.shape[:-1], added))], -1)
