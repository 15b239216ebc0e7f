"""Transforms to triangular and positive definite matrices."""

from __future__ import annotations

import math
from typing import Any

from gradsmith.distributions import constraints
from gradsmith.distributions.transforms.base import Transform
from gradsmith.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix
from gradsmith.generated import clamp, constant_pad_nd, cumprod, cumsum, diag_embed, log, logsigmoid, sqrt, square, tanh
from gradsmith.generated.decompositions import linalg_cholesky
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.arrays.limits import finfo
from gradsmith.runtime.graph.size import Size
from gradsmith.runtime.tensors.factories.creation import eye

__all__ = ["CorrCholeskyTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform"]


class CorrCholeskyTransform(Transform):
    """Vectors of ``n (n - 1) / 2`` numbers to the Cholesky factors of correlation matrices of n rows.

    The hyperbolic tangents of the numbers are partial correlations: each says which part of what is left of the norm
    of its row an element takes (Lewandowski, Kurowicka and Joe, 2009).

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.distributions.transforms.CorrCholeskyTransform()(gs.zeros(3))
    tensor([[1., 0., 0.],
            [0., 1., 0.],
            [0., 0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = finfo(x.dtype).eps
        part = vec_to_tril_matrix(clamp(tanh(x), eps - 1, 1 - eps), diag=-1)
        left = cumprod(sqrt(1 - square(part)), -1)
        part = part + eye(part.shape[-1], dtype=x.dtype, device=x.device)
        return part * _shifted(left)

    def _inverse(self, y: Tensor) -> Tensor:
        left = _shifted(1 - cumsum(square(y), -1))
        part = tril_matrix_to_vec(y, diag=-1) / sqrt(tril_matrix_to_vec(left, diag=-1))
        return part.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        left = tril_matrix_to_vec(1 - cumsum(square(y), -1), diag=-2)
        of_tanh = logsigmoid(2 * x) + logsigmoid(-2 * x) + 2 * math.log(2)
        return log(left).sum(-1) / 2 + of_tanh.sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        """The shape of matrices for vectors of a shape."""
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input: vectors have one")
        count = shape[-1]
        n = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != count:
            raise ValueError(f"Input is not a flattened lower-diagonal number: {count} is no n * (n - 1) / 2")
        return Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Any) -> Any:
        """The shape of vectors for matrices of a shape."""
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input: matrices have two")
        if shape[-2] != shape[-1]:
            raise ValueError(f"Input is not square: {tuple(shape)}")
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


def _shifted(left: Tensor) -> Tensor:
    """What is left before an element, of what is left after it: all of it before the first."""
    return constant_pad_nd(left[..., :-1], [1, 0], 1.0)


class LowerCholeskyTransform(Transform):
    """Square matrices to lower triangular ones with positive diagonals: the exponential is taken of these."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = object.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + diag_embed(x.diagonal(dim1=-2, dim2=-1).exp())

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + diag_embed(y.diagonal(dim1=-2, dim2=-1).log())


class PositiveDefiniteTransform(Transform):
    """Square matrices to positive definite ones: products of what `LowerCholeskyTransform` gives and its transpose."""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = object.__hash__

    def _call(self, x: Tensor) -> Tensor:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(linalg_cholesky(y))  # type: ignore[no-any-return]
