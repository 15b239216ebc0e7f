"""The logistic normal distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.combined.independent import Independent
from gradsmith.distributions.combined.transformed_distribution import TransformedDistribution
from gradsmith.distributions.real_line.normal import Normal
from gradsmith.distributions.transforms import StickBreakingTransform
from gradsmith.generated.tensor import Tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Shape

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """The logistic normal distribution of vectors of the simplex: sticks that normal numbers break.

    Parameters
    ----------
    loc, scale : Tensor
        Means and standard deviations of the normal numbers, of shape ``(..., n - 1)``.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.LogisticNormal(gs.zeros(2), gs.ones(2)).sample().shape
    (3,)
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True
    base_dist: Independent

    def __init__(self, loc: Tensor, scale: Tensor, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand((1,))
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(LogisticNormal, _instance))

    @property
    def loc(self) -> Tensor:
        """The means of the normal numbers."""
        found: Tensor = self.base_dist.base_dist.loc
        return found

    @property
    def scale(self) -> Tensor:
        """Their standard deviations."""
        found: Tensor = self.base_dist.base_dist.scale
        return found
