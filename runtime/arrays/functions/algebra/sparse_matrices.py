"""Products and solves with sparse matrices by SciPy, from given places and arrays of stored values.

Arrays may have dimensions in front, for batches; SciPy then works on one matrix after the other or, where the matrix is
the same for all, on all columns at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.scipy_modules import scipy_module

from .matrices import LinAlgError, check_inexact

Array: TypeAlias = NDArray[Any]


class SparseStructure:
    """Places of the stored values of a sparse matrix, in CSR form.

    Parameters
    ----------
    indptr, indices : array_like of int
        As those of `scipy.sparse.csr_array`.
    shape : tuple of int
        Rows and columns.
    """

    def __init__(self, indptr: Any, indices: Any, shape: tuple[int, int]) -> None:
        self.indptr, self.indices, self.shape = np.asarray(indptr), np.asarray(indices), shape
        self.factored: tuple[Array, Any] | None = None  # the values of the last solve, and the factors of their matrix

    @property
    def rows(self) -> Array:
        """The row of each stored value."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))

    def matrix(self, values: Array, transposed: bool) -> Any:
        """The sparse array of these values; its transpose has the same arrays in CSC form."""
        sparse, values = scipy_module("sparse", "a sparse matrix"), np.ascontiguousarray(values)
        if transposed:
            return sparse.csc_array((values, self.indices, self.indptr), shape=self.shape[::-1])
        return sparse.csr_array((values, self.indices, self.indptr), shape=self.shape)

    def factors(self, values: Array) -> Any:
        """The LU decomposition of the transpose, shared by a solve and its gradient."""
        if self.factored is None or not same_bits(self.factored[0], values):
            self.factored = values.copy(), self._decomposed(values)
        return self.factored[1]

    def _decomposed(self, values: Array) -> Any:
        decompose = scipy_module("sparse.linalg", "sparse.spsolve()").splu
        try:
            return decompose(self.matrix(values, True).copy())  # it puts indices in order
        except RuntimeError as error:
            raise LinAlgError(f"sparse.spsolve: the matrix of shape {list(self.shape)} is singular") from error


def same_bits(a: Array, b: Array) -> bool:
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


def structure_of(given: Any) -> SparseStructure:
    """The structure, from one or from its parts."""
    return given if isinstance(given, SparseStructure) else SparseStructure(*given)


# ---- the functions of the table


def sparse_product_of(values: Array, structure: Any, other: Array, transposed: bool) -> Array:
    """The matrix, or its transpose, times dense columns."""
    structure = structure_of(structure)
    check_operands("sparse.matmul", values, structure, other, structure.shape[0 if transposed else 1])
    rows = structure.shape[1 if transposed else 0]
    return by_matrix(lambda one, columns: structure.matrix(one, transposed) @ columns, values, other, rows)


def sparse_solve_of(values: Array, structure: Any, other: Array, transposed: bool) -> Array:
    """The solution of a linear system with the matrix, or its transpose, for dense columns."""
    structure = structure_of(structure)
    if structure.shape[0] != structure.shape[1]:
        raise RuntimeError(f"sparse.spsolve: A must be square, but its shape is {list(structure.shape)}")
    check_operands("sparse.spsolve", values, structure, other, structure.shape[0])

    def solved(one: Array, columns: Array) -> Array:
        return np.asarray(structure.factors(one).solve(np.ascontiguousarray(columns), "N" if transposed else "T"))

    return by_matrix(solved, values, other, structure.shape[0])


def sparse_sampled_of(a: Array, structure: Any, b: Array) -> Array:
    """For each stored value the product of its row of `a` with its column, a row of `b`."""
    structure = structure_of(structure)
    if has_no_data(a) or has_no_data(b):
        shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), structure.indices.size)
        return array_without_data(shape, np.result_type(a, b))
    return np.asarray(np.einsum("...ek,...ek->...e", a[..., structure.rows, :], b[..., structure.indices, :]))


# ---- helpers


def check_operands(op: str, values: Array, structure: SparseStructure, other: Array, size: int) -> None:
    for array in (values, other):
        check_inexact(op, array)
    if values.shape[-1] != structure.indices.size:
        raise RuntimeError(
            f"{op}: values must have an element for each of the {structure.indices.size} stored ones, but their shape "
            f"is {list(values.shape)}"
        )
    if other.shape[-2] != size:
        raise RuntimeError(
            f"{op}: A has shape {list(structure.shape)}, and the other operand should have {size} rows for it, but its "
            f"shape is {list(other.shape)}"
        )


def by_matrix(compute: Callable[[Array, Array], Any], values: Array, other: Array, rows: int) -> Array:
    """Results for all matrices of a batch."""
    dtype = np.result_type(values, other)
    values, other = values.astype(dtype, copy=False), other.astype(dtype, copy=False)
    if has_no_data(values) or has_no_data(other):
        batch = np.broadcast_shapes(values.shape[:-1], other.shape[:-2])
        return array_without_data((*batch, rows, other.shape[-1]), dtype)
    if values.ndim == 1:
        return by_columns(lambda columns: compute(values, columns), other, rows)
    batch = np.broadcast_shapes(values.shape[:-1], other.shape[:-2])
    spread = np.broadcast_to(values, (*batch, values.shape[-1]))
    others = np.broadcast_to(other, (*batch, *other.shape[-2:]))
    found = np.empty((*batch, rows, other.shape[-1]), dtype)
    for place in np.ndindex(batch):
        found[place] = compute(spread[place], others[place])
    return found


def by_columns(compute: Callable[[Array], Any], other: Array, rows: int) -> Array:
    """One matrix and all columns of a batch, side by side."""
    if other.ndim == 2:
        return np.asarray(compute(other))
    side_by_side = np.moveaxis(other, -2, 0)
    found = np.asarray(compute(side_by_side.reshape(other.shape[-2], math.prod(side_by_side.shape[1:]))))
    return np.moveaxis(found.reshape(rows, *side_by_side.shape[1:]), 0, -2)
