"""The beta distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.exp_family import ExponentialFamily
from gradsmith.distributions.utils import broadcast_all, noise_by
from gradsmith.generated import clamp, clamp_min, digamma, lgamma, square, where, xlogy
from gradsmith.generated.special_namespace import betaln, xlog1py
from gradsmith.generated.tensor import Tensor
from gradsmith.random.gammas import beta
from gradsmith.runtime.arrays.limits import finfo

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """The beta distribution, with density in proportion to ``x^(concentration1 - 1) (1 - x)^(concentration0 - 1)``.

    Parameters
    ----------
    concentration1, concentration0 : float or Tensor
        Positive.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Beta(1.0, 3.0).mean
    tensor(0.2500)
    """

    arg_constraints: ClassVar[Any] = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration1: Parameter, concentration0: Parameter, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        super().__init__(self.concentration1.shape, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return self._expand_parameters(Beta, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return _mode(self.concentration1, self.concentration0)

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (square(total) * (total + 1))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        drawn = noise_by(beta, shape, self.concentration1, self.concentration0)
        return clamp(drawn, finfo(drawn.dtype).tiny, 1 - finfo(drawn.dtype).eps / 2)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        a, b = self.concentration1, self.concentration0
        return xlogy(a - 1, value) + xlog1py(b - 1, -value) - betaln(a, b)

    def entropy(self) -> Tensor:
        a, b = self.concentration1, self.concentration0
        return betaln(a, b) - (a - 1) * digamma(a) - (b - 1) * digamma(b) + (a + b - 2) * digamma(a + b)

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return self.concentration1 - 1, self.concentration0 - 1

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return lgamma(x + 1) + lgamma(y + 1) - lgamma(x + y + 2)


def _mode(a: Tensor, b: Tensor) -> Tensor:
    """Inside where both parameters are above 1, else at an end: at 1 where both are dense, as in PyTorch."""
    above, below = clamp_min(a - 1, 0), clamp_min(b - 1, 0)
    at_end = a.lt(1) & b.lt(1)
    total = where(at_end, 1.0, above + below)
    mode: Tensor = where(at_end, 1.0, above / total)
    return mode
