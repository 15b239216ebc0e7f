"""Kumaraswamy's distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.combined.transformed_distribution import TransformedDistribution
from gradsmith.distributions.real_line.uniform import Uniform
from gradsmith.distributions.transforms import AffineTransform, PowerTransform
from gradsmith.distributions.utils import as_shape, broadcast_all, euler_constant
from gradsmith.generated import digamma, exp, log, reciprocal, square, where
from gradsmith.generated.special_namespace import betaln
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.creation import ones_like, zeros_like

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy's distribution: like the beta distribution, and with a ``cdf`` that is an elementary function.

    Parameters
    ----------
    concentration1, concentration0 : float or Tensor
        Positive.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Kumaraswamy(1.0, 3.0).mean
    tensor(0.2500)
    """

    arg_constraints: ClassVar[Any] = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True

    def __init__(self, concentration1: Parameter, concentration0: Parameter, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        low, high = zeros_like(self.concentration0), ones_like(self.concentration0)
        transforms = [
            PowerTransform(reciprocal(self.concentration0)),
            AffineTransform(1.0, -1.0),
            PowerTransform(reciprocal(self.concentration1)),
        ]
        super().__init__(Uniform(low, high, validate_args=validate_args), transforms, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Kumaraswamy, _instance)
        shape = as_shape(batch_shape)
        new.concentration1 = self.concentration1.expand(shape)
        new.concentration0 = self.concentration0.expand(shape)
        return super().expand(shape, _instance=new)

    @property
    def mean(self) -> Tensor:
        return self._moment(1)

    @property
    def mode(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        inside = (a >= 1) & (b >= 1) & (a * b > 1)
        a, b = where(inside, a, 2.0), where(inside, b, 2.0)
        return where(inside, ((a - 1) / (a * b - 1)) ** reciprocal(a), math.nan)

    @property
    def variance(self) -> Tensor:
        return self._moment(2) - square(self._moment(1))

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        harmonic = digamma(b + 1) + euler_constant
        return (1 - reciprocal(b)) + (1 - reciprocal(a)) * harmonic - log(a) - log(b)

    def _moment(self, order: int) -> Tensor:
        """The expectation of a power."""
        b = self.concentration0
        return b * exp(betaln(1 + order / self.concentration1, b))
