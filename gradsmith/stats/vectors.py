"""Distributions of vectors, under SciPy's names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradsmith.distributions.utils import checks_values
from gradsmith.distributions.vectors.triangular import half_log_determinant, mahalanobis
from gradsmith.generated import abs, cat, diag_embed, digamma, exp, lgamma, log, square, where, xlogy
from gradsmith.generated.decompositions import linalg_cholesky
from gradsmith.generated.linalg_namespace import eigh
from gradsmith.generated.tensor import Tensor
from gradsmith.random.continuous import standard_normal
from gradsmith.random.gammas import dirichlet as draw_dirichlet
from gradsmith.runtime.arrays.limits import finfo
from gradsmith.runtime.tensors.factories.creation import eye, zeros
from gradsmith.stats.base import Frozen, as_generator, tensors

__all__ = ["dirichlet", "multivariate_normal"]


class dirichlet_gen:
    """Dirichlet's distribution of vectors of the simplex.

    As in SciPy, the numbers of a vector stand along the first dimension of `x`, and the last of them may be left out.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.stats.dirichlet.logpdf([0.25, 0.75], [1.0, 1.0])
    tensor(0., dtype=gradsmith.float64)
    """

    name = "dirichlet"

    def __call__(self, alpha: Any) -> Frozen:
        """The distribution with parameters, so that they need not be given again."""
        return Frozen(self, [alpha])

    def __repr__(self) -> str:
        return "<gradsmith.stats.dirichlet>"

    def logpdf(self, x: Any, alpha: Any) -> Tensor:
        """The logarithm of the density.

        Parameters
        ----------
        x : array or Tensor
            Of shape ``(n, ...)`` or ``(n - 1, ...)``.
        alpha : array or Tensor
            Of shape ``(n,)``, positive.

        Returns
        -------
        Tensor
            Of the shape of `x` without the first dimension.

        Raises
        ------
        ValueError
            The shapes do not fit, `alpha` is not positive, or `x` is not in the simplex.
        """
        value, concentration = tensors("dirichlet.logpdf", x, alpha)
        _require_concentration(concentration)
        value = _require_simplex(value, concentration.shape[0])
        powers = (concentration - 1).reshape((-1, *[1] * (value.ndim - 1)))
        return xlogy(powers, value).sum(0) - self._log_normalizer(concentration)

    def pdf(self, x: Any, alpha: Any) -> Tensor:
        """The density; arguments as those of `logpdf`."""
        return exp(self.logpdf(x, alpha))

    def mean(self, alpha: Any) -> Tensor:
        """The mean."""
        concentration = self._concentration("mean", alpha)
        return concentration / concentration.sum()

    def var(self, alpha: Any) -> Tensor:
        """The variances of the numbers."""
        concentration = self._concentration("var", alpha)
        total = concentration.sum()
        return concentration * (total - concentration) / (square(total) * (total + 1))

    def cov(self, alpha: Any) -> Tensor:
        """The covariance."""
        concentration = self._concentration("cov", alpha)
        total = concentration.sum()
        part = concentration / total
        return (diag_embed(part) - part.unsqueeze(-1) * part) / (total + 1)

    def entropy(self, alpha: Any) -> Tensor:
        """The expectation of the negative logarithm of the density."""
        concentration = self._concentration("entropy", alpha)
        total, n = concentration.sum(), concentration.shape[0]
        terms = (concentration - 1) * digamma(concentration)
        return self._log_normalizer(concentration) + (total - n) * digamma(total) - terms.sum()

    def rvs(self, alpha: Any, size: Any = 1, random_state: Any = None) -> Tensor:
        """Random vectors along the last dimension, with gradients; see `Continuous.rvs`."""
        concentration = self._concentration("rvs", alpha)
        generator = as_generator(random_state)
        return draw_dirichlet(concentration, size, dtype=concentration.dtype, generator=generator)

    def _concentration(self, method: str, alpha: Any) -> Tensor:
        (concentration,) = tensors(f"dirichlet.{method}", alpha)
        _require_concentration(concentration)
        return concentration

    def _log_normalizer(self, concentration: Tensor) -> Tensor:
        return lgamma(concentration).sum() - lgamma(concentration.sum())


def _require_concentration(alpha: Tensor) -> None:
    if alpha.ndim != 1:
        raise ValueError(f"Parameter vector 'alpha' must be one dimensional, but its shape is {tuple(alpha.shape)}.")
    if checks_values(alpha) and not bool((alpha > 0).all()):
        raise ValueError("All parameters must be greater than 0")


def _require_simplex(x: Tensor, n: int) -> Tensor:
    """The vectors with all of their numbers."""
    if x.ndim < 1 or x.shape[0] not in (n, n - 1):
        raise ValueError(
            f"Vector 'x' must have either the same number of entries as, or one entry fewer than, parameter vector "
            f"'alpha', which has {n}, but its shape is {tuple(x.shape)}."
        )
    if x.shape[0] == n - 1:
        x = cat([x, 1 - x.sum(0, keepdim=True)], 0)
    if checks_values(x):
        if not bool(((x >= 0) & (x <= 1)).all()):
            raise ValueError("Each entry in 'x' must be between zero and one.")
        if not bool((abs(x.sum(0) - 1) < 10 * finfo(x.dtype).eps ** 0.6).all()):
            raise ValueError("The input vector 'x' must lie within the normal simplex: its numbers have the sum 1.")
    return x


class multivariate_normal_gen:
    """The normal distribution of vectors.

    Examples
    --------
    >>> import gradsmith as gs
    >>> mean = gs.zeros(2, requires_grad=True)
    >>> gs.stats.multivariate_normal.logpdf([1.0, 2.0], mean, [[1.0, 0.0], [0.0, 2.0]]).backward()
    >>> mean.grad
    tensor([1., 1.])
    """

    name = "multivariate_normal"

    def __call__(self, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False) -> Frozen:
        """The distribution with parameters, so that they need not be given again."""
        return Frozen(self, [mean, cov, allow_singular])

    def __repr__(self) -> str:
        return "<gradsmith.stats.multivariate_normal>"

    def logpdf(self, x: Any, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False) -> Tensor:
        """The logarithm of the density.

        Parameters
        ----------
        x : array or Tensor
            Of shape ``(..., n)``; where n is 1, the last dimension may be left out.
        mean : array or Tensor, optional
            Of shape ``(n,)``; zeros by default.
        cov : array, Tensor or float, default 1
            The covariance of shape ``(n, n)``, its diagonal of shape ``(n,)``, or a number that stands along it.
        allow_singular : bool, default False
            Whether some combinations may have variance zero: the density is then that within the others. Gradients in
            the covariance are not defined where it has an eigenvalue twice.

        Returns
        -------
        Tensor

        Raises
        ------
        ValueError
            The shapes do not fit.
        LinAlgError
            The covariance is singular, and that is not allowed.
        """
        value, center, covariance = self._given("logpdf", x, mean, cov)
        n = covariance.shape[-1]
        if value.ndim == 0:
            value = value.reshape((1,))
        elif value.ndim == 1 and n == 1:
            value = value.unsqueeze(-1)
        if value.shape[-1] != n:
            raise ValueError(f"multivariate_normal.logpdf(): vectors of x have {value.shape[-1]} numbers, not {n}")
        return _log_density(value - center, covariance, allow_singular)

    def pdf(self, x: Any, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False) -> Tensor:
        """The density; arguments as those of `logpdf`."""
        return exp(self.logpdf(x, mean, cov, allow_singular))

    def entropy(self, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False) -> Tensor:
        """The expectation of the negative logarithm of the density."""
        covariance = self._given("entropy", None, mean, cov)[2]
        n = covariance.shape[-1]
        if allow_singular:
            eigenvalues, _, positive = _spectrum(covariance)
            terms = where(positive, log(where(positive, eigenvalues, 1.0)) + 1 + math.log(2 * math.pi), 0.0)
            return terms.sum(-1) / 2
        return half_log_determinant(linalg_cholesky(covariance)) + n * (1 + math.log(2 * math.pi)) / 2

    def mean(self, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False) -> Tensor:
        """The mean."""
        return self._given("mean", None, mean, cov)[1]

    def cov(self, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False) -> Tensor:
        """The covariance."""
        return self._given("cov", None, mean, cov)[2]

    def rvs(
        self, mean: Any = None, cov: Any = 1.0, allow_singular: bool = False, size: Any = 1, random_state: Any = None
    ) -> Tensor:
        """Random vectors along the last dimension, with gradients; see `Continuous.rvs`."""
        _, center, covariance = self._given("rvs", None, mean, cov)
        shape = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        noise = standard_normal(
            (*shape, covariance.shape[-1]), dtype=covariance.dtype, generator=as_generator(random_state)
        )
        if not allow_singular:
            return center + noise @ linalg_cholesky(covariance).mT
        eigenvalues, vectors, positive = _spectrum(covariance)
        lengths = where(positive, where(positive, eigenvalues, 1.0).sqrt(), 0.0)
        return center + (noise * lengths) @ vectors.mT

    def _given(self, method: str, x: Any, mean: Any, cov: Any) -> tuple[Tensor, Tensor, Tensor]:
        """The value, the mean and the covariance as tensors of one dtype."""
        op = f"multivariate_normal.{method}"
        value, center, covariance = tensors(op, *(0.0 if one is None else one for one in (x, mean, cov)))
        n = max(center.numel() if mean is not None else 1, covariance.shape[-1] if covariance.ndim else 1)
        if x is not None and mean is None and covariance.ndim == 0 and value.ndim:
            n = 1
        center = zeros(n, dtype=value.dtype, device=value.device) if mean is None else center.reshape((-1,))
        if covariance.ndim == 0:
            covariance = covariance * eye(n, dtype=value.dtype, device=value.device)
        elif covariance.ndim == 1:
            covariance = diag_embed(covariance)
        if tuple(covariance.shape) != (n, n) or tuple(center.shape) != (n,):
            raise ValueError(
                f"{op}(): a mean of shape {tuple(center.shape)} and a covariance of shape {tuple(covariance.shape)} "
                "do not fit"
            )
        return value, center, covariance


def _log_density(difference: Tensor, covariance: Tensor, allow_singular: bool) -> Tensor:
    constant = math.log(2 * math.pi)
    if not allow_singular:
        factor = linalg_cholesky(covariance)
        distance = mahalanobis(factor, difference)
        return -(distance + covariance.shape[-1] * constant) / 2 - half_log_determinant(factor)
    eigenvalues, vectors, positive = _spectrum(covariance)
    safe = where(positive, eigenvalues, 1.0)
    along = square(difference @ vectors)
    terms = where(positive, along / safe + log(safe) + constant, 0.0)
    outside = where(positive, 0.0, along).sum(-1) > finfo(along.dtype).eps * along.sum(-1) * 10
    return where(outside, -math.inf, -terms.sum(-1) / 2)


def _spectrum(covariance: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Eigenvalues and eigenvectors, and which eigenvalues are not zero but for rounding."""
    eigenvalues, vectors = eigh(covariance)
    limit = finfo(covariance.dtype).eps * (1e6 if covariance.dtype.itemsize == 8 else 1e3)
    return eigenvalues, vectors, eigenvalues > limit * abs(eigenvalues).max()


dirichlet = dirichlet_gen()
multivariate_normal = multivariate_normal_gen()
