"""Von Mises' distribution of angles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.distributions import constraints
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.utils import broadcast_all, lazy_property
from gradsmith.generated import cos, log
from gradsmith.generated.special_namespace import i0e, i1e
from gradsmith.generated.tensor import Tensor
from gradsmith.random.continuous import vonmises

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Von Mises' distribution: the normal one of the circle.

    Parameters
    ----------
    loc : float or Tensor
        The direction of the mean, an angle.
    concentration : float or Tensor
        Positive; the inverse of the variance where it is great.
    validate_args : bool, optional
        See `Distribution`.

    Notes
    -----
    `variance` is the circular one, ``1 - I1(concentration) / I0(concentration)``.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.VonMises(0.0, 1.0).log_prob(gs.tensor(0.0))
    tensor(-1.0738)
    """

    arg_constraints: ClassVar[Any] = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real

    def __init__(self, loc: Parameter, concentration: Parameter, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        return self._expand_parameters(VonMises, batch_shape, _instance)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        return 1 - i1e(self.concentration) / i0e(self.concentration)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            return vonmises(self.loc, self.concentration, self._extended_shape(sample_shape), dtype=self.loc.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        # The exponentially scaled Bessel function, which does not overflow.
        turn = cos(self._checked(value) - self.loc) - 1
        return self.concentration * turn - math.log(2 * math.pi) - log(i0e(self.concentration))
