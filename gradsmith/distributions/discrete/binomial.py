"""The binomial distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributions import constraints
from gradsmith.distributions.discrete.probabilities import BinaryParameter
from gradsmith.distributions.distribution import Distribution
from gradsmith.generated import exp, floor, lgamma, logsigmoid, minimum
from gradsmith.generated.tensor import Tensor
from gradsmith.random.top_level import binomial
from gradsmith.runtime.tensors.factories.creation import arange

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["Binomial"]


class Binomial(BinaryParameter, Distribution):
    """The binomial distribution: how many of `total_count` trials succeed.

    Parameters
    ----------
    total_count : int or Tensor, default 1
        How many trials there are.
    probs : float or Tensor, optional
        The probability that one succeeds.
    logits : float or Tensor, optional
        The logarithm of its odds; one of the two is given.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Binomial(4, 0.5).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[Any] = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True

    def __init__(
        self, total_count: Parameter = 1, probs: Parameter | None = None, logits: Parameter | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        (count,) = self._set_parameter(probs, logits, total_count)
        self.total_count = count.type_as(self._param)
        super().__init__(self._param.shape, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return self._expand_parameters(Binomial, batch_shape, _instance)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return minimum(floor((self.total_count + 1) * self.probs), self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            shape = self._extended_shape(sample_shape)
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        ways = lgamma(self.total_count + 1) - lgamma(value + 1) - lgamma(self.total_count - value + 1)
        return ways + value * self.logits + self.total_count * logsigmoid(-self.logits)

    def entropy(self) -> Tensor:
        logarithms = self.log_prob(self._counts("entropy", expand=False))
        return -(exp(logarithms) * logarithms).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._counts("enumerate_support", expand)

    def _counts(self, name: str, expand: bool) -> Tensor:
        """All values, where they are the same ones throughout the batch."""
        count = int(self.total_count.max().item())
        if int(self.total_count.min().item()) != count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{name}`.")
        return self._enumerated(arange(1 + count, dtype=self._param.dtype, device=self._param.device), expand)
