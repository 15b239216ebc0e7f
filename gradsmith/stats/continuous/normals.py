"""The normal distribution, and those that are made of it."""

from __future__ import annotations

import math
from typing import Any

from gradsmith.generated import abs, erf, erfc, exp, expm1, log, sqrt, square, where
from gradsmith.generated.special_namespace import log_ndtr, ndtr, ndtri, owens_t
from gradsmith.generated.tensor import Tensor
from gradsmith.random.continuous import random, standard_normal
from gradsmith.stats.base import Continuous, complement

__all__ = ["halfnorm", "lognorm", "norm", "skewnorm", "truncnorm"]

HALF_LOG_2PI = math.log(2 * math.pi) / 2


def log_density(x: Tensor) -> Tensor:
    """Of a standard normal number."""
    return -square(x) / 2 - HALF_LOG_2PI


class norm_gen(Continuous):
    """The normal distribution, with mean `loc` and standard deviation `scale`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> scale = gs.tensor(2.0, requires_grad=True)
    >>> gs.stats.norm.logpdf([0.0, 2.0], loc=0.0, scale=scale).sum().backward()
    >>> scale.grad
    tensor(-0.5000)
    """

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return log_density(x)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return erfc(-x / math.sqrt(2)) / 2

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return erfc(x / math.sqrt(2)) / 2

    def _logcdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return log_ndtr(x)

    def _logsf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return log_ndtr(-x)

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return ndtri(q)

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return -ndtri(q)

    def _mean(self, *shapes: Tensor) -> float:
        return 0.0

    def _var(self, *shapes: Tensor) -> float:
        return 1.0

    def _entropy(self, *shapes: Tensor) -> float:
        return HALF_LOG_2PI + 0.5

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return standard_normal(size, dtype=dtype, generator=generator)


class halfnorm_gen(Continuous):
    """The distribution of absolute values of normal numbers: of those above `loc`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.halfnorm.mean()
    tensor(0.7979, dtype=gradsmith.float64)
    """

    def _support(self, *shapes: Tensor) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return log_density(x) + math.log(2)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return erf(x / math.sqrt(2))

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return erfc(x / math.sqrt(2))

    def _logsf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return log_ndtr(-x) + math.log(2)

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return ndtri((1 + q) / 2)

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return -ndtri(q / 2)

    def _mean(self, *shapes: Tensor) -> float:
        return math.sqrt(2 / math.pi)

    def _var(self, *shapes: Tensor) -> float:
        return 1 - 2 / math.pi

    def _entropy(self, *shapes: Tensor) -> float:
        return math.log(math.pi / 2) / 2 + 0.5

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return abs(standard_normal(size, dtype=dtype, generator=generator))


class lognorm_gen(Continuous):
    """The log-normal distribution: logarithms of its values have standard deviation `s` and mean ``log(scale)``.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.lognorm.mean(1.0)
    tensor(1.6487, dtype=gradsmith.float64)
    """

    shapes = ("s",)

    def _support(self, *shapes: Tensor) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        (s,) = shapes
        positive = x > 0
        logarithm = log(where(positive, x, 1.0))
        return where(positive, log_density(logarithm / s) - log(s) - logarithm, -math.inf)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return norm._cdf(log(x) / shapes[0])

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return norm._sf(log(x) / shapes[0])

    def _logcdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return norm._logcdf(log(x) / shapes[0])

    def _logsf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return norm._logsf(log(x) / shapes[0])

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return exp(shapes[0] * ndtri(q))

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return exp(-shapes[0] * ndtri(q))

    def _mean(self, *shapes: Tensor) -> Tensor:
        return exp(square(shapes[0]) / 2)

    def _var(self, *shapes: Tensor) -> Tensor:
        return expm1(square(shapes[0])) * exp(square(shapes[0]))

    def _entropy(self, *shapes: Tensor) -> Tensor:
        return log(shapes[0]) + HALF_LOG_2PI + 0.5

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return exp(shapes[0] * standard_normal(size, dtype=dtype, generator=generator))


