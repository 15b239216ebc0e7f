"""The distribution of classes as one-hot vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributions import constraints
from gradsmith.distributions.discrete.categorical import Categorical
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.utils import as_shape
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.creation import arange, eye

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Shape

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(Distribution):
    """The distribution of vectors with a single 1, at the place of a class.

    Parameters
    ----------
    probs : Tensor, optional
        Probabilities of the classes along the last dimension; divided by their sum.
    logits : Tensor, optional
        Their logarithms, up to a constant; one of the two is given.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.OneHotCategorical(gs.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits, validate_args=validate_args)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._get_checked_instance(OneHotCategorical, _instance)
        new._categorical = self._categorical.expand(batch_shape)
        return self._finish_expanded(new, as_shape(batch_shape))

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    @property
    def probs(self) -> Tensor:
        """The probabilities of the classes."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Their logarithms."""
        return self._categorical.logits

    @property
    def param_shape(self) -> tuple[int, ...]:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return self._one_hot(self._categorical.mode)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            return self._one_hot(self._categorical.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        return self._categorical.log_prob(self._checked(value).argmax(-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._event_shape[0]
        return self._enumerated(eye(count, dtype=self._param.dtype, device=self._param.device), expand)

    def _one_hot(self, numbers: Tensor) -> Tensor:
        classes = arange(self._event_shape[0], device=self._param.device)
        return (numbers.unsqueeze(-1) == classes).to(self._param.dtype)


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same with `rsample`, whose gradient is that of the probabilities.

    It takes the difference between a sample and its mean for a constant (Bengio, Léonard and Courville, Estimating or
    propagating gradients through stochastic neurons, 2013).

    Parameters
    ----------
    probs : Tensor, optional
        Probabilities of the classes along the last dimension; divided by their sum.
    logits : Tensor, optional
        Their logarithms, up to a constant; one of the two is given.
    validate_args : bool, optional
        See `Distribution`.
    """

    has_rsample = True

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
