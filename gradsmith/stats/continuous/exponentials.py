"""Distributions whose quantiles are elementary functions: the exponential one and its relatives, and some others."""

from __future__ import annotations

import math
from typing import Any

from gradsmith.distributions.utils import euler_constant
from gradsmith.generated import (
    abs,
    atan,
    clamp_max,
    cos,
    exp,
    expm1,
    lgamma,
    log,
    log1p,
    logsigmoid,
    sigmoid,
    square,
    tan,
    where,
    xlogy,
)
from gradsmith.generated.special_namespace import i0e, i1e
from gradsmith.generated.tensor import Tensor
from gradsmith.random import continuous as draws
from gradsmith.runtime.tensors.factories.creation import zeros_like
from gradsmith.stats.base import Continuous, complement

__all__ = [
    "cauchy", "expon", "gumbel_r", "halfcauchy", "laplace", "logistic", "pareto", "uniform", "vonmises", "weibull_min",
]  # fmt: skip


class expon_gen(Continuous):
    """The exponential distribution, with mean `scale` above `loc`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.expon.sf(2.0, scale=2.0)
    tensor(0.3679, dtype=gradsmith.float64)
    """

    def _support(self, *shapes: Tensor) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return -x

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return -expm1(-x)

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return exp(-x)

    def _logsf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return -x

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return -log1p(-q)

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return -log(q)

    def _mean(self, *shapes: Tensor) -> float:
        return 1.0

    def _var(self, *shapes: Tensor) -> float:
        return 1.0

    def _entropy(self, *shapes: Tensor) -> float:
        return 1.0

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.standard_exponential(size, dtype=dtype, generator=generator)


class uniform_gen(Continuous):
    """The uniform distribution of the numbers from `loc` to ``loc + scale``.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.uniform.cdf(3.0, loc=2.0, scale=4.0)
    tensor(0.2500, dtype=gradsmith.float64)
    """

    def _support(self, *shapes: Tensor) -> tuple[Any, Any]:
        return 0.0, 1.0

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return zeros_like(x)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return x

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return q

    def _mean(self, *shapes: Tensor) -> float:
        return 0.5

    def _var(self, *shapes: Tensor) -> float:
        return 1 / 12

    def _entropy(self, *shapes: Tensor) -> float:
        return 0.0

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.random(size, dtype=dtype, generator=generator)


class laplace_gen(Continuous):
    """Laplace's distribution: exponential to both sides of `loc`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.laplace.pdf(0.0, scale=2.0)
    tensor(0.2500, dtype=gradsmith.float64)
    """

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return -abs(x) - math.log(2)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        tail = exp(-abs(x)) / 2
        return where(x > 0, 1 - tail, tail)

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return self._cdf(-x)

    def _logcdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        tail = -abs(x) - math.log(2)
        return where(x > 0, log1p(-exp(tail)), tail)

    def _logsf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return self._logcdf(-x)

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return where(q > 0.5, -log(2 * (1 - q)), log(2 * q))

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return -self._ppf(q)

    def _mean(self, *shapes: Tensor) -> float:
        return 0.0

    def _var(self, *shapes: Tensor) -> float:
        return 2.0

    def _entropy(self, *shapes: Tensor) -> float:
        return 1 + math.log(2)

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.laplace(size=size, dtype=dtype, generator=generator)


class logistic_gen(Continuous):
    """The distribution whose `cdf` is the logistic function.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.logistic.pdf(0.0)
    tensor(0.2500, dtype=gradsmith.float64)
    """

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return logsigmoid(x) + logsigmoid(-x)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return sigmoid(x)

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return sigmoid(-x)

    def _logcdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return logsigmoid(x)

    def _logsf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return logsigmoid(-x)

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return log(q) - log1p(-q)

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return log1p(-q) - log(q)

    def _mean(self, *shapes: Tensor) -> float:
        return 0.0

    def _var(self, *shapes: Tensor) -> float:
        return math.pi**2 / 3

    def _entropy(self, *shapes: Tensor) -> float:
        return 2.0

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.logistic(size=size, dtype=dtype, generator=generator)


class gumbel_r_gen(Continuous):
    """Gumbel's distribution of maxima.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.gumbel_r.logpdf(0.0)
    tensor(-1., dtype=gradsmith.float64)
    """

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return -x - exp(-x)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return exp(-exp(clamp_max(-x, 80)))  # beyond, the derivative would be infinity times zero

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return -expm1(-exp(clamp_max(-x, 80)))

    def _logcdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return -exp(-x)

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return -log(-log(q))

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return -log(-log1p(-q))

    def _mean(self, *shapes: Tensor) -> float:
        return euler_constant

    def _var(self, *shapes: Tensor) -> float:
        return math.pi**2 / 6

    def _entropy(self, *shapes: Tensor) -> float:
        return euler_constant + 1

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.gumbel(size=size, dtype=dtype, generator=generator)


class cauchy_gen(Continuous):
    """Cauchy's distribution, with median `loc`. It has no mean.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.cauchy.ppf(0.75, loc=1.0, scale=2.0)
    tensor(3., dtype=gradsmith.float64)
    """

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return -log1p(square(x)) - math.log(math.pi)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        # far on the left by the inverse, as the sum with one half would lose the digits
        far = x < -1
        inverse = -1 / where(far, x, -1.0)
        return where(far, atan(inverse) / math.pi, 0.5 + atan(where(far, 0.0, x)) / math.pi)

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return self._cdf(-x)

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        is_end = (q == 0) | (q == 1)
        found: Tensor = where(is_end, (q - 0.5) * math.inf, tan(math.pi * (where(is_end, 0.5, q) - 0.5)))
        return found

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return -self._ppf(q)

    def _mean(self, *shapes: Tensor) -> float:
        return math.nan

    def _var(self, *shapes: Tensor) -> float:
        return math.nan

    def _entropy(self, *shapes: Tensor) -> float:
        return math.log(4 * math.pi)

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.standard_cauchy(size, dtype=dtype, generator=generator)


