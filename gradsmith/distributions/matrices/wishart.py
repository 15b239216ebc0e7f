"""Wishart's distribution."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from gradsmith.distributions import constraints
from gradsmith.distributions.exp_family import ExponentialFamily
from gradsmith.distributions.half_line.chi2 import Chi2
from gradsmith.distributions.utils import as_shape, checks_values, lazy_property, standard_normal_like
from gradsmith.distributions.vectors.multivariate_normal import factor_by_name, given_matrix
from gradsmith.distributions.vectors.triangular import half_log_determinant, precision_of_factor
from gradsmith.generated import clamp_min, diag_embed, digamma, mvlgamma, slogdet, sqrt, square, where
from gradsmith.generated.tensor import Tensor
from gradsmith.generated.triangular import cholesky_solve
from gradsmith.runtime.arrays.limits import finfo
from gradsmith.runtime.tensors.factories.creation import arange, as_tensor
from gradsmith.runtime.tensors.queries import is_tensor

if TYPE_CHECKING:
    from gradsmith.distributions.utils import Parameter, Shape

__all__ = ["Wishart"]


class Wishart(ExponentialFamily):
    """Wishart's distribution: of the sum of `df` products of normal vectors and their transposes.

    Parameters
    ----------
    df : float or Tensor
        Degrees of freedom, above n - 1; not only integers.
    covariance_matrix, precision_matrix, scale_tril : Tensor, optional
        The covariance of the vectors, its inverse or its Cholesky factor, of shape ``(..., n, n)``; one of the three
        is given.
    validate_args : bool, optional
        See `Distribution`.

    Raises
    ------
    ValueError
        There is not exactly one matrix, or `df` is too small.

    Notes
    -----
    Samples are products of a triangular matrix and its transpose, with normal numbers below the diagonal and roots of
    chi-squared ones on it (Bartlett's decomposition).

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.Wishart(3.0, gs.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self, df: Parameter, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        from gradsmith.counting import broadcast_shapes

        name, matrix = given_matrix(covariance_matrix, precision_matrix, scale_tril)
        count = df if is_tensor(df) else as_tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch = as_shape(broadcast_shapes(tuple(matrix.shape[:-2]), tuple(count.shape)))
        self.df = count.expand(batch)
        _require_degrees(self.df, matrix.shape[-1])
        self.__dict__[name] = matrix.expand((*batch, -1, -1))
        super().__init__(batch, matrix.shape[-2:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_by_name(name, matrix)

    @property
    def arg_constraints(self) -> Any:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        new = self._expand_parameters(Wishart, batch_shape, _instance)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return new

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        return self._unbroadcasted_scale_tril.expand((*self._batch_shape, *self._event_shape))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance of the vectors."""
        factor = self._unbroadcasted_scale_tril
        return (factor @ factor.mT).expand((*self._batch_shape, *self._event_shape))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        found = precision_of_factor(self._unbroadcasted_scale_tril)
        return found.expand((*self._batch_shape, *self._event_shape))

    @property
    def mean(self) -> Tensor:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self._event_shape[-1] - 1
        return where(factor > 0, factor, math.nan)[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        covariance = self.covariance_matrix
        diagonal = covariance.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df[..., None, None] * (square(covariance) + outer)

    def rsample(self, sample_shape: Shape = (), max_try_correction: int | None = None) -> Tensor:
        """Random matrices that have gradients in the parameters.

        Parameters
        ----------
        sample_shape : tuple of int, optional
            How many of them.
        max_try_correction : int, optional
            How often matrices are drawn anew that are singular within rounding, which happens where `df` is small;
            10 by default.

        Returns
        -------
        Tensor
        """
        shape = as_shape(sample_shape)
        sample = self._bartlett(shape)
        for _ in range(10 if max_try_correction is None else max_try_correction):
            if not checks_values(sample):
                break
            regular = self.support.check(sample.detach())
            if bool(regular.all()):
                break
            sample = where(regular[..., None, None], sample, self._bartlett(shape))
        return sample

    def _bartlett(self, sample_shape: tuple[int, ...]) -> Tensor:
        n = self._event_shape[-1]
        degrees = self.df.unsqueeze(-1) - arange(n, dtype=self.df.dtype, device=self.df.device)
        diagonal = sqrt(Chi2(degrees, validate_args=False).rsample(sample_shape))
        diagonal = clamp_min(diagonal, finfo(diagonal.dtype).eps)
        below = standard_normal_like((*sample_shape, *self._batch_shape, n, n), diagonal).tril(-1)
        factor = self._unbroadcasted_scale_tril @ (below + diag_embed(diagonal))
        return factor @ factor.mT

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._checked(value)
        n = self._event_shape[-1]
        factor = self._unbroadcasted_scale_tril.expand((*value.shape[:-2], n, n)) if value.ndim > 2 else self.scale_tril
        trace = cholesky_solve(value.expand(factor.shape), factor).diagonal(dim1=-2, dim2=-1).sum(-1)
        density = (self.df - n - 1) / 2 * slogdet(value)[1] - trace / 2
        return density - self.df * self._half_log_volume() - mvlgamma(self.df / 2, n)

    def entropy(self) -> Tensor:
        n, half = self._event_shape[-1], self.df / 2
        spread = (self.df - n - 1) / 2 * _mvdigamma(half, n)
        return (n + 1) * self._half_log_volume() + mvlgamma(half, n) - spread + self.df * n / 2

    def _half_log_volume(self) -> Tensor:
        """Half the logarithm of the determinant of twice the covariance."""
        return half_log_determinant(self._unbroadcasted_scale_tril) + self._event_shape[-1] * math.log(2) / 2

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        n = self._event_shape[-1]
        degrees = y + (n + 1) / 2
        return degrees * (n * math.log(2) - slogdet(-2 * x)[1]) + mvlgamma(degrees, n)


def _require_degrees(df: Tensor, n: int) -> None:
    if not checks_values(df):
        return
    if bool((df <= n - 1).any()):
        raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
    if bool((df < n).any()):
        warnings.warn(
            "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
            stacklevel=3,
        )


def _mvdigamma(x: Tensor, n: int) -> Tensor:
    """The derivative of the logarithm of the multivariate gamma function."""
    return digamma(x.unsqueeze(-1) - arange(n, dtype=x.dtype, device=x.device) / 2).sum(-1)
