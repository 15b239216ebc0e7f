"""The normal distribution of vectors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from gradsmith.distributions import constraints
from gradsmith.distributions.distribution import Distribution
from gradsmith.distributions.utils import as_shape, lazy_property, standard_normal_like
from gradsmith.distributions.vectors.triangular import (
    factor_of_precision,
    half_log_determinant,
    mahalanobis,
    precision_of_factor,
    times_vectors,
)
from gradsmith.generated import square
from gradsmith.generated.decompositions import linalg_cholesky
from gradsmith.generated.tensor import Tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Shape

__all__ = ["MultivariateNormal"]

# The name by which libraries import it from here.
_precision_to_scale_tril = factor_of_precision


class MultivariateNormal(Distribution):
    """The normal distribution of vectors.

    Parameters
    ----------
    loc : Tensor
        The mean, of shape ``(..., n)``.
    covariance_matrix, precision_matrix, scale_tril : Tensor, optional
        The covariance, its inverse or its Cholesky factor, of shape ``(..., n, n)``; one of the three is given, and
        the factor is what all computations use.
    validate_args : bool, optional
        See `Distribution`.

    Raises
    ------
    ValueError
        There is no such vector or matrix, or not exactly one matrix.

    Examples
    --------
    >>> import gradsmith as gs
    >>> normal = gs.distributions.MultivariateNormal(gs.zeros(2), gs.tensor([[2.0, 0.0], [0.0, 8.0]]))
    >>> normal.log_prob(gs.zeros(2)) + gs.tensor(8 * gs.pi).log()
    tensor(0.)
    """

    arg_constraints: ClassVar[Any] = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self, loc: Tensor, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        name, matrix = given_matrix(covariance_matrix, precision_matrix, scale_tril)
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        if matrix.shape[-2:] != (loc.shape[-1], loc.shape[-1]):
            raise ValueError(f"{name} has shape {matrix.shape}, which does not fit loc of shape {loc.shape}")
        batch = _batch_of(loc, matrix)
        self.loc = loc.expand((*batch, -1))
        self.__dict__[name] = matrix.expand((*batch, -1, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_by_name(name, matrix)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._expand_parameters(MultivariateNormal, batch_shape, _instance)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return new

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        return self._matrices(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self._matrices(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return self._matrices(precision_of_factor(self._unbroadcasted_scale_tril))

    def _matrices(self, unbroadcast: Tensor) -> Tensor:
        return unbroadcast.expand((*self._batch_shape, *self._event_shape, *self._event_shape))

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        found = square(self._unbroadcasted_scale_tril).sum(-1)
        return found.expand((*self._batch_shape, *self._event_shape))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        noise = standard_normal_like(self._extended_shape(sample_shape), self.loc)
        return self.loc + times_vectors(self._unbroadcasted_scale_tril, noise)

    def log_prob(self, value: Tensor) -> Tensor:
        difference = self._checked(value) - self.loc
        distance = mahalanobis(self._unbroadcasted_scale_tril, difference)
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -(distance + constant) / 2 - half_log_determinant(self._unbroadcasted_scale_tril)

    def entropy(self) -> Tensor:
        constant = self._event_shape[0] * (1 + math.log(2 * math.pi)) / 2
        return (half_log_determinant(self._unbroadcasted_scale_tril) + constant).expand(self._batch_shape)


def given_matrix(covariance: Tensor | None, precision: Tensor | None, factor: Tensor | None) -> tuple[str, Tensor]:
    """The name and the value of the one matrix that is given."""
    matrices = {"covariance_matrix": covariance, "precision_matrix": precision, "scale_tril": factor}
    given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
    if len(given) != 1:
        raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
    name, matrix = given[0]
    if matrix.ndim < 2:
        raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
    return name, matrix


def factor_by_name(name: str, matrix: Tensor) -> Tensor:
    """The Cholesky factor of the covariance that is given by one of three names."""
    if name == "scale_tril":
        return matrix
    return linalg_cholesky(matrix) if name == "covariance_matrix" else factor_of_precision(matrix)


def _batch_of(loc: Tensor, matrix: Tensor) -> tuple[int, ...]:
    from gradsmith.counting import broadcast_shapes

    return as_shape(broadcast_shapes(tuple(matrix.shape[:-2]), tuple(loc.shape[:-1])))
