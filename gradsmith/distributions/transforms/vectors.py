"""Transforms of vectors to the simplex."""

from __future__ import annotations

from typing import Any

from gradsmith.distributions import constraints
from gradsmith.distributions.transforms.base import Transform
from gradsmith.generated import clamp_min, constant_pad_nd, cumprod, cumsum, log, logsigmoid, sigmoid, softmax
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.limits import finfo
from gradsmith.runtime.graph.size import Size
from gradsmith.runtime.tensors.factories.creation import arange

__all__ = ["SoftmaxTransform", "StickBreakingTransform"]


class SoftmaxTransform(Transform):
    """``y = exp(x)`` divided by its sum. All coordinates count alike, and the logarithm serves as an inverse."""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftmaxTransform)

    __hash__ = object.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return softmax(x, -1)

    def _inverse(self, y: Tensor) -> Tensor:
        return log(y)

    def forward_shape(self, shape: Any) -> Any:
        """The same shape, which has to have a dimension."""
        _require_dimensions(shape, 1)
        return shape

    def inverse_shape(self, shape: Any) -> Any:
        """The same shape, which has to have a dimension."""
        _require_dimensions(shape, 1)
        return shape


class StickBreakingTransform(Transform):
    """Vectors of n numbers to the simplex of n + 1: each number says which part of the rest of a stick is broken off.

    Numbers are moved so that the vector of zeros is broken into equal parts.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.transforms.StickBreakingTransform()(gs.zeros(3))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StickBreakingTransform)

    __hash__ = object.__hash__

    def _call(self, x: Tensor) -> Tensor:
        part = sigmoid(x - _moved_by(x))
        rest = cumprod(1 - part, -1)
        return constant_pad_nd(part, [0, 1], 1.0) * constant_pad_nd(rest, [1, 0], 1.0)

    def _inverse(self, y: Tensor) -> Tensor:
        pieces = y[..., :-1]
        rest = clamp_min(1 - cumsum(pieces, -1), finfo(y.dtype).tiny)
        return log(pieces) - log(rest) + _moved_by(pieces)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        moved = x - _moved_by(x)
        return (logsigmoid(moved) - moved + log(y[..., :-1])).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        """One element more along the last dimension."""
        _require_dimensions(shape, 1)
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        """One element less along the last dimension."""
        _require_dimensions(shape, 1)
        return Size((*shape[:-1], shape[-1] - 1))


def _moved_by(x: Tensor) -> Tensor:
    """The logarithm of how many pieces there will be of the rest."""
    return log(arange(x.shape[-1], 0, -1, dtype=x.dtype, device=x.device))


def _require_dimensions(shape: Any, count: int) -> None:
    if len(shape) < count:
        raise ValueError(f"Too few dimensions on input: expected at least {count}, got shape {tuple(shape)}")
