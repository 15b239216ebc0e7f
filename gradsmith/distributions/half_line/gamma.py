"""The gamma distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.exp_family import ExponentialFamily
from gradsmith.distributions.utils import broadcast_all, noise_by
from gradsmith.generated import clamp_min, digamma, igamma, lgamma, log, square, xlogy
from gradsmith.generated.tensor import Tensor
from gradsmith.random.gammas import standard_gamma
from gradsmith.runtime.arrays.limits import finfo
from gradsmith.runtime.tensors.factories.creation import as_tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["Gamma"]


class Gamma(ExponentialFamily):
    """The gamma distribution.

    Parameters
    ----------
    concentration : float or Tensor
        The shape, positive.
    rate : float or Tensor
        The inverse of the scale, positive.
    validate_args : bool, optional
        See `Distribution`.

    Notes
    -----
    Samples have the implicit gradient in the concentration; see `gradsmith.random.standard_gamma`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Gamma(3.0, 2.0).mean
    tensor(1.5000)
    """

    arg_constraints: ClassVar[Any] = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration: Parameter, rate: Parameter, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration.shape, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return self._expand_parameters(Gamma, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return clamp_min((self.concentration - 1) / self.rate, 0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / square(self.rate)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        drawn = noise_by(standard_gamma, self._extended_shape(sample_shape), self.concentration)
        return clamp_min(drawn / self.rate, finfo(drawn.dtype).tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(as_tensor(value, dtype=self.rate.dtype, device=self.rate.device))
        shape = self.concentration
        return xlogy(shape, self.rate) + xlogy(shape - 1, value) - self.rate * value - lgamma(shape)

    def cdf(self, value: Tensor) -> Tensor:
        return igamma(self.concentration, self.rate * self._checked(value))

    def entropy(self) -> Tensor:
        shape = self.concentration
        return shape - log(self.rate) + lgamma(shape) + (1 - shape) * digamma(shape)

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return lgamma(x + 1) - (x + 1) * log(-y)
