"""Distributions of integers, under SciPy's names."""

from __future__ import annotations

import math
from typing import Any

from gradsmith.generated import exp, expm1, floor, lgamma, log, log1p, square, where, xlogy
from gradsmith.generated.special_namespace import betainc, betaincc, entr, gammainc, gammaincc, xlog1py
from gradsmith.generated.tensor import Tensor
from gradsmith.random import discrete as draws
from gradsmith.random.continuous import random
from gradsmith.stats.base import Discrete

__all__ = ["bernoulli", "binom", "geom", "nbinom", "poisson"]


def _is_probability(p: Tensor) -> Tensor:
    return (p >= 0) & (p <= 1)


class bernoulli_gen(Discrete):
    """Bernoulli's distribution: 1 with probability `p`, else 0.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.bernoulli.pmf([0, 1], 0.25)
    tensor([0.7500, 0.2500], dtype=gradsmith.float64)
    """

    shapes = ("p",)

    def _is_valid(self, *shapes: Tensor) -> Any:
        return _is_probability(shapes[0])

    def _support(self, *shapes: Tensor) -> tuple[Any, Any]:
        return 0.0, 1.0

    def _logpmf(self, k: Tensor, *shapes: Tensor) -> Tensor:
        return xlogy(k, shapes[0]) + xlog1py(1 - k, -shapes[0])

    def _cdf(self, k: Tensor, *shapes: Tensor) -> Tensor:
        return where(k >= 1, 1.0, 1 - shapes[0])

    def _sf(self, k: Tensor, *shapes: Tensor) -> Tensor:
        return where(k >= 1, 0.0, shapes[0])

    def _mean(self, *shapes: Tensor) -> Tensor:
        return shapes[0]

    def _var(self, *shapes: Tensor) -> Tensor:
        return shapes[0] * (1 - shapes[0])

    def _entropy(self, *shapes: Tensor) -> Tensor:
        return entr(shapes[0]) + entr(1 - shapes[0])

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return (random(size, dtype=shapes[0].dtype, generator=generator) < shapes[0]).to(dtype)


class poisson_gen(Discrete):
    """Poisson's distribution, with mean `mu`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> mu = gs.tensor(2.0, requires_grad=True)
    >>> gs.stats.poisson.logpmf([1, 4], mu).sum().backward()
    >>> mu.grad
    tensor(0.5000)
    """

    shapes = ("mu",)

    def _is_valid(self, *shapes: Tensor) -> Any:
        return shapes[0] >= 0

    def _logpmf(self, k: Tensor, *shapes: Tensor) -> Tensor:
        return xlogy(k, shapes[0]) - lgamma(k + 1) - shapes[0]

    def _cdf(self, k: Tensor, *shapes: Tensor) -> Tensor:
        return gammaincc(k + 1, shapes[0])

    def _sf(self, k: Tensor, *shapes: Tensor) -> Tensor:
        return gammainc(k + 1, shapes[0])

    def _mean(self, *shapes: Tensor) -> Tensor:
        return shapes[0]

    def _var(self, *shapes: Tensor) -> Tensor:
        return shapes[0]

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.poisson(shapes[0], size, generator=generator)


class binom_gen(Discrete):
    """The binomial distribution: how many of `n` trials succeed with probability `p`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.binom.pmf([0, 1, 2], 2, 0.5)
    tensor([0.2500, 0.5000, 0.2500], dtype=gradsmith.float64)
    """

    shapes = ("n", "p")

    def _is_valid(self, *shapes: Tensor) -> Any:
        n, p = shapes
        return (n >= 0) & (n == floor(n)) & _is_probability(p)

    def _support(self, *shapes: Tensor) -> tuple[Any, Any]:
        return 0.0, shapes[0]

    def _logpmf(self, k: Tensor, *shapes: Tensor) -> Tensor:
        n, p = shapes
        ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
        return ways + xlogy(k, p) + xlog1py(n - k, -p)

    def _cdf(self, k: Tensor, *shapes: Tensor) -> Tensor:
        n, p = shapes
        return betaincc(k + 1, n - k, p)

    def _sf(self, k: Tensor, *shapes: Tensor) -> Tensor:
        n, p = shapes
        return betainc(k + 1, n - k, p)

    def _mean(self, *shapes: Tensor) -> Tensor:
        return shapes[0] * shapes[1]

    def _var(self, *shapes: Tensor) -> Tensor:
        n, p = shapes
        return n * p * (1 - p)

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.binomial(shapes[0].to(dtype), shapes[1], size, generator=generator)


class nbinom_gen(Discrete):
    """The negative binomial distribution: how many trials of probability `p` fail before `n` have succeeded.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.nbinom.mean(3, 0.5)
    tensor(3., dtype=gradsmith.float64)
    """

    shapes = ("n", "p")

    def _is_valid(self, *shapes: Tensor) -> Any:
        n, p = shapes
        return (n > 0) & (p > 0) & (p <= 1)

    def _logpmf(self, k: Tensor, *shapes: Tensor) -> Tensor:
        n, p = shapes
        return lgamma(n + k) - lgamma(k + 1) - lgamma(n) + n * log(p) + xlog1py(k, -p)

    def _cdf(self, k: Tensor, *shapes: Tensor) -> Tensor:
        n, p = shapes
        return betainc(n, k + 1, p)

    def _sf(self, k: Tensor, *shapes: Tensor) -> Tensor:
        n, p = shapes
        return betaincc(n, k + 1, p)

    def _mean(self, *shapes: Tensor) -> Tensor:
        n, p = shapes
        return n * (1 - p) / p

    def _var(self, *shapes: Tensor) -> Tensor:
        n, p = shapes
        return n * (1 - p) / square(p)

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.negative_binomial(shapes[0], shapes[1], size, generator=generator)


class geom_gen(Discrete):
    """The geometric distribution: how many trials of probability `p` it takes until one succeeds.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.geom.pmf([1, 2, 3], 0.5)
    tensor([0.5000, 0.2500, 0.1250], dtype=gradsmith.float64)
    """

    shapes = ("p",)

    def _is_valid(self, *shapes: Tensor) -> Any:
        return (shapes[0] > 0) & (shapes[0] <= 1)

    def _support(self, *shapes: Tensor) -> tuple[Any, Any]:
        return 1.0, math.inf

    def _logpmf(self, k: Tensor, *shapes: Tensor) -> Tensor:
        return xlog1py(k - 1, -shapes[0]) + log(shapes[0])

    def _cdf(self, k: Tensor, *shapes: Tensor) -> Tensor:
        return -expm1(k * log1p(-shapes[0]))

    def _sf(self, k: Tensor, *shapes: Tensor) -> Tensor:
        return exp(k * log1p(-shapes[0]))

    def _mean(self, *shapes: Tensor) -> Tensor:
        return 1 / shapes[0]

    def _var(self, *shapes: Tensor) -> Tensor:
        return (1 - shapes[0]) / square(shapes[0])

    def _entropy(self, *shapes: Tensor) -> Tensor:
        return (entr(shapes[0]) + entr(1 - shapes[0])) / shapes[0]

    def _rvs(self, size: Any, dtype: Any, generator: Any, *shapes: Tensor) -> Tensor:
        return draws.geometric(shapes[0], size, generator=generator)


bernoulli = bernoulli_gen()
poisson = poisson_gen()
binom = binom_gen()
nbinom = nbinom_gen()
geom = geom_gen()