class halfcauchy_gen(Continuous):
    """The distribution of absolute values of Cauchy's numbers: of those above `loc`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.halfcauchy.cdf(2.0, scale=2.0)
    tensor(0.5000, dtype=gradsmith.float64)
    """

    def _support(self, *shapes: Tensor) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return math.log(2 / math.pi) - log1p(square(x))

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return atan(x) * (2 / math.pi)

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return 2 * cauchy._cdf(-x)

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        found: Tensor = where(q == 1, math.inf, tan(where(q == 1, 0.5, q) * (math.pi / 2)))
        return found

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        found: Tensor = where(q == 1, 0.0, 1 / tan(where(q == 1, 0.5, q) * (math.pi / 2)))
        return found

    def _mean(self, *shapes: Tensor) -> float:
        return math.inf

    def _var(self, *shapes: Tensor) -> float:
        return math.inf

    def _entropy(self, *shapes: Tensor) -> float:
        return math.log(2 * math.pi)

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return abs(draws.standard_cauchy(size, dtype=dtype, generator=generator))


class weibull_min_gen(Continuous):
    """Weibull's distribution, of exponential numbers to the power of ``1 / c``.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.weibull_min.sf(2.0, 2.0)
    tensor(0.0183, dtype=gradsmith.float64)
    """

    shapes = ("c",)

    def _support(self, *shapes: Tensor) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        (c,) = shapes
        return log(c) + xlogy(c - 1, x) - x**c

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return -expm1(-(x ** shapes[0]))

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return exp(-(x ** shapes[0]))

    def _logcdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return complement(-(x ** shapes[0]))

    def _logsf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return -(x ** shapes[0])

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return (-log1p(-q)) ** (1 / shapes[0])

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return (-log(q)) ** (1 / shapes[0])

    def _mean(self, *shapes: Tensor) -> Tensor:
        return exp(lgamma(1 + 1 / shapes[0]))

    def _var(self, *shapes: Tensor) -> Tensor:
        return exp(lgamma(1 + 2 / shapes[0])) - square(self._mean(*shapes))

    def _entropy(self, *shapes: Tensor) -> Tensor:
        (c,) = shapes
        return euler_constant * (1 - 1 / c) - log(c) + 1

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.weibull(shapes[0], size, dtype=dtype, generator=generator)


class pareto_gen(Continuous):
    """Pareto's distribution, of numbers from `scale` on whose tail is the power ``-b``.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.pareto.sf(2.0, 3.0)
    tensor(0.1250, dtype=gradsmith.float64)
    """

    shapes = ("b",)

    def _support(self, *shapes: Tensor) -> tuple[Any, Any]:
        return 1.0, math.inf

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        (b,) = shapes
        return log(b) - (b + 1) * log(x)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return -expm1(self._logsf(x, *shapes))

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return x ** -shapes[0]

    def _logcdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return complement(self._logsf(x, *shapes))

    def _logsf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return -shapes[0] * log(x)

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return exp(-log1p(-q) / shapes[0])

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return q ** (-1 / shapes[0])

    def _mean(self, *shapes: Tensor) -> Tensor:
        finite = shapes[0] > 1
        b = where(finite, shapes[0], 2.0)
        return where(finite, b / (b - 1), math.inf)

    def _var(self, *shapes: Tensor) -> Tensor:
        finite = shapes[0] > 2
        b = where(finite, shapes[0], 3.0)
        return where(finite, b / (square(b - 1) * (b - 2)), math.inf)

    def _entropy(self, *shapes: Tensor) -> Tensor:
        (b,) = shapes
        return 1 + 1 / b - log(b)

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.pareto(shapes[0], size, dtype=dtype, generator=generator) + 1


class vonmises_gen(Continuous):
    """Von Mises' distribution of angles around `loc`, the nearer the greater `kappa`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.vonmises.logpdf(0.0, 1.0)
    tensor(-1.0738, dtype=gradsmith.float64)
    """

    shapes = ("kappa",)

    def _is_valid(self, *shapes: Tensor) -> Any:
        return shapes[0] >= 0

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        (kappa,) = shapes
        return kappa * (cos(x) - 1) - math.log(2 * math.pi) - log(i0e(kappa))

    def _mean(self, *shapes: Tensor) -> Tensor:
        return zeros_like(shapes[0])

    def _entropy(self, *shapes: Tensor) -> Tensor:
        (kappa,) = shapes
        return math.log(2 * math.pi) + log(i0e(kappa)) + kappa * (1 - i1e(kappa) / i0e(kappa))

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.vonmises(0.0, shapes[0].detach(), size, dtype=dtype, generator=generator)


expon = expon_gen()
uniform = uniform_gen()
laplace = laplace_gen()
logistic = logistic_gen()
gumbel_r = gumbel_r_gen()
cauchy = cauchy_gen()
halfcauchy = halfcauchy_gen()
weibull_min = weibull_min_gen()
pareto = pareto_gen()
vonmises = vonmises_gen()
