"""The log-normal distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.combined.transformed_distribution import TransformedDistribution
from gradsmith.distributions.real_line.normal import Normal
from gradsmith.distributions.transforms import ExpTransform
from gradsmith.generated import exp, expm1, square
from gradsmith.generated.tensor import Tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["LogNormal"]


class LogNormal(TransformedDistribution):
    """The log-normal distribution: logarithms of its values are normal.

    Parameters
    ----------
    loc, scale : float or Tensor
        Mean and standard deviation of the logarithms.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.LogNormal(0.0, 1.0).mean
    tensor(1.6487)
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive
    has_rsample = True
    base_dist: Normal

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        super().__init__(Normal(loc, scale, validate_args=validate_args), ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(LogNormal, _instance))

    @property
    def loc(self) -> Tensor:
        """The mean of the logarithms."""
        return self.base_dist.loc

    @property
    def scale(self) -> Tensor:
        """Their standard deviation."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        return exp(self.loc + square(self.scale) / 2)

    @property
    def mode(self) -> Tensor:
        return exp(self.loc - square(self.scale))

    @property
    def variance(self) -> Tensor:
        return expm1(square(self.scale)) * exp(2 * self.loc + square(self.scale))

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc
