"""The geometric distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributions import constraints
from gradsmith.distributions.discrete.probabilities import BinaryParameter
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.utils import checks_values, exponential_like
from gradsmith.generated import clamp, floor, log, log1p, logsigmoid, sigmoid, where
from gradsmith.generated.special_namespace import xlog1py
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.limits import finfo
from gradsmith.runtime.tensors.factories.creation import zeros_like

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["Geometric"]


class Geometric(BinaryParameter, Distribution):
    """The geometric distribution: how many trials fail before the first one that succeeds.

    Parameters
    ----------
    probs : float or Tensor, optional
        The probability that a trial succeeds, not zero.
    logits : float or Tensor, optional
        The logarithm of its odds; one of the two is given.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Geometric(0.5).log_prob(gs.tensor([0.0, 1.0, 2.0])).exp()
    tensor([0.5000, 0.2500, 0.1250])
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer

    def __init__(
        self, probs: Parameter | None = None, logits: Parameter | None = None, validate_args: bool | None = None
    ) -> None:
        self._set_parameter(probs, logits)
        self._by_logits = probs is None
        super().__init__(self._param.shape, validate_args=validate_args)
        if self._validate_args and probs is not None and checks_values(self.probs) and bool((self.probs <= 0).any()):
            raise ValueError(
                f"Expected parameter probs (Tensor of shape {self.probs.shape}) of distribution {self!r} to be "
                f"positive but found invalid values:\n{self.probs}"
            )

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._expand_parameters(Geometric, batch_shape, _instance)
        new._by_logits = self._by_logits
        return new

    @property
    def mean(self) -> Tensor:
        return 1 / self.probs - 1

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        return (1 / self.probs - 1) / self.probs

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            shape = self._extended_shape(sample_shape)
            return floor(exponential_like(shape, self.probs) / -log1p(-self.probs))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        if self._by_logits:
            # A probability that rounds to 1 would leave nothing to the failures, and to the gradient.
            return value * logsigmoid(-self.logits) + logsigmoid(self.logits)
        # The derivative of 0 log 0 is taken as that of no failure at all.
        failing = where((value == 0) & (self.probs == 1), 0.0, self.probs)
        return xlog1py(value, -failing) + log(self.probs)

    def entropy(self) -> Tensor:
        """``-log p - (1 - p) log(1 - p) / p``, whose second term tends to 1 where the probability vanishes."""
        if self._by_logits:
            steep = self.logits < -50
            near = where(steep, 0.0, self.logits)
            return where(steep, 1.0, -logsigmoid(-near) / sigmoid(near)) - self.logits
        below_one = clamp(self.probs, max=1 - finfo(self.probs.dtype).eps)  # so that the gradient at 1 is finite
        return -log(self.probs) - xlog1py(1 - self.probs, -below_one) / self.probs
