"""Bernoulli's distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributions import constraints
from gradsmith.distributions.discrete.probabilities import BinaryParameter
from gradsmith.distributions.exp_family import ExponentialFamily
from gradsmith.distributions.utils import uniform_like
from gradsmith.generated import logsigmoid, where
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.creation import arange

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["Bernoulli"]


class Bernoulli(BinaryParameter, ExponentialFamily):
    """Bernoulli's distribution: 1 with a probability, else 0.

    Parameters
    ----------
    probs : float or Tensor, optional
        The probability of 1.
    logits : float or Tensor, optional
        The logarithm of its odds; one of the two is given.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Bernoulli(gs.tensor([0.25, 0.5])).log_prob(gs.ones(2)).exp()
    tensor([0.2500, 0.5000])
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0

    def __init__(
        self, probs: Parameter | None = None, logits: Parameter | None = None, validate_args: bool | None = None
    ) -> None:
        self._set_parameter(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return self._expand_parameters(Bernoulli, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return where(self.probs == 0.5, float("nan"), (self.probs >= 0.5).to(self.probs.dtype))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            shape = self._extended_shape(sample_shape)
            return (uniform_like(shape, self.probs) < self.probs).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        return self._checked(value) * self.logits + logsigmoid(-self.logits)

    def entropy(self) -> Tensor:
        return -(self.probs * self.logits + logsigmoid(-self.logits))

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(arange(2, dtype=self._param.dtype, device=self._param.device), expand)

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return -logsigmoid(-x)
