"""Mixtures of distributions of one family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributions import constraints
from gradsmith.distributions.discrete.categorical import Categorical
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.utils import as_shape
from gradsmith.generated import gather, log_softmax, logsumexp, square
from gradsmith.generated.tensor import Tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Shape

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A mixture: each value is one of a component, which is drawn before.

    Parameters
    ----------
    mixture_distribution : Categorical
        Which component; its `batch_shape` is that of the mixture.
    component_distribution : Distribution
        The components, along the last dimension of its `batch_shape`.
    validate_args : bool, optional
        See `Distribution`.

    Raises
    ------
    ValueError
        One of them is no such distribution, or the shapes do not fit.

    Examples
    --------
    >>> import gradsmith as gs
    >>> weights = gs.distributions.Categorical(gs.tensor([0.25, 0.75]))
    >>> components = gs.distributions.Normal(gs.tensor([0.0, 4.0]), 1.0)
    >>> gs.distributions.MixtureSameFamily(weights, components).mean
    tensor(3.)
    """

    arg_constraints: ClassVar[Any] = {}
    has_rsample = False

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        _require_fitting(mixture_distribution, component_distribution)
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        self._num_component = component_distribution.batch_shape[-1]
        self._event_ndims = len(component_distribution.event_shape)
        super().__init__(
            component_distribution.batch_shape[:-1], component_distribution.event_shape, validate_args=validate_args
        )

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        shape = as_shape(batch_shape)
        new._component_distribution = self._component_distribution.expand((*shape, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(shape)
        new._num_component = self._num_component
        new._event_ndims = self._event_ndims
        return self._finish_expanded(new, shape)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution of the components' numbers."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    @property
    def mean(self) -> Tensor:
        return self._weighted(self._component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        # the law of total variance
        within = self._weighted(self._component_distribution.variance)
        between = square(self._component_distribution.mean - self._pad(self.mean))
        return within + self._weighted(between)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            dim = len(as_shape(sample_shape)) + len(self._batch_shape)
            chosen = self._mixture_distribution.sample(sample_shape)
            samples = self._component_distribution.sample(sample_shape)
            places = chosen.reshape((*chosen.shape, *[1] * (self._event_ndims + 1)))
            places = places.expand((*chosen.shape, 1, *self._event_shape))
            return gather(samples, dim, places).squeeze(dim)

    def log_prob(self, value: Tensor) -> Tensor:
        densities = self._component_distribution.log_prob(self._pad(self._checked(value)))
        return logsumexp(densities + log_softmax(self._mixture_distribution.logits, -1), -1)

    def cdf(self, value: Tensor) -> Tensor:
        found: Tensor = self._component_distribution.cdf(self._pad(value))
        return (found * self._mixture_distribution.probs).sum(-1)

    def _pad(self, value: Tensor) -> Tensor:
        """A value with a dimension of size 1 where the components are."""
        return value.unsqueeze(-1 - self._event_ndims)

    def _weighted(self, values: Tensor) -> Tensor:
        """The mean over the components."""
        probs = self._mixture_distribution.probs
        weights = probs.reshape((*probs.shape, *[1] * self._event_ndims))
        return (weights * values).sum(-1 - self._event_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n  {self._mixture_distribution},\n  {self._component_distribution})"


def _require_fitting(mixture: Any, components: Any) -> None:
    if not isinstance(mixture, Categorical):
        raise ValueError("The Mixture distribution needs to be an instance of gradsmith.distributions.Categorical")
    if not isinstance(components, Distribution):
        raise ValueError("The Component distribution needs to be an instance of gradsmith.distributions.Distribution")
    if not components.batch_shape:
        raise ValueError("The Component distribution needs a batch dimension, along which the components are")
    outer = components.batch_shape[:-1]
    for size, other in zip(reversed(mixture.batch_shape), reversed(outer), strict=False):
        if size not in (1, other) and other != 1:
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({mixture.batch_shape}) is not compatible with "
                f"`component_distribution.batch_shape` ({components.batch_shape})"
            )
    if mixture.logits.shape[-1] != components.batch_shape[-1]:
        raise ValueError(
            f"`mixture_distribution` has {mixture.logits.shape[-1]} categories, but `component_distribution` has "
            f"{components.batch_shape[-1]} along the last dimension of its batch_shape"
        )
