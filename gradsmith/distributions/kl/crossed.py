"""Divergences of distributions of different classes.

A divergence is the cross entropy of p and q, which is the expectation under p of ``-log q(x)``, less the entropy of p.
The cross entropy with each class of q needs certain expectations under p: of x, ``log x`` or ``exp(-x / scale)``, say.
So there are functions for the cross entropies by class of q, functions for the expectations by class of p, and a table
that says for which pairs both are there, and for which p has values that are impossible under q.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gradsmith.distributions.discrete.bernoulli import Bernoulli
from gradsmith.distributions.discrete.binomial import Binomial
from gradsmith.distributions.discrete.poisson import Poisson
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.half_line.exponential import Exponential
from gradsmith.distributions.half_line.gamma import Gamma
from gradsmith.distributions.half_line.pareto import Pareto
from gradsmith.distributions.kl.registry import register_kl
from gradsmith.distributions.real_line.gumbel import Gumbel
from gradsmith.distributions.real_line.laplace import Laplace
from gradsmith.distributions.real_line.normal import Normal
from gradsmith.distributions.real_line.uniform import Uniform
from gradsmith.distributions.unit_interval.beta import Beta
from gradsmith.distributions.unit_interval.continuous_bernoulli import ContinuousBernoulli
from gradsmith.distributions.utils import euler_constant
from gradsmith.generated import digamma, erf, exp, lgamma, log, square, where, xlogy
from gradsmith.generated.special_namespace import betaln
from gradsmith.generated.tensor import Tensor

__all__: list[str] = []

# ---- expectations under p


def _mean_log(p: Any) -> Tensor:
    """Of ``log x``."""
    if isinstance(p, Beta):
        return digamma(p.concentration1) - digamma(p.concentration1 + p.concentration0)
    if isinstance(p, Exponential):
        return -log(p.rate) - euler_constant
    if isinstance(p, Gamma):
        return digamma(p.concentration) - log(p.rate)
    if isinstance(p, Pareto):
        return log(p.scale) + 1 / p.alpha
    return _mean_log_between(p.low, p.high)


def _mean_log_between(low: Tensor, high: Tensor) -> Tensor:
    """Of ``log x`` for x that is uniform."""
    return (xlogy(high, high) - xlogy(low, low)) / (high - low) - 1


def _mean_decay(p: Any, scale: Tensor) -> Tensor:
    """Of ``exp(-x / scale)``."""
    if isinstance(p, Exponential):
        return p.rate * scale / (p.rate * scale + 1)
    if isinstance(p, Gamma):
        return (1 + 1 / (p.rate * scale)) ** -p.concentration
    if isinstance(p, Normal):
        return exp(square(p.scale / scale) / 2 - p.loc / scale)
    return (exp(-p.low / scale) - exp(-p.high / scale)) * scale / (p.high - p.low)  # type: ignore[no-any-return]


def _mean_distance(p: Normal, loc: Tensor) -> Tensor:
    """Of ``|x - loc|``."""
    z = (p.loc - loc) / p.scale
    return p.scale * (math.sqrt(2 / math.pi) * exp(-square(z) / 2) + z * erf(z / math.sqrt(2)))


# ---- cross entropies by class of q


def _with_normal(p: Distribution, q: Normal) -> Tensor:
    spread = (p.variance + square(p.mean - q.loc)) / (2 * square(q.scale))
    return log(q.scale) + math.log(2 * math.pi) / 2 + spread


def _with_exponential(p: Distribution, q: Exponential) -> Tensor:
    return q.rate * p.mean - log(q.rate)


def _with_gamma(p: Distribution, q: Gamma) -> Tensor:
    normalizer = lgamma(q.concentration) - q.concentration * log(q.rate)
    return normalizer - (q.concentration - 1) * _mean_log(p) + q.rate * p.mean


def _with_continuous_bernoulli(p: Distribution, q: ContinuousBernoulli) -> Tensor:
    return q._log_normalizer(q.logits) - p.mean * q.logits


def _with_uniform(p: Any, q: Uniform) -> Tensor:
    return log(q.high - q.low)


def _with_gumbel(p: Distribution, q: Gumbel) -> Tensor:
    return log(q.scale) + (p.mean - q.loc) / q.scale + exp(q.loc / q.scale) * _mean_decay(p, q.scale)


def _with_laplace(p: Any, q: Laplace) -> Tensor:
    return log(2 * q.scale) + _mean_distance(p, q.loc) / q.scale


def _with_pareto(p: Any, q: Pareto) -> Tensor:
    return (q.alpha + 1) * _mean_log(p) - log(q.alpha) - q.alpha * log(q.scale)


def _with_beta(p: Uniform, q: Beta) -> Tensor:
    of_one = (q.concentration1 - 1) * _mean_log_between(p.low, p.high)
    of_zero = (q.concentration0 - 1) * _mean_log_between(1 - p.high, 1 - p.low)
    return betaln(q.concentration1, q.concentration0) - of_one - of_zero


def _with_poisson(p: Bernoulli, q: Poisson) -> Tensor:
    return q.rate - xlogy(p.probs, q.rate)


# ---- where the divergence is infinite

_BOUNDS: dict[type, Callable[[Any], tuple[Any, Any]]] = {  # of the values that are possible
    Beta: lambda q: (0.0, 1.0),
    ContinuousBernoulli: lambda q: (0.0, 1.0),
    Exponential: lambda q: (0.0, math.inf),
    Gamma: lambda q: (0.0, math.inf),
    Pareto: lambda q: (q.scale, math.inf),
    Uniform: lambda q: (q.low, q.high),
}


def _proper(p: Any, q: Any, type_q: type) -> tuple[Tensor | None, Any]:
    """Where the divergence is infinite, and p with other parameters there: all formulas are defined for it."""
    if isinstance(p, Pareto):
        infinite = p.alpha <= (2 if type_q is Normal else 1)
        return infinite, Pareto(p.scale, where(infinite, 3.0, p.alpha), validate_args=False)
    if type_q not in _BOUNDS:
        return None, p
    low, high = _BOUNDS[type_q](q)
    if isinstance(p, Uniform):
        infinite = (p.low < low) | (p.high > high)
        return infinite, Uniform(where(infinite, 0.25, p.low), where(infinite, 0.75, p.high), validate_args=False)
    return (None, p) if isinstance(low, float) else ((low > 0) | (high < 1), p)


# ---- pairs

_CROSS_ENTROPIES: dict[type, Callable[[Any, Any], Tensor]] = {
    Beta: _with_beta,
    ContinuousBernoulli: _with_continuous_bernoulli,
    Exponential: _with_exponential,
    Gamma: _with_gamma,
    Gumbel: _with_gumbel,
    Laplace: _with_laplace,
    Normal: _with_normal,
    Pareto: _with_pareto,
    Poisson: _with_poisson,
    Uniform: _with_uniform,
}
_FINITE: dict[type, tuple[type, ...]] = {
    Bernoulli: (Poisson,),
    Beta: (ContinuousBernoulli, Exponential, Gamma, Normal, Uniform),
    ContinuousBernoulli: (Exponential, Normal, Uniform),
    Exponential: (Gamma, Gumbel, Normal),
    Gamma: (Exponential, Gumbel, Normal),
    Gumbel: (Normal,),
    Laplace: (Normal,),
    Normal: (Gumbel, Laplace),
    Pareto: (Exponential, Gamma, Normal),
    Uniform: (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Normal, Pareto),
}
_BOUNDED = (Beta, ContinuousBernoulli, Pareto, Uniform)
_INFINITE: dict[type, tuple[type, ...]] = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: _BOUNDED,
    Gamma: _BOUNDED,
    Gumbel: (*_BOUNDED, Exponential, Gamma),
    Laplace: (*_BOUNDED, Exponential, Gamma),
    Normal: (*_BOUNDED, Exponential, Gamma),
    Pareto: (Beta, ContinuousBernoulli, Uniform),
    Poisson: (Bernoulli, Binomial),
}


def _register_finite(type_p: type, type_q: type) -> None:
    cross_entropy = _CROSS_ENTROPIES[type_q]

    @register_kl(type_p, type_q)
    def divergence(p: Any, q: Any) -> Tensor:
        infinite, proper = _proper(p, q, type_q)
        found = cross_entropy(proper, q) - proper.entropy()
        return found if infinite is None else where(infinite, math.inf, found)


def _infinite(p: Any, q: Any) -> Tensor:
    """Some values of p are impossible under q."""
    shape = _shape_of_both(p, q)
    like: Tensor = p._param if isinstance(p, (Bernoulli, ContinuousBernoulli)) else p.mean
    return like.new_full(shape, math.inf)


def _shape_of_both(p: Any, q: Any) -> tuple[int, ...]:
    from gradsmith.counting import broadcast_shapes

    return tuple(broadcast_shapes(p.batch_shape, q.batch_shape))


for _p, _others in _FINITE.items():
    for _q in _others:
        _register_finite(_p, _q)
for _p, _others in _INFINITE.items():
    for _q in _others:
        register_kl(_p, _q)(_infinite)
