"""The distribution of classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributions import constraints
from gradsmith.distributions.discrete.probabilities import require_one
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.utils import (
    as_shape,
    broadcast_all,
    lazy_property,
    logits_to_probs,
    normalized_logits,
    probs_to_logits,
)
from gradsmith.generated import argmax, broadcast_tensors, clamp_min, gather, multinomial
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.dtypes import int64
from gradsmith.runtime.arrays.limits import finfo
from gradsmith.runtime.tensors.factories.creation import arange, full

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Shape

__all__ = ["Categorical"]


class Categorical(Distribution):
    """The distribution of the numbers of classes, from 0 on.

    Parameters
    ----------
    probs : Tensor, optional
        Probabilities of the classes along the last dimension; divided by their sum.
    logits : Tensor, optional
        Their logarithms, up to a constant; one of the two is given.
    validate_args : bool, optional
        See `Distribution`.

    Raises
    ------
    ValueError
        The parameter has no dimension.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Categorical(gs.tensor([1.0, 1.0, 2.0])).log_prob(gs.tensor([0, 2])).exp()
    tensor([0.2500, 0.5000])
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        require_one(probs, logits)
        name = "logits" if probs is None else "probs"
        (given,) = broadcast_all(logits if probs is None else probs)
        if given.ndim < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is None:
            self.__dict__["logits"] = normalized_logits(given)
        else:
            self.__dict__["probs"] = given / given.sum(-1, keepdim=True)
        self._num_events = given.shape[-1]
        super().__init__(given.shape[:-1], validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._expand_parameters(Categorical, batch_shape, _instance)
        new._num_events = self._num_events
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self) -> Tensor:
        """Logarithms of the probabilities."""
        return probs_to_logits(self.__dict__["probs"])

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.__dict__["logits"])

    @property
    def _param(self) -> Tensor:
        found: Tensor = self.__dict__["probs" if "probs" in self.__dict__ else "logits"]
        return found

    @property
    def param_shape(self) -> tuple[int, ...]:
        """The shape of the parameter, which has the classes as its last dimension."""
        return self._param.shape

    @property
    def mean(self) -> Tensor:
        return self._undefined()

    @property
    def mode(self) -> Tensor:
        return argmax(self.probs, -1)

    @property
    def variance(self) -> Tensor:
        return self._undefined()

    def _undefined(self) -> Tensor:
        """Numbers of classes say nothing about how far these are from one another."""
        return full(self._batch_shape, float("nan"), dtype=self.probs.dtype, device=self.probs.device)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            shape = self._extended_shape(sample_shape)
            count = 1
            for size in as_shape(sample_shape):
                count *= size
            rows = self.probs.reshape((-1, self._num_events))
            if not count or not len(rows):
                return full(shape, 0, dtype=int64, device=rows.device)
            return multinomial(rows, count, True).mT.reshape(shape)

    def log_prob(self, value: Tensor) -> Tensor:
        places = self._checked(value).to(int64).unsqueeze(-1)
        batch = broadcast_tensors(places, self.logits[..., :1])[0].shape[:-1]
        logits = self.logits.expand((*batch, self._num_events))
        return gather(logits, -1, places.expand((*batch, 1))).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = clamp_min(self.logits, finfo(self.logits.dtype).min)  # no product of zero and infinity
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._enumerated(arange(self._num_events, dtype=int64, device=self._param.device), expand)
