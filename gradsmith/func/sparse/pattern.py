"""Sparsity patterns, and how a matrix with one is computed from few products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradsmith.func.sparse.coloring import Coloring, row_coloring, star_coloring
from gradsmith.runtime.arrays.scipy_modules import scipy_module

if TYPE_CHECKING:
    from numpy.typing import NDArray  # slow to import

MODES = ("auto", "forward", "reverse")


class Compression(NamedTuple):
    """Sums of rows or columns that show every entry of a matrix.

    In the order of the CSR form `products` says for each entry which sum shows it, and `places` at which element.
    """

    coloring: Coloring
    products: NDArray[np.int32]
    places: NDArray[np.integer[Any]]


class SparsityPattern:
    """The places at which a Jacobian or Hessian may have entries, for use in any number of evaluations.

    `jacobian_pattern` and `hessian_pattern` find them. The colourings are found when they are first needed, and kept.

    Parameters
    ----------
    array : scipy.sparse array or array_like
        The stored elements of a sparse array, whatever their values, or the nonzero elements of another one.
    symmetric : bool
        The matrix is a Hessian. An entry and its mirror image then count as one, and fewer products are needed.

    Raises
    ------
    ValueError
        `array` does not have two dimensions, or is not square and yet symmetric.
    ImportError
        SciPy is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from gradsmith import func
    >>> func.SparsityPattern(np.tri(6, k=1) - np.tri(6, k=-2))
    SparsityPattern(shape=(6, 6), nnz=16, n_colors=3, mode='reverse')
    """

    def __init__(self, array: Any, symmetric: bool = False) -> None:
        self.symmetric = symmetric
        self._array = _bool_csr(array)
        if symmetric and self.shape[0] != self.shape[1]:
            raise ValueError(f"the pattern of a Hessian is square, got shape {self.shape}")
        if symmetric:
            self._array = _bool_csr(self._array + self._array.T)
        self._compressions: dict[str, Compression] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Number of output elements, and of input elements."""
        rows, columns = self._array.shape
        return int(rows), int(columns)

    @property
    def nnz(self) -> int:
        """Number of entries."""
        return int(self._array.nnz)

    @property
    def array(self) -> Any:
        """The pattern as a `scipy.sparse.csr_array` of bools, a copy."""
        return self._array.copy()

    @property
    def mode(self) -> str:
        """``"forward"`` where columns need fewer products than rows by more than one, else ``"reverse"``."""
        if self.symmetric:
            return "reverse"
        rows, columns = (self._compression(mode).coloring.count for mode in ("reverse", "forward"))
        return "forward" if columns + 1 < rows else "reverse"

    @property
    def colors(self) -> NDArray[np.int32]:
        """For each row (of mode reverse) or column the number of the product that shows it; -1 for an empty one."""
        return np.array(self.compression().coloring.colors)

    @property
    def n_colors(self) -> int:
        """How many products with the Jacobian or Hessian an evaluation takes."""
        return self.compression().coloring.count

    def compression(self, mode: str = "auto") -> Compression:
        """How the entries are computed in a mode."""
        return self._compression("reverse" if self.symmetric else self.mode if mode == "auto" else mode)

    def _compression(self, mode: str) -> Compression:
        if mode not in self._compressions:
            of_mode = _symmetric if self.symmetric else _by_columns if mode == "forward" else _by_rows
            self._compressions[mode] = of_mode(self._array)
        return self._compressions[mode]

    def filled(self, data: NDArray[Any]) -> Any:
        """The CSR array of these entries."""
        parts = (data, self._array.indices.copy(), self._array.indptr.copy())
        return scipy_module("sparse", "sparse_jacobian()").csr_array(parts, shape=self.shape)

    def __repr__(self) -> str:
        kind = "symmetric=True" if self.symmetric else f"mode={self.mode!r}"
        return f"SparsityPattern(shape={self.shape}, nnz={self.nnz}, n_colors={self.n_colors}, {kind})"


def _bool_csr(array: Any) -> Any:
    """The entries in the order of rows and columns, each once."""
    sparse = scipy_module("sparse", "SparsityPattern()")
    coo = sparse.coo_array(array)
    if coo.ndim != 2:
        raise ValueError(f"a pattern has two dimensions, got shape {coo.shape}")
    index = np.int32 if max(*coo.shape, coo.nnz) <= np.iinfo(np.int32).max else np.int64
    places = coo.row.astype(index), coo.col.astype(index)
    found = sparse.csr_array((np.ones(coo.nnz, bool), places), shape=coo.shape)
    found.sum_duplicates()
    return found


def pattern_of(given: Any, symmetric: bool) -> SparsityPattern:
    """The argument `pattern` of a transform."""
    if not isinstance(given, SparsityPattern):
        return SparsityPattern(given, symmetric)
    return given if given.symmetric or not symmetric else SparsityPattern(given.array, symmetric)


# ---- compressions


def _entries(matrix: Any) -> tuple[NDArray[np.integer[Any]], NDArray[np.integer[Any]]]:
    """The rows and the columns of all entries."""
    index = matrix.indices.dtype
    return np.repeat(np.arange(matrix.shape[0], dtype=index), np.diff(matrix.indptr)), matrix.indices


def _by_rows(matrix: Any) -> Compression:
    """Each product is a sum of rows, as long as the inputs."""
    coloring = row_coloring(matrix)
    rows, columns = _entries(matrix)
    return Compression(coloring, coloring.colors[rows], columns)


def _by_columns(matrix: Any) -> Compression:
    """Each product is a sum of columns, as long as the outputs."""
    coloring = row_coloring(_bool_csr(matrix.T))
    rows, columns = _entries(matrix)
    return Compression(coloring, coloring.colors[columns], rows)


def _symmetric(matrix: Any) -> Compression:
    """Products are sums of columns. The entry (i, j) is alone in row i of the sum with column j, or else (j, i) is."""
    coloring = star_coloring(matrix)
    rows, columns = (part.astype(np.intp) for part in _entries(matrix))  # products of them follow
    one, other = np.minimum(rows, columns), np.maximum(rows, columns)
    sums, counts = np.unique(rows * coloring.count + coloring.colors[columns], return_counts=True)
    alone = counts[np.searchsorted(sums, one * coloring.count + coloring.colors[other])] == 1
    row, column = np.where(alone, one, other), np.where(alone, other, one)
    return Compression(coloring, coloring.colors[column], row)
