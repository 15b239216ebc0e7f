"""The relaxed Bernoulli distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.combined.relaxed import Relaxed
from gradsmith.distributions.discrete.probabilities import BinaryParameter
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.transforms import SigmoidTransform
from gradsmith.distributions.utils import clamp_probs, uniform_like
from gradsmith.generated import log, logit, logsigmoid
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.creation import as_tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(BinaryParameter, Distribution):
    """The distribution of logits of relaxed Bernoulli numbers: a logistic one.

    Parameters
    ----------
    temperature : float or Tensor
        The smaller, the nearer the numbers are to 0 and 1.
    probs : float or Tensor, optional
        The probability of 1 that is relaxed.
    logits : float or Tensor, optional
        The logarithm of its odds; one of the two is given.
    validate_args : bool, optional
        See `Distribution`.

    Notes
    -----
    Maddison, Mnih and Teh, The concrete distribution (2017).
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True

    def __init__(
        self, temperature: Parameter, probs: Parameter | None = None, logits: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._set_parameter(probs, logits)
        self.temperature = as_tensor(temperature, dtype=self._param.dtype)
        super().__init__(self._param.shape, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._expand_parameters(LogitRelaxedBernoulli, batch_shape, _instance)
        new.temperature = self.temperature
        return new

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        noise = clamp_probs(uniform_like(self._extended_shape(sample_shape), self._param))
        return (logit(noise) + self.logits) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        difference = self.logits - self._checked(value) * self.temperature
        return log(self.temperature) + difference + 2 * logsigmoid(-difference)


class RelaxedBernoulli(Relaxed):
    """The relaxed Bernoulli distribution of numbers between 0 and 1, with gradients in the probability.

    Parameters
    ----------
    temperature : float or Tensor
        The smaller, the nearer the numbers are to 0 and 1.
    probs : float or Tensor, optional
        The probability of 1 that is relaxed.
    logits : float or Tensor, optional
        The logarithm of its odds; one of the two is given.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> relaxed = gs.distributions.RelaxedBernoulli(0.5, probs=gs.tensor([0.25, 0.75]))
    >>> relaxed.rsample((4,)).shape
    (4, 2)
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    base_dist: LogitRelaxedBernoulli

    def __init__(
        self, temperature: Parameter, probs: Parameter | None = None, logits: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        base = LogitRelaxedBernoulli(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(RelaxedBernoulli, _instance))
