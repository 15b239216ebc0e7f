"""Poisson's distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributions import constraints
from gradsmith.distributions.exp_family import ExponentialFamily
from gradsmith.distributions.utils import broadcast_all
from gradsmith.generated import exp, floor, lgamma, log, xlogy
from gradsmith.generated.tensor import Tensor
from gradsmith.random.top_level import poisson

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """Poisson's distribution: how many events there are where `rate` are expected.

    Parameters
    ----------
    rate : float or Tensor
        Not negative.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Poisson(2.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[Any] = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer

    def __init__(self, rate: Parameter, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate.shape, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return self._expand_parameters(Poisson, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return floor(self.rate)

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            return poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        return xlogy(value, self.rate) - self.rate - lgamma(value + 1)

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (log(self.rate),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return exp(x)
