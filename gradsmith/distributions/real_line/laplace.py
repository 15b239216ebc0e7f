"""Laplace's distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.utils import broadcast_all, open_uniform_like
from gradsmith.generated import abs, expm1, log, log1p, sign, square
from gradsmith.generated.tensor import Tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["Laplace"]


class Laplace(Distribution):
    """Laplace's distribution: exponential to both sides of `loc`.

    Parameters
    ----------
    loc : float or Tensor
        The mean.
    scale : float or Tensor
        The mean distance from it, positive.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Laplace(0.0, 0.5).log_prob(gs.tensor([0.5, 1.0]))
    tensor([-1., -2.])
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return self._expand_parameters(Laplace, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return 2 * square(self.scale)

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.icdf(open_uniform_like(self._extended_shape(sample_shape), self.loc))

    def log_prob(self, value: Tensor) -> Tensor:
        return -abs(self._checked(value) - self.loc) / self.scale - log(2 * self.scale)

    def cdf(self, value: Tensor) -> Tensor:
        z = (self._checked(value) - self.loc) / self.scale
        return 0.5 - 0.5 * sign(z) * expm1(-abs(z))

    def icdf(self, value: Tensor) -> Tensor:
        centred = value - 0.5
        return self.loc - self.scale * sign(centred) * log1p(-2 * abs(centred))

    def entropy(self) -> Tensor:
        return 1 + log(2 * self.scale)
