"""The relaxed distribution of one-hot vectors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.combined.relaxed import Relaxed
from gradsmith.distributions.discrete.categorical import Categorical
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.transforms import ExpTransform
from gradsmith.distributions.utils import as_shape, exponential_like, normalized_logits
from gradsmith.generated import log
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.creation import as_tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    """The distribution of logarithms of relaxed one-hot vectors.

    Parameters
    ----------
    temperature : float or Tensor
        The smaller, the nearer the vectors are to one-hot ones.
    probs : Tensor, optional
        Probabilities of the classes along the last dimension.
    logits : Tensor, optional
        Their logarithms, up to a constant; one of the two is given.
    validate_args : bool, optional
        See `Distribution`.

    Notes
    -----
    Maddison, Mnih and Teh, The concrete distribution (2017).
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector  # of the surface on which the exponentials have the sum 1
    has_rsample = True

    def __init__(
        self, temperature: Parameter, probs: Tensor | None = None, logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._categorical = Categorical(probs, logits)
        self.temperature = as_tensor(temperature, dtype=self._categorical._param.dtype)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._get_checked_instance(ExpRelaxedCategorical, _instance)
        new.temperature = self.temperature
        new._categorical = self._categorical.expand(batch_shape)
        return self._finish_expanded(new, as_shape(batch_shape))

    @property
    def param_shape(self) -> tuple[int, ...]:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of the classes."""
        return self._categorical.probs

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        gumbel = -log(exponential_like(self._extended_shape(sample_shape), self.logits))
        return normalized_logits((self.logits + gumbel) / self.temperature)

    def log_prob(self, value: Tensor) -> Tensor:
        n = self._event_shape[0]
        score = normalized_logits(self.logits - self._checked(value) * self.temperature).sum(-1)
        return score + math.lgamma(n) + (n - 1) * log(self.temperature)


class RelaxedOneHotCategorical(Relaxed):
    """The relaxed distribution of one-hot vectors: points of the simplex with gradients in the probabilities.

    Parameters
    ----------
    temperature : float or Tensor
        The smaller, the nearer the vectors are to one-hot ones.
    probs : Tensor, optional
        Probabilities of the classes along the last dimension.
    logits : Tensor, optional
        Their logarithms, up to a constant; one of the two is given.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> relaxed = gs.distributions.RelaxedOneHotCategorical(0.5, probs=gs.tensor([0.25, 0.75]))
    >>> relaxed.rsample((4,)).shape
    (4, 2)
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    base_dist: ExpRelaxedCategorical

    def __init__(
        self, temperature: Parameter, probs: Tensor | None = None, logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(RelaxedOneHotCategorical, _instance))
