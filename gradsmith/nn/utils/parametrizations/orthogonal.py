"""Matrices with orthonormal columns, or rows when there are fewer of them."""

from __future__ import annotations

from typing import Any

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.generated import cat, matrix_exp, sgn, where
from gradsmith.generated.linalg_namespace import householder_product, qr, solve, vector_norm
from gradsmith.generated.tensor import Tensor
from gradsmith.nn.modules.module import Module
from gradsmith.nn.utils.parametrize import register_parametrization
from gradsmith.runtime.arrays.limits import finfo
from gradsmith.runtime.tensors.factories.creation import eye, zeros_like
from gradsmith.runtime.tensors.factories.random import randn
from gradsmith.runtime.tensors.queries import allclose

MAPS = ("matrix_exp", "cayley", "householder")


class _Orthogonal(Module):
    """Any matrix -> one with orthonormal columns, times a fixed one, `base`, when there is that."""

    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool = True) -> None:
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        self.use_trivialization = use_trivialization
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.shape[-2] < X.shape[-1]
        X = X.mT if wide else X
        Q = _by_reflections(X) if self.orthogonal_map == "householder" else self._by_rotation(X)
        if self.use_trivialization and self.base is not None:
            Q = self.base @ Q
        return Q.mT if wide else Q

    def _by_rotation(self, X: Tensor) -> Tensor:
        """The exponential, or the Cayley transform, of a skew matrix; the first columns of it."""
        rows, columns = X.shape[-2:]
        lower = X.tril()
        if rows != columns:
            lower = cat([lower, X.new_zeros((*X.shape[:-2], rows, rows - columns))], dim=-1)
        skew = lower - lower.mH
        if self.orthogonal_map == "matrix_exp":
            Q = matrix_exp(skew)
        else:
            identity = eye(rows, dtype=X.dtype, device=X.device)
            Q = solve(identity - skew / 2, identity + skew / 2)
        return Q[..., :columns]

    def right_inverse(self, Q: Tensor) -> Tensor:
        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        with no_grad():
            wide = Q.shape[-2] < Q.shape[-1]
            tall = Q.mT if wide else Q
            if not self.use_trivialization:
                return self._reflections_of(tall).mT if wide else self._reflections_of(tall)
            self.base = _base(tall)
            start = zeros_like(Q)  # for which all maps give the identity, or its negative twice
            start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return start

    def _reflections_of(self, Q: Tensor) -> Tensor:
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False."
            )
        return _reflections(Q)


def _by_reflections(X: Tensor) -> Tensor:
    """The product of the reflections by the vectors below the diagonal, with the signs on it."""
    vectors = X.tril(-1)
    factors = 2.0 / (1.0 + (vectors * vectors).sum(-2))
    return householder_product(vectors, factors) * sgn(X.detach().diagonal(dim1=-2, dim2=-1)).unsqueeze(-2)


def _reflections(Q: Tensor) -> Tensor:
    """What `_by_reflections` makes Q of, a matrix with orthonormal columns: the vectors and signs of its QR steps."""
    found = zeros_like(Q)
    rest = Q.clone()
    for place in range(Q.shape[-1]):
        column = rest[..., place : place + 1].clone()
        column[..., :place, :] = 0
        head = column[..., place : place + 1, :]
        sign = where(head < 0, 1.0, -1.0).to(Q.dtype)  # so that nothing cancels in the next line
        vector = column / (head - sign * vector_norm(column, dim=-2, keepdim=True))
        vector[..., place, :] = 1
        rest = rest - vector @ (vector.mT @ rest) * (2.0 / (vector * vector).sum(-2, keepdim=True))
        found[..., place : place + 1] = vector.tril(-place - 1)
        found[..., place, place] = sign[..., 0, 0]
    return found


def _base(Q: Tensor) -> Tensor:
    """A square orthogonal matrix, whose first columns are those of Q when these are orthonormal."""
    rows, columns = Q.shape[-2:]
    if rows != columns:
        more = randn((*Q.shape[:-2], rows, rows - columns), dtype=Q.dtype, device=Q.device)
        return _made_orthogonal(cat([Q, more], dim=-1))
    return Q.clone() if _is_orthogonal(Q) else _made_orthogonal(Q)


def _is_orthogonal(Q: Tensor) -> bool:
    size = Q.shape[-1]
    identity = eye(size, dtype=Q.dtype, device=Q.device).expand(*Q.shape[:-2], size, size)
    return allclose(Q.mH @ Q, identity, atol=10.0 * Q.shape[-2] * finfo(Q.dtype).eps)


def _made_orthogonal(A: Tensor) -> Tensor:
    """The orthogonal factor whose triangular one has positive numbers on its diagonal."""
    Q, R = qr(A)
    return Q * sgn(R.diagonal(dim1=-2, dim2=-1)).unsqueeze(-2)


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Any:
    """Keep a parameter a matrix with orthonormal columns, or rows when there are fewer of them.

    Parameters
    ----------
    module : Module
    name : str, optional
    orthogonal_map : {"matrix_exp", "cayley", "householder"}, optional
        How any matrix becomes an orthogonal one. Without it, the first for square or complex matrices and the last for
        others.
    use_trivialization : bool, optional
        Whether the value at first, and one that is assigned, is kept apart, and the learned matrix starts at the
        identity.

    Returns
    -------
    Module
        `module`.

    Raises
    ------
    ValueError
        There is no matrix of that name, or no such map.

    Notes
    -----
    Source: Lezcano-Casado, Trivializations for gradient-based optimization on manifolds, 2019.

    Examples
    --------
    >>> import gradsmith as gs
    >>> layer = gs.nn.utils.parametrizations.orthogonal(gs.nn.Linear(20, 40))
    >>> gs.allclose(layer.weight.T @ layer.weight, gs.eye(20), atol=1e-5)
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        is_rotation = weight.shape[-2] == weight.shape[-1] or weight.is_complex()
        orthogonal_map = "matrix_exp" if is_rotation else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    return register_parametrization(module, name, made, unsafe=True)