class truncnorm_gen(Continuous):
    """The normal distribution of the numbers from `a` to `b`, which count standard deviations from `loc`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.truncnorm.mean(-1.0, 1.0)
    tensor(0., dtype=gradsmith.float64)
    """

    shapes = ("a", "b")

    def _is_valid(self, *shapes: Tensor) -> Any:
        return shapes[0] < shapes[1]

    def _support(self, *shapes: Tensor) -> tuple[Any, Any]:
        return shapes[0], shapes[1]

    def _in_support(self, function: Any, y: Tensor, shapes: list[Tensor], below: float, above: float) -> Tensor:
        # An end may be infinite; where it is, the middle of the support is no number.
        low, high = shapes
        is_below, is_above = y < low, y > high
        y = where(is_below, low, where(is_above, high, y))
        return where(is_below, below, where(is_above, above, function(y, *shapes)))

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return log_density(x) - _log_part(*shapes)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return _share(shapes[0], x, *shapes)

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return _share(x, shapes[1], *shapes)

    def _logcdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        a, b = shapes
        return _log_part(a, x) - _log_part(a, b)

    def _logsf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        a, b = shapes
        return _log_part(x, b) - _log_part(a, b)

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        a, b = shapes
        right = a > 0  # quantiles of the tail on the left are the accurate ones
        low, high = where(right, -b, a), where(right, -a, b)
        part = where(right, 1 - q, q)
        found = ndtri(ndtr(low) + part * (ndtr(high) - ndtr(low)))
        return where(right, -found, found)

    def _mean(self, *shapes: Tensor) -> Tensor:
        a, b = shapes
        log_part = _log_part(a, b)
        return exp(log_density(a) - log_part) - exp(log_density(b) - log_part)

    def _var(self, *shapes: Tensor) -> Tensor:
        at_a, at_b = self._ends(*shapes)
        return 1 + at_a - at_b - square(self._mean(*shapes))

    def _entropy(self, *shapes: Tensor) -> Tensor:
        at_a, at_b = self._ends(*shapes)
        return HALF_LOG_2PI + 0.5 + _log_part(*shapes) + (at_a - at_b) / 2

    def _ends(self, a: Tensor, b: Tensor) -> list[Tensor]:
        """The densities at the ends times these; nothing where they are infinite."""
        log_part, found = _log_part(a, b), []
        for end in (a, b):
            finite = abs(end) < math.inf
            inside = where(finite, end, 0.0)
            found.append(inside * exp(log_density(inside) - log_part))
        return found

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return self._ppf(random(size, dtype=dtype, generator=generator), *shapes)


def _log_part(a: Tensor, b: Tensor) -> Tensor:
    """The logarithm of the probability between two normal numbers, by the tail in which these are."""
    right = a > 0
    low, high = where(right, -b, a), where(right, -a, b)
    greater = log_ndtr(high)
    return greater + complement(log_ndtr(low) - greater)


def _share(low: Tensor, high: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """The probability between two normal numbers, over that from a to b, by the tail in which these are."""
    right = a > 0
    greatest = log_ndtr(where(right, -a, b))

    def part(one: Tensor, other: Tensor) -> Tensor:
        above = exp(log_ndtr(where(right, -one, other)) - greatest)
        return above - exp(log_ndtr(where(right, -other, one)) - greatest)

    return part(low, high) / part(a, b)


class skewnorm_gen(Continuous):
    """The skew normal distribution, to the right where `a` is positive and to the left where it is negative.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.skewnorm.cdf(0.0, 1.0)
    tensor(0.2500, dtype=gradsmith.float64)
    """

    shapes = ("a",)

    def _is_valid(self, *shapes: Tensor) -> Any:
        return shapes[0] == shapes[0]

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return log_density(x) + math.log(2) + log_ndtr(shapes[0] * x)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return norm._cdf(x) - 2 * owens_t(x, shapes[0])

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return norm._sf(x) + 2 * owens_t(x, shapes[0])

    def _mean(self, *shapes: Tensor) -> Tensor:
        return _slant(shapes[0]) * math.sqrt(2 / math.pi)

    def _var(self, *shapes: Tensor) -> Tensor:
        return 1 - square(self._mean(*shapes))

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        slant = _slant(shapes[0])
        one = standard_normal(size, dtype=dtype, generator=generator)
        other = standard_normal(size, dtype=dtype, generator=generator)
        return slant * abs(one) + sqrt(1 - square(slant)) * other


def _slant(a: Tensor) -> Tensor:
    return a / sqrt(1 + square(a))


norm = norm_gen()
halfnorm = halfnorm_gen()
lognorm = lognorm_gen()
truncnorm = truncnorm_gen()
skewnorm = skewnorm_gen()
