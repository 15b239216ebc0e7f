"""Functions of layers that PyTorch has at its top, too, with all arguments by position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradsmith.nn.functional as F
from gradsmith import linalg as _linalg
from gradsmith.generated import bincount, cat, repeat_interleave, where
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.dtypes import int64
from gradsmith.runtime.tensors.factories.creation import arange, zeros

__all__ = [
    "affine_grid_generator", "alpha_dropout", "alpha_dropout_", "batch_norm", "convolution", "dropout", "dropout_",
    "embedding_bag", "feature_alpha_dropout", "feature_alpha_dropout_", "feature_dropout", "feature_dropout_",
    "frobenius_norm", "get_device", "instance_norm", "nuclear_norm", "rms_norm",
]  # fmt: skip

nn: Any = F
linalg: Any = _linalg


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.dropout`."""
    return nn.dropout(input, p, train)  # type: ignore[no-any-return]


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`dropout` in place."""
    return nn.dropout(input, p, train, True)  # type: ignore[no-any-return]


def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.alpha_dropout`."""
    return nn.alpha_dropout(input, p, train)  # type: ignore[no-any-return]


def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`alpha_dropout` in place."""
    return nn.alpha_dropout(input, p, train, True)  # type: ignore[no-any-return]


def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """`nn.functional.feature_alpha_dropout`."""
    return nn.feature_alpha_dropout(input, p, train)  # type: ignore[no-any-return]


def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_alpha_dropout` in place."""
    return nn.feature_alpha_dropout(input, p, train, True)  # type: ignore[no-any-return]


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """Dropout of whole channels, the second dimension of an input with any number of dimensions behind it."""
    if input.ndim < 2:
        raise RuntimeError("feature_dropout(): Feature dropout requires at least 2 dimensions in the input")
    if not train or p == 0:
        return input
    kept: Tensor = nn.dropout(input.new_ones((*input.shape[:2], *[1] * (input.ndim - 2))), p, True)
    return input * kept


def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_dropout` in place."""
    dropped = feature_dropout(input, p, train)
    return input if dropped is input else input.copy_(dropped)


def batch_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`nn.functional.batch_norm`, with its arguments in another order."""
    return nn.batch_norm(  # type: ignore[no-any-return]
        input, running_mean, running_var, weight, bias, training, momentum, eps
    )


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """`nn.functional.instance_norm`, with its arguments in another order."""
    return nn.instance_norm(  # type: ignore[no-any-return]
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """`nn.functional.rms_norm`."""
    return nn.rms_norm(input, normalized_shape, weight, eps)  # type: ignore[no-any-return]


def affine_grid_generator(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """`nn.functional.affine_grid`."""
    return nn.affine_grid(theta, size, align_corners)  # type: ignore[no-any-return]


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """`nn.functional.conv1d` and its like, or `conv_transpose1d` and its like, by the dimensions of `weight`."""
    dims = weight.ndim - 2
    if dims not in (1, 2, 3):
        raise RuntimeError(f"convolution(): expected a weight of 3 to 5 dimensions, but got {weight.ndim}")
    if transposed:
        function = getattr(nn, f"conv_transpose{dims}d")
        return function(  # type: ignore[no-any-return]
            input, weight, bias, stride, padding, output_padding, groups, dilation
        )
    function = getattr(nn, f"conv{dims}d")
    return function(input, weight, bias, stride, padding, dilation, groups)  # type: ignore[no-any-return]


def get_device(input: Tensor) -> int:
    """The number of the accelerator that has a tensor: -1, since it is in the memory of the CPU."""
    return input.get_device()


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """`nn.functional.embedding_bag` with modes as numbers: 0 for sums, 1 for means, 2 for maxima.

    Behind the result stand the bag of each index, the size of each bag, and the row that each maximum is from.
    """
    word = ("sum", "mean", "max")[mode]
    result = nn.embedding_bag(
        indices, weight, offsets, None, 2.0, scale_grad_by_freq, word, sparse, per_sample_weights, include_last_offset,
        padding_idx,
    )  # fmt: skip
    ends = offsets[1:] if include_last_offset else cat((offsets[1:], offsets.new_tensor([indices.shape[0]])))
    starts = offsets[:-1] if include_last_offset else offsets
    bags = repeat_interleave(arange(len(starts)), ends - starts)
    kept = bags if padding_idx is None else bags[indices[: len(bags)] != padding_idx % weight.shape[0]]
    sizes = bincount(kept, minlength=len(starts))
    return result, bags, sizes, _rows_of_maxima(weight, indices, bags, result, padding_idx) if mode == 2 else sizes


def _rows_of_maxima(weight: Tensor, indices: Tensor, bags: Tensor, greatest: Tensor, padding_idx: int | None) -> Tensor:
    """The first row of each bag that has its maximum in a column; 0 in a bag without rows."""
    indices = indices[: len(bags)]
    found = zeros(greatest.shape, dtype=int64)
    for place in reversed(range(len(bags))):
        row = int(indices[place])
        if padding_idx is None or row != padding_idx % weight.shape[0]:
            bag = int(bags[place])
            found[bag] = where(weight[row] == greatest[bag], row, found[bag])
    return found


def frobenius_norm(input: Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Tensor:
    """The root of the sum of squares along one dimension or two, or of all elements for an empty `dim`."""
    dims = [dim] if isinstance(dim, int) else list(dim)
    if len(dims) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dims)} dimensions instead.")
    return linalg.vector_norm(input, 2, dims or None, keepdim)  # type: ignore[no-any-return]


def nuclear_norm(input: Tensor, dim: Sequence[int] = (-2, -1), keepdim: bool = False) -> Tensor:
    """The sum of the singular values of matrices in two dimensions."""
    if len(dim) != 2 or (input.ndim != 2 and dim == (-2, -1)):
        raise RuntimeError(f"nuclear_norm: expected a matrix, or two dimensions, got {input.ndim}-D and dim={dim}")
    return linalg.matrix_norm(input, "nuc", list(dim), keepdim)  # type: ignore[no-any-return]
