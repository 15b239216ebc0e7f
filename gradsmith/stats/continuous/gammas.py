"""The gamma distribution and those that are made of it.

Their functions `cdf` and `sf` are incomplete gamma and beta functions, and their quantiles the inverses of these, with
derivatives in the value and in the shapes.
"""

from __future__ import annotations

import math
from typing import Any

from gradsmith.generated import digamma, lgamma, log, log1p, square, where, xlogy
from gradsmith.generated.special_namespace import (
    betainc,
    betaincc,
    betainccinv,
    betaincinv,
    betaln,
    gammainc,
    gammaincc,
    gammainccinv,
    gammaincinv,
    stdtrit,
    xlog1py,
)
from gradsmith.generated.tensor import Tensor
from gradsmith.random import gammas as draws
from gradsmith.stats.base import Continuous

__all__ = ["beta", "chi2", "f", "gamma", "invgamma", "t"]


class _OfPositive(Continuous):
    def _support(self, *shapes: Tensor) -> tuple[Any, Any]:
        return 0.0, math.inf


class gamma_gen(_OfPositive):
    """The gamma distribution with shape `a`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> a = gs.tensor(2.0, requires_grad=True)
    >>> gs.stats.gamma.logpdf(1.5, a, scale=2.0).backward()
    >>> a.grad
    tensor(-0.7105)
    """

    shapes = ("a",)

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        (a,) = shapes
        return xlogy(a - 1, x) - x - lgamma(a)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return gammainc(shapes[0], x)

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return gammaincc(shapes[0], x)

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return gammaincinv(shapes[0], q)

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return gammainccinv(shapes[0], q)

    def _mean(self, *shapes: Tensor) -> Tensor:
        return shapes[0]

    def _var(self, *shapes: Tensor) -> Tensor:
        return shapes[0]

    def _entropy(self, *shapes: Tensor) -> Tensor:
        (a,) = shapes
        return a + lgamma(a) + (1 - a) * digamma(a)

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.standard_gamma(shapes[0], size, dtype=dtype, generator=generator)


class chi2_gen(_OfPositive):
    """The chi-squared distribution with `df` degrees of freedom.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.chi2.var(3.0)
    tensor(6., dtype=gradsmith.float64)
    """

    shapes = ("df",)

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        half = shapes[0] / 2
        return xlogy(half - 1, x) - x / 2 - half * math.log(2) - lgamma(half)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return gammainc(shapes[0] / 2, x / 2)

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return gammaincc(shapes[0] / 2, x / 2)

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return 2 * gammaincinv(shapes[0] / 2, q)

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return 2 * gammainccinv(shapes[0] / 2, q)

    def _mean(self, *shapes: Tensor) -> Tensor:
        return shapes[0]

    def _var(self, *shapes: Tensor) -> Tensor:
        return 2 * shapes[0]

    def _entropy(self, *shapes: Tensor) -> Tensor:
        return gamma._entropy(shapes[0] / 2) + math.log(2)

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.chisquare(shapes[0], size, dtype=dtype, generator=generator)


class invgamma_gen(_OfPositive):
    """The distribution of inverses of gamma numbers with shape `a`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.invgamma.mean(3.0, scale=4.0)
    tensor(2., dtype=gradsmith.float64)
    """

    shapes = ("a",)

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        (a,) = shapes
        positive = x > 0
        x = where(positive, x, 1.0)
        return where(positive, -(a + 1) * log(x) - lgamma(a) - 1 / x, -math.inf)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return gammaincc(shapes[0], 1 / x)

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return gammainc(shapes[0], 1 / x)

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return 1 / gammainccinv(shapes[0], q)

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return 1 / gammaincinv(shapes[0], q)

    def _mean(self, *shapes: Tensor) -> Tensor:
        finite = shapes[0] > 1
        return where(finite, 1 / (where(finite, shapes[0], 2.0) - 1), math.inf)

    def _var(self, *shapes: Tensor) -> Tensor:
        finite = shapes[0] > 2
        a = where(finite, shapes[0], 3.0)
        return where(finite, 1 / (square(a - 1) * (a - 2)), math.inf)

    def _entropy(self, *shapes: Tensor) -> Tensor:
        (a,) = shapes
        return a + lgamma(a) - (1 + a) * digamma(a)

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return 1 / draws.standard_gamma(shapes[0], size, dtype=dtype, generator=generator)


