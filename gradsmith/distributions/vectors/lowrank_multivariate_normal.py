"""The normal distribution of vectors with a covariance of low rank beside a diagonal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.utils import lazy_property, standard_normal_like
from gradsmith.distributions.vectors.triangular import half_log_determinant, mahalanobis, times_vectors
from gradsmith.generated import broadcast_tensors, diag_embed, log, reciprocal, sqrt, square
from gradsmith.generated.decompositions import linalg_cholesky
from gradsmith.generated.tensor import Tensor
from gradsmith.generated.triangular import linalg_solve_triangular
from gradsmith.runtime.tensors.factories.creation import eye

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Shape

__all__ = ["LowRankMultivariateNormal"]


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors with covariance ``cov_factor @ cov_factor.mT + diag(cov_diag)``.

    Determinant and inverse are those of a matrix with as many rows as the rank is, by Woodbury's identity and the
    matrix determinant lemma.

    Parameters
    ----------
    loc : Tensor
        The mean, of shape ``(..., n)``.
    cov_factor : Tensor
        Of shape ``(..., n, rank)``.
    cov_diag : Tensor
        Of shape ``(..., n)``, positive.
    validate_args : bool, optional
        See `Distribution`.

    Raises
    ------
    ValueError
        The shapes do not fit.

    Examples
    --------
    >>> import gradsmith as gs
    >>> normal = gs.distributions.LowRankMultivariateNormal(gs.zeros(2), gs.tensor([[1.0], [0.0]]), gs.ones(2))
    >>> normal.variance
    tensor([2., 1.])
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        _require_fitting(loc, cov_factor, cov_diag)
        try:
            loc_, self.cov_factor, diag_ = broadcast_tensors(loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1))
        except RuntimeError:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from None
        self.loc, self.cov_diag = loc_[..., 0], diag_[..., 0]
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = _capacitance_tril(cov_factor, cov_diag)
        super().__init__(self.loc.shape[:-1], self.loc.shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._expand_parameters(LowRankMultivariateNormal, batch_shape, _instance)
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            new.__dict__[name] = self.__dict__[name]
        return new

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:
        found = square(self._unbroadcasted_cov_factor).sum(-1) + self._unbroadcasted_cov_diag
        return found.expand((*self._batch_shape, *self._event_shape))

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        # That of the covariance over the roots of its diagonal part: no eigenvalue of this is less than 1.
        root = sqrt(self._unbroadcasted_cov_diag).unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        identity = eye(self._event_shape[0], dtype=root.dtype, device=root.device)
        return self._matrices(root * linalg_cholesky(scaled @ scaled.mT + identity))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        factor = self._unbroadcasted_cov_factor
        return self._matrices(factor @ factor.mT + diag_embed(self._unbroadcasted_cov_diag))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance, by Woodbury's identity."""
        over = _over_diagonal(self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag)
        solved = linalg_solve_triangular(self._capacitance_tril, over, upper=False)
        return self._matrices(diag_embed(reciprocal(self._unbroadcasted_cov_diag)) - solved.mT @ solved)

    def _matrices(self, unbroadcast: Tensor) -> Tensor:
        return unbroadcast.expand((*self._batch_shape, *self._event_shape, *self._event_shape))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        of_factor = standard_normal_like((*shape[:-1], self.cov_factor.shape[-1]), self.loc)
        of_diagonal = standard_normal_like(shape, self.loc)
        moved = times_vectors(self._unbroadcasted_cov_factor, of_factor)
        return self.loc + moved + sqrt(self._unbroadcasted_cov_diag) * of_diagonal

    def log_prob(self, value: Tensor) -> Tensor:
        difference = self._checked(value) - self.loc
        over = _over_diagonal(self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag)
        distance = (square(difference) / self._unbroadcasted_cov_diag).sum(-1)
        distance = distance - mahalanobis(self._capacitance_tril, times_vectors(over, difference))
        return -(self._event_shape[0] * math.log(2 * math.pi) + self._log_determinant() + distance) / 2

    def entropy(self) -> Tensor:
        constant = self._event_shape[0] * (1 + math.log(2 * math.pi))
        return ((constant + self._log_determinant()) / 2).expand(self._batch_shape)

    def _log_determinant(self) -> Tensor:
        return 2 * half_log_determinant(self._capacitance_tril) + log(self._unbroadcasted_cov_diag).sum(-1)


def _require_fitting(loc: Tensor, cov_factor: Tensor, cov_diag: Tensor) -> None:
    if loc.ndim < 1:
        raise ValueError("loc must be at least one-dimensional.")
    if cov_factor.ndim < 2:
        raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
    n = loc.shape[-1]
    if cov_factor.shape[-2] != n:
        raise ValueError(f"cov_factor must be a batch of matrices with shape {n} x m, got {cov_factor.shape}")
    if cov_diag.shape[-1:] != (n,):
        raise ValueError(f"cov_diag must be a batch of vectors with shape {(n,)}, got {cov_diag.shape}")


def _over_diagonal(cov_factor: Tensor, cov_diag: Tensor) -> Tensor:
    """The transpose of the factor over the diagonal part."""
    return cov_factor.mT / cov_diag.unsqueeze(-2)


def _capacitance_tril(cov_factor: Tensor, cov_diag: Tensor) -> Tensor:
    """The Cholesky factor of ``1 + W.T D^-1 W``."""
    capacitance = _over_diagonal(cov_factor, cov_diag) @ cov_factor
    return linalg_cholesky(capacitance + eye(cov_factor.shape[-1], dtype=cov_factor.dtype, device=cov_factor.device))
