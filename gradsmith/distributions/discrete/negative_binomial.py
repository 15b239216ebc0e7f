"""The negative binomial distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributions import constraints
from gradsmith.distributions.discrete.probabilities import BinaryParameter
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.utils import noise_by
from gradsmith.generated import clamp_min, exp, floor, lgamma, logsigmoid, sigmoid, where
from gradsmith.generated.tensor import Tensor
from gradsmith.random.gammas import standard_gamma
from gradsmith.random.top_level import poisson

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["NegativeBinomial"]


class NegativeBinomial(BinaryParameter, Distribution):
    """The negative binomial distribution: how many trials succeed before `total_count` have failed.

    Parameters
    ----------
    total_count : float or Tensor
        Not negative; also numbers that are no integers.
    probs : float or Tensor, optional
        The probability that a trial succeeds, less than 1.
    logits : float or Tensor, optional
        The logarithm of its odds; one of the two is given.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.NegativeBinomial(3.0, 0.5).mean
    tensor(3.)
    """

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer

    def __init__(
        self, total_count: Parameter, probs: Parameter | None = None, logits: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        (count,) = self._set_parameter(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.shape, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return self._expand_parameters(NegativeBinomial, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        return self.total_count * exp(self.logits)

    @property
    def mode(self) -> Tensor:
        return clamp_min(floor((self.total_count - 1) * exp(self.logits)), 0)

    @property
    def variance(self) -> Tensor:
        return self.mean / sigmoid(-self.logits)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            counted = self.total_count > 0  # no failure is waited for where it is 0
            shape = where(counted, self.total_count, 1.0)
            rate = noise_by(standard_gamma, self._extended_shape(sample_shape), shape) * exp(self.logits)
            return poisson(where(counted, rate, 0.0))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        logarithm = self.total_count * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        total = self.total_count + value
        # Nothing is certain to be the sum of nothing, although its terms are infinite.
        none = total == 0
        ways = lgamma(where(none, 1.0, total)) - lgamma(value + 1) - lgamma(where(none, 1.0, self.total_count))
        return logarithm + ways
