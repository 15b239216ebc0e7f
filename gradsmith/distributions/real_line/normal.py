"""The normal distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.exp_family import ExponentialFamily
from gradsmith.distributions.utils import broadcast_all, standard_normal_like
from gradsmith.generated import addcmul, erfc, log, square
from gradsmith.generated.special_namespace import ndtri
from gradsmith.generated.tensor import Tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["Normal"]


class Normal(ExponentialFamily):
    """The normal distribution, Gauss's.

    Parameters
    ----------
    loc : float or Tensor
        The mean.
    scale : float or Tensor
        The standard deviation, positive.
    validate_args : bool, optional
        See `Distribution`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> scale = gs.tensor(2.0, requires_grad=True)
    >>> normal = gs.distributions.Normal(0.0, scale)
    >>> normal.log_prob(gs.tensor(2.0)).backward()
    >>> scale.grad
    tensor(0.)
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, loc: Parameter, scale: Parameter, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return self._expand_parameters(Normal, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return square(self.scale)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return addcmul(self.loc, standard_normal_like(self._extended_shape(sample_shape), self.loc), self.scale)

    def log_prob(self, value: Tensor) -> Tensor:
        z = (self._checked(value) - self.loc) / self.scale
        return -square(z) / 2 - log(self.scale) - math.log(2 * math.pi) / 2

    def cdf(self, value: Tensor) -> Tensor:
        return erfc((self.loc - self._checked(value)) / (self.scale * math.sqrt(2))) / 2

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * ndtri(value)

    def entropy(self) -> Tensor:
        return log(self.scale) + (1 + math.log(2 * math.pi)) / 2

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return self.loc / square(self.scale), -0.5 / square(self.scale)

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return -square(x) / y / 4 + log(-math.pi / y) / 2
