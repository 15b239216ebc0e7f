"""The generalized Pareto distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.utils import broadcast_all, exponential_like
from gradsmith.generated import expm1, isclose, log, log1p, square, where
from gradsmith.generated.special_namespace import xlog1py
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.creation import zeros_like

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """The generalized Pareto distribution, of what exceeds a high threshold.

    Parameters
    ----------
    loc : float or Tensor
        The threshold.
    scale : float or Tensor
        Positive.
    concentration : float or Tensor
        How heavy the tail is. At 0 the distribution is exponential, at -1 uniform; with negative ones there is a
        greatest value.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.GeneralizedPareto(1.0, 2.0, 0.5).mean
    tensor(5.)
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True

    def __init__(
        self, loc: Parameter, scale: Parameter, concentration: Parameter, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return self._expand_parameters(GeneralizedPareto, batch_shape, _instance)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        bounded = self.concentration < 0
        concentration = where(bounded, self.concentration, -1.0)
        return constraints.interval(self.loc, where(bounded, self.loc - self.scale / concentration, math.inf))

    @property
    def mean(self) -> Tensor:
        finite = self.concentration < 1
        concentration = where(finite, self.concentration, 0.5)
        return where(finite, self.loc + self.scale / (1 - concentration), math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.concentration < 0.5
        concentration = where(finite, self.concentration, 0.25)
        return where(finite, square(self.scale / (1 - concentration)) / (1 - 2 * concentration), math.nan)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self._above(exponential_like(self._extended_shape(sample_shape), self.loc))

    def log_prob(self, value: Tensor) -> Tensor:
        z, exponential, concentration = self._parts(self._checked(value))
        power = xlog1py(1 + 1 / concentration, concentration * z)
        return -log(self.scale) - where(exponential, z, power)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """The logarithm of the probability that a sample is greater than `value`."""
        z, exponential, concentration = self._parts(self._checked(value))
        return -where(exponential, z, log1p(concentration * z) / concentration)

    def log_cdf(self, value: Tensor) -> Tensor:
        """The logarithm of `cdf`."""
        return log(self.cdf(value))

    def cdf(self, value: Tensor) -> Tensor:
        return -expm1(self.log_survival_function(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._above(-log1p(-value))

    def entropy(self) -> Tensor:
        return log(self.scale) + self.concentration + 1

    def _above(self, exponential: Tensor) -> Tensor:
        """The values that are exceeded with the probabilities ``exp(-exponential)``."""
        _, is_exponential, concentration = self._parts(self.loc)
        return self.loc + self.scale * where(
            is_exponential, exponential, expm1(concentration * exponential) / concentration
        )

    def _parts(self, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Values without location and scale, where the tail is exponential, and a concentration that is not zero."""
        exponential = isclose(self.concentration, zeros_like(self.concentration))
        return (value - self.loc) / self.scale, exponential, where(exponential, 1.0, self.concentration)
