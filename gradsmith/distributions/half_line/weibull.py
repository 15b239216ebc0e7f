"""Weibull's distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.combined.transformed_distribution import TransformedDistribution
from gradsmith.distributions.half_line.exponential import Exponential
from gradsmith.distributions.transforms import AffineTransform, PowerTransform
from gradsmith.distributions.utils import as_shape, broadcast_all, euler_constant
from gradsmith.generated import exp, lgamma, log, reciprocal, square, where
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.creation import ones_like

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """Weibull's distribution: a power of exponential numbers.

    Parameters
    ----------
    scale : float or Tensor
        Positive.
    concentration : float or Tensor
        The inverse of the power, positive.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Weibull(2.0, 1.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive

    def __init__(self, scale: Parameter, concentration: Parameter, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = reciprocal(self.concentration)
        base = Exponential(ones_like(self.scale), validate_args=validate_args)
        super().__init__(base, self._transforms(), validate_args=validate_args)

    def _transforms(self) -> list[Any]:
        return [PowerTransform(self.concentration_reciprocal), AffineTransform(0, self.scale)]

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Weibull, _instance)
        shape = as_shape(batch_shape)
        new.scale, new.concentration = self.scale.expand(shape), self.concentration.expand(shape)
        new.concentration_reciprocal = reciprocal(new.concentration)
        return super().expand(shape, _instance=new)

    @property
    def mean(self) -> Tensor:
        return self.scale * exp(lgamma(1 + self.concentration_reciprocal))

    @property
    def mode(self) -> Tensor:
        inside = self.concentration > 1
        shape = where(inside, self.concentration, 2.0)
        return where(inside, self.scale * ((shape - 1) / shape) ** reciprocal(shape), 0.0)

    @property
    def variance(self) -> Tensor:
        power = self.concentration_reciprocal
        return square(self.scale) * (exp(lgamma(1 + 2 * power)) - exp(2 * lgamma(1 + power)))

    def entropy(self) -> Tensor:
        power = self.concentration_reciprocal
        return euler_constant * (1 - power) + log(self.scale * power) + 1
