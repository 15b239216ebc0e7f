"""Divergences of normal distributions of vectors.

With covariances P and Q of n rows, ``2 KL = log det Q - log det P + trace(Q^-1 P) + d^T Q^-1 d - n``, where d is the
difference of the means. If the columns of M are such that ``M M^T = P``, the last three terms are the squares of the
norms that these columns and d have by the inverse of Q.
"""

from __future__ import annotations

from typing import Any

from gradsmith.counting import broadcast_shapes
from gradsmith.distributions.kl.registry import register_kl
from gradsmith.distributions.vectors.lowrank_multivariate_normal import LowRankMultivariateNormal
from gradsmith.distributions.vectors.multivariate_normal import MultivariateNormal
from gradsmith.distributions.vectors.triangular import half_log_determinant
from gradsmith.generated import cat, diag_embed, sqrt, square
from gradsmith.generated.tensor import Tensor
from gradsmith.generated.triangular import linalg_solve_triangular

__all__: list[str] = []


@register_kl(MultivariateNormal, MultivariateNormal)
@register_kl(MultivariateNormal, LowRankMultivariateNormal)
@register_kl(LowRankMultivariateNormal, MultivariateNormal)
@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _normals(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two (Low Rank) Multivariate Normals with different event shapes cannot be computed: "
            f"{p.event_shape} and {q.event_shape}"
        )
    norms = _square_norms(q, _columns(p)) + _square_norms(q, (q.loc - p.loc).unsqueeze(-1))
    found: Tensor = _half_log_determinant(q) - _half_log_determinant(p) + (norms - p.event_shape[0]) / 2
    return found


def _columns(p: Any) -> Tensor:
    if isinstance(p, MultivariateNormal):
        return p._unbroadcasted_scale_tril
    diagonal = diag_embed(sqrt(p._unbroadcasted_cov_diag))
    factor = p._unbroadcasted_cov_factor
    batch = broadcast_shapes(tuple(factor.shape[:-2]), tuple(diagonal.shape[:-2]))
    return cat([factor.expand((*batch, -1, -1)), diagonal.expand((*batch, -1, -1))], -1)


def _square_norms(q: Any, columns: Tensor) -> Tensor:
    """The sum of the squares of the norms of columns by the inverse of the covariance."""
    if isinstance(q, MultivariateNormal):
        return square(_solved(q._unbroadcasted_scale_tril, columns)).sum((-2, -1))
    over = columns / q._unbroadcasted_cov_diag.unsqueeze(-1)
    inner = _solved(q._capacitance_tril, q._unbroadcasted_cov_factor.mT @ over)
    norms: Tensor = (columns * over).sum((-2, -1)) - square(inner).sum((-2, -1))
    return norms


def _solved(factor: Tensor, columns: Tensor) -> Tensor:
    batch = broadcast_shapes(tuple(factor.shape[:-2]), tuple(columns.shape[:-2]))
    return linalg_solve_triangular(factor.expand((*batch, -1, -1)), columns.expand((*batch, -1, -1)), upper=False)


def _half_log_determinant(p: Any) -> Tensor:
    if isinstance(p, MultivariateNormal):
        return half_log_determinant(p._unbroadcasted_scale_tril)
    found: Tensor = p._log_determinant() / 2
    return found
