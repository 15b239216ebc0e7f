"""A batch of distributions as one distribution of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.utils import _sum_rightmost, as_shape
from gradsmith.generated.tensor import Tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Shape

__all__ = ["Independent"]


class Independent(Distribution):
    """The last dimensions of a batch of independent distributions count as those of one event.

    Parameters
    ----------
    base_distribution : Distribution
    reinterpreted_batch_ndims : int
        How many dimensions of its `batch_shape` become part of the `event_shape`.
    validate_args : bool, optional
        See `Distribution`.

    Raises
    ------
    ValueError
        The distribution has fewer dimensions.

    Examples
    --------
    >>> import gradsmith as gs
    >>> normal = gs.distributions.Normal(gs.zeros(3), 1.0)
    >>> gs.distributions.Independent(normal, 1).log_prob(gs.zeros(3))
    tensor(-2.7568)
    """

    arg_constraints: ClassVar[Any] = {}

    def __init__(
        self, base_distribution: Any, reinterpreted_batch_ndims: int, validate_args: bool | None = None
    ) -> None:
        batch = tuple(base_distribution.batch_shape)
        if not 0 <= reinterpreted_batch_ndims <= len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), actual "
                f"{reinterpreted_batch_ndims} vs {len(batch)}"
            )
        cut = len(batch) - reinterpreted_batch_ndims
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__(batch[:cut], batch[cut:] + tuple(base_distribution.event_shape), validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Independent, _instance)
        shape = as_shape(batch_shape)
        new.base_dist = self.base_dist.expand(shape + self.event_shape[: self.reinterpreted_batch_ndims])
        new.reinterpreted_batch_ndims = self.reinterpreted_batch_ndims
        return self._finish_expanded(new, shape)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether the distributions have `rsample`."""
        return bool(self.base_dist.has_rsample)

    @property
    def has_enumerate_support(self) -> bool:  # type: ignore[override]
        """Whether there is `enumerate_support`: not if dimensions are taken together."""
        return not self.reinterpreted_batch_ndims and bool(self.base_dist.has_enumerate_support)

    @constraints.dependent_property
    def support(self) -> Any:
        base = self.base_dist.support
        return constraints.independent(base, self.reinterpreted_batch_ndims) if self.reinterpreted_batch_ndims else base

    @property
    def mean(self) -> Tensor:
        found: Tensor = self.base_dist.mean
        return found

    @property
    def mode(self) -> Tensor:
        found: Tensor = self.base_dist.mode
        return found

    @property
    def variance(self) -> Tensor:
        found: Tensor = self.base_dist.variance
        return found

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        found: Tensor = self.base_dist.sample(sample_shape)
        return found

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        found: Tensor = self.base_dist.rsample(sample_shape)
        return found

    def log_prob(self, value: Tensor) -> Tensor:
        return _sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return _sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        if self.reinterpreted_batch_ndims:
            raise NotImplementedError("Enumeration over cartesian product is not implemented")
        found: Tensor = self.base_dist.enumerate_support(expand=expand)
        return found

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_dist}, {self.reinterpreted_batch_ndims})"
