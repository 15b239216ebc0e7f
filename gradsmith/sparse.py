"""Products and solves with SciPy's sparse matrices, differentiable in the dense operand and the stored values.

The matrix stays one of `scipy.sparse`. Where its values depend on tensors, they are
given beside it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradsmith.generated.linalg import mm as dense_mm
from gradsmith.generated.sparse import sparse_product, sparse_solve
from gradsmith.generated.tensor import Tensor
from gradsmith.names.missing import raise_missing
from gradsmith.runtime.arrays.functions.algebra.sparse_matrices import SparseStructure
from gradsmith.runtime.arrays.scipy_modules import scipy_module
from gradsmith.runtime.tensors.factories.creation import as_tensor

__all__ = ["matmul", "mm", "spmm", "spsolve"]
__getattr__ = raise_missing(__name__)


def matmul(a: Any, b: Any, *, values: Tensor | None = None) -> Tensor:
    """Product of a sparse matrix and a dense tensor, in either order.

    Parameters
    ----------
    a, b : scipy.sparse array or matrix, and Tensor
        One of them is sparse, of shape (m, n). The dense one has shape (n,) or (..., n, k) on the right, (m,) or
        (..., k, m) on the left.
    values : Tensor, optional
        Takes the place of the values that the sparse matrix stores, in the order of its `data`, and has a gradient.

    Returns
    -------
    Tensor

    Raises
    ------
    TypeError
        Not exactly one operand is a sparse matrix.
    ValueError
        `values` was given for a format that does not store one value after the other.
    RuntimeError
        Sizes do not fit, or a dtype is neither floating point nor complex.
    ImportError
        SciPy is not installed.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import scipy.sparse
    >>> a = scipy.sparse.csr_array([[2.0, 0.0], [1.0, 3.0]])
    >>> x = gs.tensor([1.0, 2.0], dtype=gs.float64, requires_grad=True)
    >>> v = gs.tensor(a.data, requires_grad=True)
    >>> gs.sparse.matmul(a, x, values=v).sum().backward()
    >>> x.grad, v.grad
    (tensor([3., 3.], dtype=gradsmith.float64), tensor([1., 1., 2.], dtype=gradsmith.float64))
    """
    on_the_left = is_sparse(a)
    if on_the_left == is_sparse(b):
        found = "both are" if on_the_left else f"they are {type(a).__name__} and {type(b).__name__}"
        raise TypeError(
            f"sparse.matmul: one operand should be a scipy.sparse matrix and the other a Tensor, but {found}"
        )
    dense = as_tensor(b if on_the_left else a)
    stored = stored_values(a if on_the_left else b, values, dense, "sparse.matmul")
    if dense.ndim == 1:
        return product(stored, dense.unsqueeze(-1), on_the_left).squeeze(-1)
    return product(stored, dense, True) if on_the_left else product(stored, dense.mT, False).mT


def mm(mat1: Any, mat2: Any) -> Tensor:
    """Product of two matrices: of two tensors what `gradsmith.mm` gives, with a sparse matrix what `matmul` gives.

    Parameters
    ----------
    mat1, mat2 : Tensor of two dimensions, or scipy.sparse matrix

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.sparse.mm(gs.eye(2), gs.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    return matmul(mat1, mat2) if is_sparse(mat1) or is_sparse(mat2) else dense_mm(mat1, mat2)


spmm = mm  # PyTorch's name at the top


def spsolve(a: Any, b: Any, *, values: Tensor | None = None) -> Tensor:
    """Solution x of ``a @ x = b`` for a sparse square matrix.

    The gradient solves with the transpose, by the factors that the solution needed.

    Parameters
    ----------
    a : scipy.sparse array or matrix
        Of shape (n, n).
    b : Tensor
        Of shape (n,) or (..., n, k).
    values : Tensor, optional
        See `matmul`.

    Returns
    -------
    Tensor
        Of the shape of `b`.

    Raises
    ------
    numpy.linalg.LinAlgError
        The matrix is singular. It is a RuntimeError too.
    TypeError, ValueError, RuntimeError, ImportError
        See `matmul`.

    Examples
    --------
    >>> import gradsmith as gs
    >>> import scipy.sparse
    >>> a = scipy.sparse.csc_array([[2.0, 0.0], [1.0, 4.0]])
    >>> b = gs.tensor([2.0, 5.0], dtype=gs.float64, requires_grad=True)
    >>> gs.sparse.spsolve(a, b)[1].backward()
    >>> b.grad
    tensor([-0.1250,  0.2500], dtype=gradsmith.float64)
    """
    if not is_sparse(a):
        raise TypeError(f"sparse.spsolve: A should be a scipy.sparse matrix, but it is {type(a).__name__}")
    dense = as_tensor(b)
    stored = stored_values(a, values, dense, "sparse.spsolve")
    columns = dense.unsqueeze(-1) if dense.ndim == 1 else dense
    found = sparse_solve(stored.values, stored.structure, columns, stored.transposed)
    return found.squeeze(-1) if dense.ndim == 1 else found


def is_sparse(value: Any) -> bool:
    return not isinstance(value, Tensor) and bool(scipy_module("sparse", "a sparse matrix").issparse(value))


class Stored(NamedTuple):
    """The values of a sparse matrix and their places, in CSR form of the matrix or of its transpose."""

    values: Tensor
    structure: SparseStructure
    transposed: bool


def stored_values(matrix: Any, values: Tensor | None, dense: Tensor, op: str) -> Stored:
    if matrix.ndim != 2:
        raise RuntimeError(f"{op}: a sparse matrix has two dimensions, got shape {list(matrix.shape)}")
    if matrix.format not in ("csr", "csc", "coo"):
        if values is not None:
            raise ValueError(f"{op}: values can be given for the formats csr, csc and coo, but A is {matrix.format}")
        matrix = matrix.tocsr()
    data = as_tensor(matrix.data if values is None else values)
    if values is None and not (data.is_floating_point() or data.is_complex()):
        data = data.to(dense.dtype)
    if matrix.format == "coo":
        order = np.lexsort((matrix.col, matrix.row))
        starts = np.searchsorted(matrix.row[order], np.arange(matrix.shape[0] + 1))
        return Stored(data[..., as_tensor(order)], SparseStructure(starts, matrix.col[order], matrix.shape), False)
    transposed = matrix.format == "csc"
    shape = matrix.shape[::-1] if transposed else matrix.shape
    return Stored(data, SparseStructure(matrix.indptr, matrix.indices, shape), transposed)


def product(stored: Stored, dense: Tensor, on_the_left: bool) -> Tensor:
    """The product with the matrix on the left; one with it on the right is the transpose of such a product."""
    return sparse_product(stored.values, stored.structure, dense, stored.transposed == on_the_left)
