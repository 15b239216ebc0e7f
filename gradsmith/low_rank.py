"""Leading singular vectors under PyTorch's names. PyTorch draws random vectors for them; here they are exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradsmith.generated import mean
from gradsmith.generated.decompositions import linalg_svd
from gradsmith.runtime.tensors.queries import is_tensor

if TYPE_CHECKING:
    from gradsmith.generated.tensor import Tensor

__all__ = ["pca_lowrank", "svd_lowrank"]


def svd_lowrank(A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None) -> tuple[Tensor, Tensor, Tensor]:
    """The leading singular values of a matrix, with their vectors.

    Parameters
    ----------
    A : Tensor
        Matrix of shape (..., m, n).
    q : int, optional
        How many, 6 by default; never more than the smaller of both sizes.
    niter : int, optional
        Without effect: nothing is iterated.
    M : Tensor, optional
        Subtracted from `A`.

    Returns
    -------
    U, S, V : Tensor
        Of shapes (..., m, q), (..., q) and (..., n, q): ``U @ diag(S) @ V.mH`` is the nearest matrix of rank `q`.

    Raises
    ------
    ValueError
        `q` or `niter` is negative.

    Examples
    --------
    >>> import gradsmith as gs
    >>> U, S, V = gs.svd_lowrank(gs.tensor([[3.0, 0.0], [0.0, 2.0]]), q=1)
    >>> S
    tensor([3.])
    """
    matrix = _matrix("svd_lowrank", A)
    count = 6 if q is None else q
    if isinstance(count, int):
        count = min(count, *matrix.shape[-2:])
    return _leading("svd_lowrank", matrix if M is None else matrix - M, count, niter)


def pca_lowrank(
    A: Any, q: int | None = None, center: bool = True, niter: int | None = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components of the rows of a matrix; see `svd_lowrank`.

    Parameters
    ----------
    A : Tensor
        Matrix of shape (..., m, n), of m observations.
    q : int, optional
        How many; 6, or the smaller size, by default.
    center : bool
        Whether the mean of the rows is subtracted.
    niter : int, optional
        Without effect.

    Returns
    -------
    U, S, V : Tensor
        The columns of `V` are the components, and ``S**2 / (m - 1)`` their variances.

    Raises
    ------
    ValueError
        `q` is not from 0 to the smaller size, or `niter` is negative.
    """
    matrix = _matrix("pca_lowrank", A)
    count = min(6, *matrix.shape[-2:]) if q is None else q
    return _leading("pca_lowrank", matrix - mean(matrix, -2, True) if center else matrix, count, niter)


def _matrix(op: str, value: Any) -> Any:
    if not is_tensor(value):
        raise TypeError(f"{op}(): argument 'A' must be Tensor, not {type(value).__name__}")
    if value.ndim < 2:
        raise ValueError(f"{op}(): A must be a matrix, but has {value.ndim} dimensions")
    if value.dtype.kind not in "fc":
        raise ValueError(f"{op}(): A must be of a floating or complex dtype, but is of {value.dtype}")
    return value


def _leading(op: str, matrix: Any, q: Any, niter: Any) -> tuple[Tensor, Tensor, Tensor]:
    most = min(matrix.shape[-2:])
    if not isinstance(q, int) or not 0 <= q <= most:
        raise ValueError(f"{op}(): q(={q}) must be a non-negative integer and not greater than min(m, n)={most}")
    if niter is not None and (not isinstance(niter, int) or niter < 0):
        raise ValueError(f"{op}(): niter(={niter}) must be a non-negative integer")
    u, s, vh = linalg_svd(matrix, False)
    return u[..., :q], s[..., :q], vh[..., :q, :].mH