class beta_gen(Continuous):
    """The beta distribution, with density in proportion to ``x^(a - 1) (1 - x)^(b - 1)``.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.beta.mean(1.0, 3.0)
    tensor(0.2500, dtype=gradsmith.float64)
    """

    shapes = ("a", "b")

    def _support(self, *shapes: Tensor) -> tuple[Any, Any]:
        return 0.0, 1.0

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        a, b = shapes
        return xlogy(a - 1, x) + xlog1py(b - 1, -x) - betaln(a, b)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return betainc(shapes[0], shapes[1], x)

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return betaincc(shapes[0], shapes[1], x)

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return betaincinv(shapes[0], shapes[1], q)

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return betainccinv(shapes[0], shapes[1], q)

    def _mean(self, *shapes: Tensor) -> Tensor:
        a, b = shapes
        return a / (a + b)

    def _var(self, *shapes: Tensor) -> Tensor:
        a, b = shapes
        return a * b / (square(a + b) * (a + b + 1))

    def _entropy(self, *shapes: Tensor) -> Tensor:
        a, b = shapes
        return betaln(a, b) - (a - 1) * digamma(a) - (b - 1) * digamma(b) + (a + b - 2) * digamma(a + b)

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.beta(shapes[0], shapes[1], size, dtype=dtype, generator=generator)


class t_gen(Continuous):
    """Student's distribution with `df` degrees of freedom.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.t.var(4.0)
    tensor(2., dtype=gradsmith.float64)
    """

    shapes = ("df",)

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        (df,) = shapes
        normalizer = lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * math.pi) / 2
        return normalizer - (df + 1) / 2 * log1p(square(x) / df)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        (df,) = shapes
        # near 0 by the part of the square that is small, so that no digit of the value is lost
        near = square(x) < df
        inner, outer = where(near, x, 0.5), where(near, 1.0, x)
        middle = betainc(0.5 + 0 * df, df / 2, square(inner) / (df + square(inner))) / 2
        tail = betainc(df / 2, 0.5 + 0 * df, df / (df + square(outer))) / 2
        return where(near, where(x < 0, 0.5 - middle, 0.5 + middle), where(x < 0, tail, 1 - tail))

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        return self._cdf(-x, *shapes)

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        found: Tensor = where(q == 0, -math.inf, stdtrit(shapes[0], where(q == 0, 0.5, q)))
        return found

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        return -self._ppf(q, *shapes)

    def _mean(self, *shapes: Tensor) -> Tensor:
        return where(shapes[0] > 1, 0.0, math.inf + 0 * shapes[0])

    def _var(self, *shapes: Tensor) -> Tensor:
        finite = shapes[0] > 2
        df = where(finite, shapes[0], 3.0)
        return where(shapes[0] > 1, where(finite, df / (df - 2), math.inf), math.nan)

    def _entropy(self, *shapes: Tensor) -> Tensor:
        (df,) = shapes
        spread = (df + 1) / 2 * (digamma((df + 1) / 2) - digamma(df / 2))
        return spread + log(df) / 2 + betaln(df / 2, 0.5 + 0 * df)

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.standard_t(shapes[0], size, dtype=dtype, generator=generator)


class f_gen(_OfPositive):
    """Fisher's distribution: the quotient of the means of `dfn` and of `dfd` squares of normal numbers.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.f.mean(2.0, 4.0)
    tensor(2., dtype=gradsmith.float64)
    """

    shapes = ("dfn", "dfd")

    def _logpdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        n, m = shapes
        density = n / 2 * log(n / m) + xlogy(n / 2 - 1, x) - (n + m) / 2 * log1p(n / m * x)
        return density - betaln(n / 2, m / 2)

    def _cdf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        n, m = shapes
        is_end = x == math.inf
        y = where(is_end, 1.0, x)
        return betainc(n / 2, m / 2, where(is_end, 1.0, n * y / (n * y + m)))

    def _sf(self, x: Tensor, *shapes: Tensor) -> Tensor:
        n, m = shapes
        return betainc(m / 2, n / 2, m / (n * x + m))

    def _ppf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        n, m = shapes
        # by the half in which neither `part` nor its complement is rounded
        part, rest = betaincinv(n / 2, m / 2, q), betainccinv(m / 2, n / 2, q)
        return m / n * part / rest

    def _isf(self, q: Tensor, *shapes: Tensor) -> Tensor:
        n, m = shapes
        part, rest = betainccinv(n / 2, m / 2, q), betaincinv(m / 2, n / 2, q)
        return m / n * part / rest

    def _mean(self, *shapes: Tensor) -> Tensor:
        finite = shapes[1] > 2
        m = where(finite, shapes[1], 3.0)
        return where(finite, m / (m - 2), math.inf)

    def _var(self, *shapes: Tensor) -> Tensor:
        n, finite = shapes[0], shapes[1] > 4
        m = where(finite, shapes[1], 5.0)
        return where(finite, 2 * square(m) * (n + m - 2) / (n * square(m - 2) * (m - 4)), math.inf)

    def _entropy(self, *shapes: Tensor) -> Tensor:
        a, b = shapes[0] / 2, shapes[1] / 2
        spread = (1 - a) * digamma(a) - (1 + b) * digamma(b) + (a + b) * digamma(a + b)
        return betaln(a, b) + spread + log(b / a)

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.f(shapes[0], shapes[1], size, dtype=dtype, generator=generator)


gamma = gamma_gen()
chi2 = chi2_gen()
invgamma = invgamma_gen()
beta = beta_gen()
t = t_gen()
f = f_gen()
