"""Student's distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.half_line.chi2 import Chi2
from gradsmith.distributions.utils import broadcast_all, standard_normal_like
from gradsmith.generated import digamma, lgamma, log, log1p, rsqrt, square, where
from gradsmith.generated.special_namespace import betaln
from gradsmith.generated.tensor import Tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's distribution: a normal number over the root of the mean of `df` squares of normal numbers.

    Parameters
    ----------
    df : float or Tensor
        Degrees of freedom, positive.
    loc : float or Tensor, default 0
        The median.
    scale : float or Tensor, default 1
        What the quotient is multiplied by, positive.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.StudentT(4.0, loc=1.0).variance
    tensor(2.)
    """

    arg_constraints: ClassVar[Any] = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True

    def __init__(
        self, df: Parameter, loc: Parameter = 0.0, scale: Parameter = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df, validate_args=False)
        super().__init__(self.df.shape, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._expand_parameters(StudentT, batch_shape, _instance)
        new._chi2 = self._chi2.expand(batch_shape)
        return new

    @property
    def mean(self) -> Tensor:
        return where(self.df > 1, self.loc, math.nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        finite = self.df > 2
        df = where(finite, self.df, 3.0)  # so that no division by zero is recorded
        variance = where(finite, square(self.scale) * df / (df - 2), math.inf)
        return where(self.df > 1, variance, math.nan)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        normal = standard_normal_like(self._extended_shape(sample_shape), self.df)
        return self.loc + self.scale * normal * rsqrt(self._chi2.rsample(sample_shape) / self.df)

    def log_prob(self, value: Tensor) -> Tensor:
        z = (self._checked(value) - self.loc) / self.scale
        normalizer = lgamma((self.df + 1) / 2) - lgamma(self.df / 2) - log(self.df * math.pi) / 2 - log(self.scale)
        return normalizer - (self.df + 1) / 2 * log1p(square(z) / self.df)

    def entropy(self) -> Tensor:
        half = self.df / 2
        spread = (self.df + 1) / 2 * (digamma(half + 0.5) - digamma(half))
        return log(self.scale) + spread + log(self.df) / 2 + betaln(half, 0.5)
