"""Pareto's distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.combined.transformed_distribution import TransformedDistribution
from gradsmith.distributions.half_line.exponential import Exponential
from gradsmith.distributions.transforms import AffineTransform, ExpTransform
from gradsmith.distributions.utils import as_shape, broadcast_all
from gradsmith.generated import log, square, where
from gradsmith.generated.tensor import Tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    """Pareto's distribution, whose tail is a power.

    Parameters
    ----------
    scale : float or Tensor
        The least value, positive.
    alpha : float or Tensor
        The exponent of the tail, positive.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Pareto(1.0, 2.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[Any] = {"alpha": constraints.positive, "scale": constraints.positive}

    def __init__(self, scale: Parameter, alpha: Parameter, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        super().__init__(base, [ExpTransform(), AffineTransform(0, self.scale)], validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Pareto, _instance)
        shape = as_shape(batch_shape)
        new.scale, new.alpha = self.scale.expand(shape), self.alpha.expand(shape)
        return super().expand(shape, _instance=new)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    @property
    def mean(self) -> Tensor:
        finite = self.alpha > 1
        alpha = where(finite, self.alpha, 2.0)
        return where(finite, alpha * self.scale / (alpha - 1), math.inf)

    @property
    def mode(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        finite = self.alpha > 2
        alpha = where(finite, self.alpha, 3.0)
        return where(finite, square(self.scale / (alpha - 1)) * alpha / (alpha - 2), math.inf)

    def entropy(self) -> Tensor:
        return log(self.scale / self.alpha) + (1 + 1 / self.alpha)
