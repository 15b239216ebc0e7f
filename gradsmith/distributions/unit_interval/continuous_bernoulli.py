"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.discrete.probabilities import BinaryParameter
from gradsmith.distributions.exp_family import ExponentialFamily
from gradsmith.distributions.utils import clamp_probs, lazy_property, logits_to_probs, uniform_like
from gradsmith.generated import abs, clamp, exp, expm1, log, log1p, logsigmoid, square, tanh, where
from gradsmith.generated.tensor import Tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(BinaryParameter, ExponentialFamily):
    """The distribution of numbers from 0 to 1 with density in proportion to ``p^x (1 - p)^(1 - x)``.

    Parameters
    ----------
    probs : float or Tensor, optional
        The parameter p.
    logits : float or Tensor, optional
        The logarithm of ``p / (1 - p)``; one of the two is given.
    lims : tuple of float, default (0.499, 0.501)
        Between these values of p, series take the place of formulas that are 0 / 0 at one half.
    validate_args : bool, optional
        See `Distribution`.

    Notes
    -----
    Formulas are those of Loaiza-Ganem and Cunningham, The continuous Bernoulli (2019), as functions of the logit.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.ContinuousBernoulli(0.5).log_prob(gs.tensor(0.25))
    tensor(0.)
    """

    arg_constraints: ClassVar[Any] = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self, probs: Parameter | None = None, logits: Parameter | None = None,
        lims: tuple[float, float] = (0.499, 0.501), validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._set_parameter(probs, logits)
        self._lims = lims
        super().__init__(self._param.shape, validate_args=validate_args)
        if probs is not None:
            self.__dict__["probs"] = clamp_probs(self.__dict__["probs"])

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._expand_parameters(ContinuousBernoulli, batch_shape, _instance)
        new._lims = self._lims
        return new

    @lazy_property
    def probs(self) -> Tensor:
        """The parameter p."""
        return clamp_probs(logits_to_probs(self.__dict__["logits"], is_binary=True))

    @property
    def mean(self) -> Tensor:
        t, central, steep = self._parts()
        below = exp(steep) / expm1(steep) - 1 / steep
        return where(central, 0.5 + t / 12 - t * square(t) / 720, where(t < 0, below, 1 - below))

    @property
    def variance(self) -> Tensor:
        t, central, steep = self._parts()
        series = 1 / 12 - square(t) / 240 + square(square(t)) / 6048
        return where(central, series, 1 / square(steep) - exp(steep) / square(expm1(steep)))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.icdf(uniform_like(self._extended_shape(sample_shape), self._param))

    def log_prob(self, value: Tensor) -> Tensor:
        return self._checked(value) * self.logits - self._log_normalizer(self.logits)

    def cdf(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        t, central, steep = self._parts()
        rest = value * (1 - value)
        series = value - t / 2 * rest + square(t) / 12 * rest * (1 - 2 * value)
        below = expm1(steep * where(t < 0, value, 1 - value)) / expm1(steep)
        inside = where(central, series, where(t < 0, below, 1 - below))
        return where(value <= 0, 0.0, where(value >= 1, 1.0, inside))

    def icdf(self, value: Tensor) -> Tensor:
        t, central, steep = self._parts()
        rest = value * (1 - value)
        series = value + t / 2 * rest + square(t) / 6 * rest * (1 - 2 * value)
        below = log1p(where(t < 0, value, 1 - value) * expm1(steep)) / steep
        return clamp(where(central, series, where(t < 0, below, 1 - below)), 0, 1)

    def entropy(self) -> Tensor:
        return self._log_normalizer(self.logits) - self.mean * self.logits

    def _parts(self) -> tuple[Tensor, Tensor, Tensor]:
        """The logit, where series are to be taken, and minus its absolute value, away from 0.

        The density at x with logit t is that at 1 - x with -t, so no exponential needs to overflow.
        """
        t, central = self.logits, self._is_central()
        return t, central, where(central, -1.0, -abs(t))

    def _is_central(self) -> Tensor:
        return (self.probs > self._lims[0]) & (self.probs <= self._lims[1])

    @property
    def _natural_params(self) -> tuple[Tensor]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        """The logarithm of the integral of ``exp(x * value)`` from 0 to 1."""
        central = self._is_central()
        # Each formula is given harmless numbers where the other one counts: their gradients are multiplied by 0 there.
        away, near = where(central, 1.0, x), where(central, x, 0.0)
        series = math.log(2) + square(near) / 12 - 7 / 1440 * square(square(near))
        return -logsigmoid(-x) - where(central, series, log(away / tanh(away / 2)))
