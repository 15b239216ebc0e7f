"""The exponential distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.exp_family import ExponentialFamily
from gradsmith.distributions.utils import broadcast_all, exponential_like
from gradsmith.generated import expm1, log, log1p, reciprocal, square
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.creation import zeros_like

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """The exponential distribution: how long it takes until an event that is as likely at all times.

    Parameters
    ----------
    rate : float or Tensor
        The inverse of the mean, positive.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Exponential(2.0).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar[Any] = {"rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, rate: Parameter, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return self._expand_parameters(Exponential, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        return reciprocal(self.rate)

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.rate)

    @property
    def stddev(self) -> Tensor:
        return reciprocal(self.rate)

    @property
    def variance(self) -> Tensor:
        return reciprocal(square(self.rate))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return exponential_like(self._extended_shape(sample_shape), self.rate) / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        return log(self.rate) - self.rate * self._checked(value)

    def cdf(self, value: Tensor) -> Tensor:
        return -expm1(-self.rate * self._checked(value))

    def icdf(self, value: Tensor) -> Tensor:
        return -log1p(-value) / self.rate

    def entropy(self) -> Tensor:
        return 1 - log(self.rate)

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (-self.rate,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return -log(-x)
