"""The distribution of absolute values of Cauchy's numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.combined.transformed_distribution import TransformedDistribution
from gradsmith.distributions.real_line.cauchy import Cauchy
from gradsmith.distributions.transforms import AbsTransform
from gradsmith.generated import atan, tan, where
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.tensors.factories.creation import full_like, zeros_like

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["HalfCauchy"]


class HalfCauchy(TransformedDistribution):
    """The distribution of absolute values of Cauchy's numbers with median zero.

    Parameters
    ----------
    scale : float or Tensor
        The median, positive.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.HalfCauchy(2.0).cdf(gs.tensor(2.0))
    tensor(0.5000)
    """

    arg_constraints: ClassVar[Any] = {"scale": constraints.positive}
    support = constraints.nonnegative
    base_dist: Cauchy

    def __init__(self, scale: Parameter, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(HalfCauchy, _instance))

    @property
    def scale(self) -> Tensor:
        """The median."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return full_like(self.scale, math.inf)

    @property
    def mode(self) -> Tensor:
        return zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        return where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        return atan(self._checked(value) / self.scale) * (2 / math.pi)

    def icdf(self, value: Tensor) -> Tensor:
        return tan(value * (math.pi / 2)) * self.scale

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
