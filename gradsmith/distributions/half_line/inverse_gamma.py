"""The distribution of inverses of gamma numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.combined.transformed_distribution import TransformedDistribution
from gradsmith.distributions.half_line.gamma import Gamma
from gradsmith.distributions.transforms import PowerTransform
from gradsmith.generated import digamma, igammac, lgamma, log, square, where
from gradsmith.generated.tensor import Tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """The distribution of inverses of gamma numbers.

    Parameters
    ----------
    concentration, rate : float or Tensor
        Those of the gamma numbers, positive.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.InverseGamma(3.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Gamma

    def __init__(self, concentration: Parameter, rate: Parameter, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        one = base.rate.new_full((), -1.0)
        super().__init__(base, PowerTransform(one), validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(InverseGamma, _instance))

    @property
    def concentration(self) -> Tensor:
        """The shape of the gamma numbers."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The inverse of their scale."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        finite = self.concentration > 1
        return where(finite, self.rate / (where(finite, self.concentration, 2.0) - 1), math.inf)

    @property
    def mode(self) -> Tensor:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        finite = self.concentration > 2
        shape = where(finite, self.concentration, 3.0)
        return where(finite, square(self.rate / (shape - 1)) / (shape - 2), math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        return igammac(self.concentration, self.rate / self._checked(value))

    def entropy(self) -> Tensor:
        shape = self.concentration
        return shape + log(self.rate) + lgamma(shape) - (1 + shape) * digamma(shape)
