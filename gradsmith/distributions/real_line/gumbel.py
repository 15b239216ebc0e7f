"""Gumbel's distribution of maxima."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.combined.transformed_distribution import TransformedDistribution
from gradsmith.distributions.half_line.exponential import Exponential
from gradsmith.distributions.transforms import AffineTransform, ExpTransform
from gradsmith.distributions.utils import as_shape, broadcast_all, euler_constant
from gradsmith.generated import clamp_max, exp, log, square
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.creation import ones_like

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """Gumbel's distribution: the limit of maxima of many numbers, such as normal ones.

    Parameters
    ----------
    loc : float or Tensor
        The most probable value.
    scale : float or Tensor
        Positive.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Gumbel(0.0, 1.0).log_prob(gs.tensor(0.0))
    tensor(-1.)
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        base = Exponential(ones_like(self.loc), validate_args=validate_args)
        # -log(x) of exponential numbers x
        transforms = [ExpTransform().inv, AffineTransform(self.loc, -self.scale)]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Gumbel, _instance)
        shape = as_shape(batch_shape)
        new.loc, new.scale = self.loc.expand(shape), self.scale.expand(shape)
        return super().expand(shape, _instance=new)

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return square(self.scale) * (math.pi**2 / 6)

    @property
    def stddev(self) -> Tensor:
        return self.scale * (math.pi / math.sqrt(6))

    def log_prob(self, value: Tensor) -> Tensor:
        z = (self._checked(value) - self.loc) / self.scale
        return -z - exp(-z) - log(self.scale)

    def cdf(self, value: Tensor) -> Tensor:
        z = (self._checked(value) - self.loc) / self.scale
        return exp(-exp(clamp_max(-z, 80)))  # beyond, the derivative would be infinity times zero

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc - self.scale * log(-log(value))

    def entropy(self) -> Tensor:
        return log(self.scale) + (1 + euler_constant)
