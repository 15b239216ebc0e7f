"""References of what transformers are made of: normalizations, losses of classes, attention."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


# ---- normalizations


def standardized(
    x: Array, weight: Array | None, bias: Array | None, dim: Any, eps: float, centered: bool
) -> tuple[Array, Array, Array]:
    center = np.mean(x, tuple(dim) or None, keepdims=True) * (1 if centered else 0)
    variance = np.mean((x - center) ** 2, tuple(dim) or None, keepdims=True)
    values = (x - center) / np.sqrt(variance + eps)
    return values * (1 if weight is None else weight) + (0 if bias is None else bias), center, variance


def standardized_backward(
    grad: Array, x: Array, center: Array, variance: Array, weight: Array | None, dim: Any, eps: float, centered: bool
) -> Array:
    scaled = grad * (1 if weight is None else weight)
    scale = 1 / np.sqrt(variance + eps)
    values = (x - center) * scale
    mean = np.mean(scaled, tuple(dim) or None, keepdims=True) * (1 if centered else 0)
    result: Array = scale * (scaled - mean - values * np.mean(scaled * values, tuple(dim) or None, keepdims=True))
    return result


# ---- losses of classes, which lie along dimension 1, or 0 of a vector


def shares_and_log_sums(scores: Array) -> tuple[Array, Array]:
    dim = min(scores.ndim - 1, 1)
    log_sum = np.logaddexp.reduce(scores, dim)
    return np.exp(scores - np.expand_dims(log_sum, dim)), log_sum


def in_class(scores: Array, target: Array, ignored: int) -> Array:
    """1 for the right class, 0 for others and for all of what is ignored."""
    dim = min(scores.ndim - 1, 1)
    numbers = np.arange(scores.shape[dim]).reshape([-1 if axis == dim else 1 for axis in range(scores.ndim)])
    return np.where(np.expand_dims(target == ignored, dim), 0.0, numbers == np.expand_dims(target, dim))


def class_losses(scores: Array, target: Array, ignore_index: int) -> tuple[Array, Array]:
    dim = min(scores.ndim - 1, 1)
    _, log_sum = shares_and_log_sums(scores)
    right = np.where(in_class(scores, target, ignore_index) > 0, scores, 0).sum(dim)
    losses = np.where(log_sum == np.inf, np.nan, log_sum - right)
    return np.where(target == ignore_index, 0, losses), log_sum


def class_losses_backward(grad: Array, scores: Array, target: Array, log_sum: Array, ignore_index: int) -> Array:
    dim = min(scores.ndim - 1, 1)
    counted = np.expand_dims(np.where(target == ignore_index, 0, grad), dim)
    result: Array = counted * (np.exp(scores - np.expand_dims(log_sum, dim)) - in_class(scores, target, ignore_index))
    return result


# ---- attention


def masked_scores(query: Array, key: Array, mask: Any, scale: float, causal: bool) -> Array:
    scores: Array = scale * np.einsum("...le,...se->...ls", query, key)
    if mask is not None:
        mask = np.asarray(mask)
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
    return scores


def attention(query: Array, key: Array, value: Array, mask: Any, scale: float, causal: bool) -> tuple[Array, Array]:
    scores = masked_scores(query, key, mask, scale, causal)
    scores = scores + np.zeros((*np.broadcast_shapes(scores.shape[:-2], value.shape[:-2]), 1, 1))
    log_sum = np.logaddexp.reduce(scores, -1)
    log_sum = np.where(log_sum == -np.inf, np.inf, log_sum)
    return np.einsum("...ls,...sv->...lv", np.exp(scores - log_sum[..., None]), value), log_sum


def attention_backward(
    grad: Array, query: Array, key: Array, value: Array, mask: Any, log_sum: Array, delta: Array, scale: float,
    causal: bool,
) -> tuple[Array, Array, Array]:  # fmt: skip
    heads = np.broadcast_shapes(
        *[a.shape[:-2] for a in (grad, query, key, value)], *[a.shape[:-1] for a in (log_sum, delta)],
        () if mask is None else np.shape(mask)[:-2],
    )  # fmt: skip
    grad = np.broadcast_to(grad, (*heads, *grad.shape[-2:]))
    weights = np.exp(masked_scores(query, key, mask, scale, causal) - log_sum[..., None])
    slopes = weights * (np.einsum("...lv,...sv->...ls", grad, value) - delta[..., None])
    return (
        scale * np.einsum("...ls,...se->...le", slopes, key),
        scale * np.einsum("...ls,...le->...se", slopes, query),
        np.einsum("...ls,...lv->...sv", weights, grad),
    )


DEFINITIONS = (
    standardized, standardized_backward, class_losses, class_losses_backward, attention, attention_backward,
)  # fmt: skip
