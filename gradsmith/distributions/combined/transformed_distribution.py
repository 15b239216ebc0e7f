"""The distribution of what transforms make of random values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributions import constraints
from gradsmith.distributions.combined.independent import Independent
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.transforms import ComposeTransform, Transform
from gradsmith.distributions.utils import _sum_rightmost, as_shape
from gradsmith.generated.tensor import Tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Shape

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """The distribution of ``y = transforms(x)``, where x is distributed as `base_distribution`.

    Its density is that of x over the absolute value of the determinant of ``dy/dx``.

    Parameters
    ----------
    base_distribution : Distribution
    transforms : Transform or list of Transform
        Applied one after the other; bijections, so that there is a density.
    validate_args : bool, optional
        See `Distribution`.

    Raises
    ------
    ValueError
        `transforms` are none, or the distribution has fewer dimensions than they need.

    Examples
    --------
    >>> import gradsmith as gs
    >>> from gradsmith.distributions import Uniform, transforms
    >>> logit, move = transforms.SigmoidTransform().inv, transforms.AffineTransform(1.0, 2.0)
    >>> logistic = gs.distributions.TransformedDistribution(Uniform(0.0, 1.0), [logit, move])
    >>> logistic.log_prob(gs.tensor(1.0)).exp()
    tensor(0.1250)
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self, base_distribution: Any, transforms: Transform | Sequence[Transform], validate_args: bool | None = None
    ) -> None:
        self.transforms = _list_of(transforms)
        transform = ComposeTransform(self.transforms)
        base_event_dim = len(base_distribution.event_shape)
        shape = transform.forward_shape(_base_shape(base_distribution, transform))
        self.base_dist = _fitting(base_distribution, transform, transform.inverse_shape(shape))
        event_dim = max(
            transform.codomain.event_dim,
            base_event_dim + transform.codomain.event_dim - transform.domain.event_dim,
        )
        cut = len(shape) - event_dim
        super().__init__(shape[:cut], shape[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._get_checked_instance(TransformedDistribution, _instance)
        shape = as_shape(batch_shape)
        before = (*shape, *self.event_shape)
        for transform in reversed(self.transforms):
            before = transform.inverse_shape(before)
        new.base_dist = self.base_dist.expand(before[: len(before) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms
        return self._finish_expanded(new, shape)

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        more = len(self.event_shape) - support.event_dim
        return constraints.independent(support, more) if more > 0 else support

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether the base distribution has `rsample`."""
        return bool(self.base_dist.has_rsample)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        y = self._checked(value)
        event_dim = len(self.event_shape)
        found: Any = 0.0
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            event_dim += transform.domain.event_dim - transform.codomain.event_dim
            stretch = transform.log_abs_det_jacobian(x, y)
            found = found - _sum_rightmost(stretch, event_dim - transform.domain.event_dim)
            y = x
        density = self.base_dist.log_prob(y)
        return found + _sum_rightmost(density, event_dim - len(self.base_dist.event_shape))  # type: ignore[no-any-return]

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._rising(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._transformed(self.base_dist.icdf(self._rising(value)))

    def _transformed(self, value: Tensor) -> Tensor:
        for transform in self.transforms:
            value = transform(value)
        return value

    def _rising(self, probability: Tensor) -> Tensor:
        """The probability, or what it lacks to 1 where the transforms fall."""
        sign = ComposeTransform(self.transforms).sign
        if isinstance(sign, int) and sign == 1:
            return probability
        return sign * (probability - 0.5) + 0.5  # type: ignore[no-any-return]


def _list_of(transforms: Any) -> list[Any]:
    if isinstance(transforms, Transform):
        return [transforms]
    if not isinstance(transforms, (list, tuple)):
        raise ValueError(f"transforms must be a Transform or list, but was {type(transforms).__name__}")
    if not all(isinstance(one, Transform) for one in transforms):
        raise ValueError("transforms must be a Transform or a list of Transforms")
    return list(transforms)


def _base_shape(base: Any, transform: Any) -> tuple[int, ...]:
    shape = (*base.batch_shape, *base.event_shape)
    if len(shape) < transform.domain.event_dim:
        raise ValueError(
            f"base_distribution needs to have shape with size at least {transform.domain.event_dim}, but got {shape}."
        )
    return shape


def _fitting(base: Any, transform: Any, shape: tuple[int, ...]) -> Any:
    """The base distribution, expanded to what the transforms broadcast to, and with events as long as they need."""
    event_dim = len(base.event_shape)
    if (*base.batch_shape, *base.event_shape) != tuple(shape):
        base = base.expand(shape[: len(shape) - event_dim])
    more = transform.domain.event_dim - event_dim
    return Independent(base, more) if more > 0 else base
