"""Fisher's and Snedecor's distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.utils import broadcast_all, noise_by
from gradsmith.generated import clamp_min, lgamma, log, log1p, square, where
from gradsmith.generated.tensor import Tensor
from gradsmith.random.gammas import f
from gradsmith.runtime.arrays.limits import finfo

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """Fisher's and Snedecor's distribution: the quotient of the means of `df1` and of `df2` squares of normal numbers.

    Parameters
    ----------
    df1, df2 : float or Tensor
        Degrees of freedom above and below, positive.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.FisherSnedecor(2.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[Any] = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, df1: Parameter, df2: Parameter, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return self._expand_parameters(FisherSnedecor, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        finite = self.df2 > 2
        df2 = where(finite, self.df2, 3.0)
        return where(finite, df2 / (df2 - 2), math.nan)

    @property
    def mode(self) -> Tensor:
        inside = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return where(self.df1 > 2, inside, math.nan)

    @property
    def variance(self) -> Tensor:
        finite = self.df2 > 4
        df2 = where(finite, self.df2, 5.0)
        found = 2 * square(df2) * (self.df1 + df2 - 2) / (self.df1 * square(df2 - 2) * (df2 - 4))
        return where(finite, found, math.nan)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        drawn = noise_by(f, self._extended_shape(sample_shape), self.df1, self.df2)
        return clamp_min(drawn, finfo(drawn.dtype).tiny)

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        above, below, ratio = self.df1 / 2, self.df2 / 2, self.df1 / self.df2
        normalizer = lgamma(above + below) - lgamma(above) - lgamma(below) + above * log(ratio)
        return normalizer + (above - 1) * log(value) - (above + below) * log1p(ratio * value)
