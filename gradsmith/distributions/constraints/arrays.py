"""Constraints of vectors and matrices."""

from __future__ import annotations

from gradsmith.distributions.constraints.base import Constraint
from gradsmith.generated import isclose
from gradsmith.generated.linalg_namespace import cholesky_ex, eigvalsh
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.limits import finfo
from gradsmith.runtime.tensors.factories.creation import full

__all__: list[str] = []


class _OneHot(Constraint):
    """Vectors of zeros and a single 1."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value.eq(0) | value.eq(1)).all(-1) & value.sum(-1).eq(1)


class _Simplex(Constraint):
    """Vectors of numbers that are not negative and have the sum 1."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (abs(value.sum(-1) - 1) < 1e-6)


class _Multinomial(Constraint):
    """Vectors of numbers that are not negative and have at most a certain sum."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Tensor | float) -> None:
        self.upper_bound = upper_bound
        super().__init__()

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _Matrix(Constraint):
    event_dim = 2


class _LowerTriangular(_Matrix):
    """Square matrices with zeros above the diagonal."""

    def check(self, value: Tensor) -> Tensor:
        return value.tril().eq(value).all((-2, -1))


class _LowerCholesky(_LowerTriangular):
    """Lower triangular matrices with positive numbers on the diagonal."""

    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Those with rows of norm 1: the factors of correlation matrices."""

    def check(self, value: Tensor) -> Tensor:
        tolerance = finfo(value.dtype).eps * value.shape[-1] * 10
        norms = value.detach().square().sum(-1).sqrt()
        return super().check(value) & (abs(norms - 1) <= tolerance).all(-1)


class _Square(_Matrix):
    """Square matrices."""

    def check(self, value: Tensor) -> Tensor:
        is_square = value.shape[-2] == value.shape[-1]
        return full(tuple(value.shape[:-2]), is_square, dtype=bool, device=value.device)


class _Symmetric(_Square):
    """Symmetric matrices."""

    def check(self, value: Tensor) -> Tensor:
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        return isclose(value, value.mT, atol=1e-6).all((-2, -1))


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return symmetric & (eigvalsh(value) >= 0).all(-1) if bool(symmetric.all()) else symmetric


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices with positive eigenvalues."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        return cholesky_ex(value.detach())[1].eq(0) if bool(symmetric.all()) else symmetric
