"""Divergences of two distributions of one class."""

from __future__ import annotations

import math

from gradsmith.distributions.combined.independent import Independent
from gradsmith.distributions.combined.transformed_distribution import TransformedDistribution
from gradsmith.distributions.discrete.bernoulli import Bernoulli
from gradsmith.distributions.discrete.binomial import Binomial
from gradsmith.distributions.discrete.categorical import Categorical
from gradsmith.distributions.discrete.geometric import Geometric
from gradsmith.distributions.discrete.one_hot_categorical import OneHotCategorical
from gradsmith.distributions.discrete.poisson import Poisson
from gradsmith.distributions.exp_family import ExponentialFamily
from gradsmith.distributions.half_line.exponential import Exponential
from gradsmith.distributions.half_line.gamma import Gamma
from gradsmith.distributions.half_line.half_normal import HalfNormal
from gradsmith.distributions.half_line.pareto import Pareto
from gradsmith.distributions.kl.registry import kl_divergence, register_kl
from gradsmith.distributions.real_line.cauchy import Cauchy
from gradsmith.distributions.real_line.gumbel import Gumbel
from gradsmith.distributions.real_line.laplace import Laplace
from gradsmith.distributions.real_line.normal import Normal
from gradsmith.distributions.real_line.uniform import Uniform
from gradsmith.distributions.unit_interval.beta import Beta
from gradsmith.distributions.unit_interval.continuous_bernoulli import ContinuousBernoulli
from gradsmith.distributions.utils import _sum_rightmost, checks_values, euler_constant
from gradsmith.distributions.vectors.dirichlet import Dirichlet
from gradsmith.generated import abs, digamma, exp, lgamma, log, logsigmoid, square, where, xlogy
from gradsmith.generated.special_namespace import betaln
from gradsmith.generated.tensor import Tensor

__all__: list[str] = []


# ---- counts and classes


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    of_one = _where_possible(p.probs, q.probs, p.probs * (logsigmoid(p.logits) - logsigmoid(q.logits)))
    of_zero = (1 - p.probs) * (logsigmoid(-p.logits) - logsigmoid(-q.logits))
    return of_one + _where_possible(1 - p.probs, 1 - q.probs, of_zero)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    return _where_possible(p.probs, q.probs, p.probs * (p.logits - q.logits)).sum(-1)


def _where_possible(p: Tensor, q: Tensor, term: Tensor) -> Tensor:
    """The term of an outcome: none where it never occurs, infinite where only q says so."""
    return where(p == 0, 0.0, where(q == 0, math.inf, term))


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot_categorical(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categorical(p._categorical, q._categorical)  # type: ignore[no-any-return]


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    fewer = p.total_count < q.total_count
    if checks_values(fewer) and bool(fewer.any()):
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    of_trial = p.probs * (p.logits - q.logits) + logsigmoid(-p.logits) - logsigmoid(-q.logits)
    found = where(p.total_count > q.total_count, math.inf, p.total_count * of_trial)
    return found if checks_values(fewer) else where(fewer, math.nan, found)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - logsigmoid(-q.logits) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return xlogy(p.rate, p.rate) - xlogy(p.rate, q.rate) - (p.rate - q.rate)


# ---- numbers


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = square(p.scale / q.scale)
    return (ratio + square((p.loc - q.loc) / q.scale) - 1 - log(ratio)) / 2


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return _normal(p.base_dist, q.base_dist)  # type: ignore[no-any-return]


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    # Chyzak and Nielsen, A closed-form formula for the Kullback-Leibler divergence between Cauchy distributions, 2019
    return log(square(p.scale + q.scale) + square(p.loc - q.loc)) - log(4 * p.scale * q.scale)


@register_kl(Laplace, Laplace)
def _laplace(p: Laplace, q: Laplace) -> Tensor:
    distance, ratio = abs(p.loc - q.loc), p.scale / q.scale
    return distance / q.scale + ratio * exp(-distance / p.scale) - log(ratio) - 1


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Gumbel, q: Gumbel) -> Tensor:
    ratio, shift = p.scale / q.scale, (p.loc - q.loc) / q.scale
    return shift - log(ratio) + ratio * euler_constant + exp(lgamma(1 + ratio) - shift) - (1 + euler_constant)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    inside = (q.low <= p.low) & (p.high <= q.high)
    return where(inside, log((q.high - q.low) / (p.high - p.low)), math.inf)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - log(ratio) - 1


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    return b * log(p.rate / q.rate) + lgamma(b) - lgamma(a) + (a - b) * digamma(a) + (q.rate / p.rate - 1) * a


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    found = q.alpha * log(p.scale / q.scale) - log(ratio) + ratio - 1
    return where(p.scale < q.scale, math.inf, found)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    a, b = p.concentration1, p.concentration0
    more_a, more_b = a - q.concentration1, b - q.concentration0
    spread = more_a * digamma(a) + more_b * digamma(b) - (more_a + more_b) * digamma(a + b)
    return betaln(q.concentration1, q.concentration0) - betaln(a, b) + spread


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    return p.mean * (p.logits - q.logits) - p._log_normalizer(p.logits) + q._log_normalizer(q.logits)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    total = p.concentration.sum(-1)
    spread = digamma(p.concentration) - digamma(total).unsqueeze(-1)
    normalizers = q._log_normalizer(*q._natural_params) - p._log_normalizer(*p._natural_params)
    return normalizers + ((p.concentration - q.concentration) * spread).sum(-1)


# ---- families and combinations


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """The divergence of Bregman of the normalizer, at the natural parameters."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman "
            f"divergences: {type(p).__name__} and {type(q).__name__}"
        )
    _, normalizer, gradients = p._expected_statistics()
    found = q._log_normalizer(*q._natural_params) - normalizer
    for mine, other, gradient in zip(p._natural_params, q._natural_params, gradients):
        term = (other - mine) * gradient
        found = found - _sum_rightmost(term, term.ndim - len(p.batch_shape))
    return found


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("the two take different numbers of dimensions together")
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("the two have different transforms, or events of different shapes")
    return kl_divergence(p.base_dist, q.base_dist)
