"""The multinomial distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributions import constraints
from gradsmith.distributions.discrete.binomial import Binomial
from gradsmith.distributions.discrete.categorical import Categorical
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.utils import as_shape
from gradsmith.generated import exp, lgamma, scatter_add, where
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.creation import ones, zeros

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Shape

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """The multinomial distribution: how often each class occurs among `total_count` ones.

    Parameters
    ----------
    total_count : int, default 1
    probs : Tensor, optional
        Probabilities of the classes along the last dimension; divided by their sum.
    logits : Tensor, optional
        Their logarithms, up to a constant; one of the two is given.
    validate_args : bool, optional
        See `Distribution`.

    Raises
    ------
    NotImplementedError
        `total_count` is not an int: all vectors of a batch have the same sum.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Multinomial(8, gs.tensor([1.0, 3.0])).mean
    tensor([2., 6.])
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int

    def __init__(
        self, total_count: int = 1, probs: Tensor | None = None, logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        self._binomial = Binomial(total_count, probs=self.probs)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Multinomial, _instance)
        shape = as_shape(batch_shape)
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(shape)
        new._binomial = self._binomial.expand((*shape, *self._event_shape))
        return self._finish_expanded(new, shape)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

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
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            shape = self._extended_shape(sample_shape)
            classes = self._categorical.sample((self.total_count, *as_shape(sample_shape)))
            last = classes.movedim(0, -1)
            like = self._param
            each = ones(tuple(last.shape), dtype=like.dtype, device=like.device)
            return scatter_add(zeros(shape, dtype=like.dtype, device=like.device), -1, last, each)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        # Classes that are impossible and do not occur count nothing.
        term = where((value == 0) & (self.logits == -math.inf), 0.0, self.logits * value)
        return lgamma(value.sum(-1) + 1) - lgamma(value + 1).sum(-1) + term.sum(-1)

    def entropy(self) -> Tensor:
        counts = self._binomial.enumerate_support(expand=False)[1:]
        expected = exp(self._binomial.log_prob(counts)) * lgamma(counts + 1)
        n = self.total_count
        return n * self._categorical.entropy() - math.lgamma(n + 1) + expected.sum((0, -1))
