"""Transforms of numbers."""

from __future__ import annotations

import math
from typing import Any

from gradsmith.distributions import constraints
from gradsmith.distributions.transforms.base import Transform
from gradsmith.distributions.utils import _sum_rightmost, broadcast_all
from gradsmith.generated import abs, clamp, exp, expm1, log, log1p, logsigmoid, sigmoid, sign, softplus, tanh
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.limits import finfo
from gradsmith.runtime.tensors.factories.creation import full_like
from gradsmith.runtime.tensors.queries import is_tensor

__all__ = [
    "AbsTransform", "AffineTransform", "ExpTransform", "PowerTransform", "SigmoidTransform", "SoftplusTransform",
    "TanhTransform",
]  # fmt: skip


class _Rising(Transform):
    """Rising bijections of the real line without parameters, of which there is but one of a kind."""

    domain = constraints.real
    bijective = True

    @property
    def sign(self) -> Any:
        """1."""
        return 1

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    __hash__ = object.__hash__


class ExpTransform(_Rising):
    """``y = exp(x)``.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.transforms.ExpTransform().inv(gs.ones(2))
    tensor([0., 0.])
    """

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return exp(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return log(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class SigmoidTransform(_Rising):
    """``y = 1 / (1 + exp(-x))``, away from 0 and 1 by the distance of neighbouring numbers."""

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return _inside(sigmoid(x))

    def _inverse(self, y: Tensor) -> Tensor:
        y = _inside(y)
        return log(y) - log1p(-y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return logsigmoid(x) + logsigmoid(-x)


def _inside(y: Tensor) -> Tensor:
    limits = finfo(y.dtype)
    return clamp(y, limits.tiny, 1 - limits.eps)


class SoftplusTransform(_Rising):
    """``y = log(1 + exp(x))``."""

    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return log(-expm1(-y)) + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return logsigmoid(x)


class TanhTransform(_Rising):
    """``y = tanh(x)``; with a cache, its inverse is right where it is flat."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return tanh(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        # log(1 - tanh(x)^2) by the logarithms of its two factors
        return logsigmoid(2 * x) + logsigmoid(-2 * x) + 2 * math.log(2)


class AbsTransform(Transform):
    """``y = |x|``, of whose two inverses the positive one is taken."""

    domain = constraints.real
    codomain = constraints.positive

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AbsTransform)

    __hash__ = object.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return abs(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class PowerTransform(Transform):
    """``y = x ** exponent`` of positive numbers.

    Parameters
    ----------
    exponent : float or Tensor
        Not zero.
    cache_size : int, default 0
        See `Transform`.
    """

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Tensor | float, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    @property
    def sign(self) -> Any:
        """The sign of the exponent."""
        return sign(self.exponent)

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another size of the cache."""
        return self if self._cache_size == cache_size else PowerTransform(self.exponent, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and _are_same(self.exponent, other.exponent)

    __hash__ = object.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x**self.exponent

    def _inverse(self, y: Tensor) -> Tensor:
        return y ** (1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return log(abs(self.exponent * y / x))

    def forward_shape(self, shape: Any) -> Any:
        """The shape broadcast with that of the exponent."""
        return broadcast(shape, self.exponent)

    def inverse_shape(self, shape: Any) -> Any:
        """The shape broadcast with that of the exponent."""
        return broadcast(shape, self.exponent)


class AffineTransform(Transform):
    """``y = loc + scale * x``.

    Parameters
    ----------
    loc, scale : float or Tensor
    event_dim : int, default 0
        How many dimensions make up one argument.
    cache_size : int, default 0
        See `Transform`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.transforms.AffineTransform(1.0, 2.0)(gs.tensor([0.0, 3.0]))
    tensor([1., 7.])
    """

    bijective = True

    def __init__(self, loc: Tensor | float, scale: Tensor | float, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        """How many dimensions make up one argument."""
        return self._event_dim

    @property
    def domain(self) -> Any:
        """The real numbers, or arrays of them."""
        return constraints.independent(constraints.real, self._event_dim) if self._event_dim else constraints.real

    @property
    def codomain(self) -> Any:
        """The same as the domain."""
        return self.domain

    @property
    def sign(self) -> Any:
        """The sign of the scale."""
        return sign(self.scale) if is_tensor(self.scale) else (self.scale > 0) - (self.scale < 0)

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another size of the cache."""
        if self._cache_size == cache_size:
            return self
        return AffineTransform(self.loc, self.scale, self._event_dim, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AffineTransform) and _are_same(self.loc, other.loc) and _are_same(self.scale, other.scale)
        )

    __hash__ = object.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        stretch = log(abs(self.scale)) if is_tensor(self.scale) else full_like(x, math.log(self.scale.__abs__()))
        # each element of an event counts, also where the scale is shared
        stretch = stretch.expand(broadcast(x.shape, stretch))
        return _sum_rightmost(stretch, self._event_dim)

    def forward_shape(self, shape: Any) -> Any:
        """The shape broadcast with those of `loc` and `scale`."""
        return broadcast(shape, self.loc, self.scale)

    def inverse_shape(self, shape: Any) -> Any:
        """The shape broadcast with those of `loc` and `scale`."""
        return broadcast(shape, self.loc, self.scale)


def broadcast(shape: Any, *parameters: Any) -> Any:
    """The shape that a shape and those of parameters broadcast to."""
    from gradsmith.counting import broadcast_shapes

    return broadcast_shapes(tuple(shape), *(tuple(p.shape) for p in parameters if is_tensor(p)))


def _are_same(one: Any, other: Any) -> bool:
    same = one == other
    return bool(same.all()) if is_tensor(same) else bool(same)
