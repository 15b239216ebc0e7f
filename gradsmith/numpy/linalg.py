"""NumPy's linear algebra for tensors: ``gradsmith.numpy.linalg``."""

from __future__ import annotations

import functools
from typing import Any

import gradsmith.linalg as ours
from gradsmith.numpy import products, shapes
from gradsmith.numpy.arguments import (
    NO_VALUE,
    array_of,
    as_tensor,
    axis_of,
    common,
    exact,
    is_tensor,
    np,
    of_dtype,
    unwrapped,
    without_data,
    wrapped,
)
from gradsmith.numpy.published import describe
from gradsmith.numpy.ufuncs import ufunc

LinAlgError = np.linalg.LinAlgError

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq",
    "matmul", "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv",
    "qr", "slogdet", "solve", "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot",
    "vector_norm",
]  # fmt: skip


def _inexact(a: Any) -> Any:
    """As NumPy's linear algebra takes it: integers as float64."""
    x = as_tensor(a)
    if x.dtype == np.float16:
        raise TypeError("array type float16 is unsupported in linalg")
    return of_dtype(x, np.float64) if exact(x) else x


def _matrix(a: Any) -> Any:
    x = _inexact(a)
    if x.ndim < 2:
        raise LinAlgError(f"{x.ndim}-dimensional array given. Array must be at least two-dimensional")
    return x


def _square(a: Any) -> Any:
    x = _matrix(a)
    if x.shape[-1] != x.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return x


@functools.cache
def _result_of(name: str) -> Any:
    """NumPy's named tuple of a decomposition."""
    return type(getattr(np.linalg, name)(np.eye(1)))


# ---- equations and inverses


def solve(a: Any, b: Any) -> Any:
    x, y = common([_square(a), _inexact(b)])
    if y.ndim == 1:
        return ours.solve(x, y.unsqueeze(-1)).squeeze(-1)
    batch = np.broadcast_shapes(
        tuple(x.shape[:-2]), tuple(y.shape[:-2])
    )  # matrices always: ops may take a row of vectors
    return ours.solve(x.expand((*batch, *x.shape[-2:])), y.expand((*batch, *y.shape[-2:])))


def inv(a: Any) -> Any:
    return ours.inv(_square(a))


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NO_VALUE) -> Any:
    x = _matrix(a)
    if rcond is None:
        cut = (
            max(x.shape[-2:], default=0) * np.finfo(x.dtype).eps
            if rtol is None
            else 1e-15
            if rtol is NO_VALUE
            else rtol
        )
    elif rtol is NO_VALUE:
        cut = rcond
    else:
        raise ValueError("`rtol` and `rcond` can't be both set.")
    return ours.pinv(
        x, rtol=cut if is_tensor(cut) else wrapped(np.asarray(cut, np.float64)), atol=0.0, hermitian=hermitian
    )


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    x, y = common([_matrix(a), _inexact(b)])
    if y.ndim not in (1, 2):
        raise LinAlgError(f"{y.ndim}-dimensional array given. Array must be one or two-dimensional")
    if x.shape[0] != y.shape[0]:
        raise LinAlgError("Incompatible dimensions")
    columns = y.unsqueeze(1) if y.ndim == 1 else y
    cut = np.finfo(x.dtype).eps * max(x.shape) if rcond is None else float(rcond)
    if without_data([x, y]):
        return _least_of_many(x, columns, y.ndim == 1, cut)
    values = svdvals(x)
    sizes = array_of(values)
    rank = int((sizes > (cut if cut >= 0 else np.finfo(x.dtype).eps) * sizes.max(initial=0)).sum())
    found = _least(x, columns, rank, cut)
    rest = columns - x @ found
    squares = (rest * rest).sum(0) if x.dtype.kind == "f" else rest.abs().square().sum(0)
    if rank < x.shape[1] or x.shape[0] <= x.shape[1]:
        squares = squares[:0]
    return (found.squeeze(1) if y.ndim == 1 else found), squares, rank, values


def _least_of_many(x: Any, columns: Any, is_vector: bool, cut: float) -> Any:
    """In a `vmap`, where the rank of each matrix is a number of its own: squares as if all had full rank."""
    found, _, rank, values = ours.lstsq(x, columns, cut)
    squares = (columns - x @ found).abs().square().sum(0)
    return (
        (found.squeeze(1) if is_vector else found),
        squares[:0] if x.shape[0] <= x.shape[1] else squares,
        rank,
        values,
    )


def _least(x: Any, columns: Any, rank: int, cut: float) -> Any:
    if rank == x.shape[1]:
        q, r = ours.qr(x)
        return ours.solve_triangular(r, q.mH @ columns, upper=True)
    return ours.pinv(x, rtol=max(cut, 0.0), atol=0.0) @ columns


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    x, y = common([_inexact(a), _inexact(b)])
    return ours.tensorsolve(x, y, axes)


def tensorinv(a: Any, ind: int = 2) -> Any:
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    return ours.tensorinv(_inexact(a), ind)


# ---- numbers of a matrix


def det(a: Any) -> Any:
    return ours.det(_square(a))


def slogdet(a: Any) -> Any:
    return _result_of("slogdet")(*ours.slogdet(_square(a)))


def cond(x: Any, p: Any = None) -> Any:
    return ours.cond(_matrix(x), p)


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    tol, rtol = unwrapped(tol), unwrapped(rtol)
    return wrapped(np.linalg.matrix_rank(array_of(as_tensor(A)), tol, hermitian, rtol=rtol))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    tensor = as_tensor(x)
    tensor = of_dtype(tensor, np.float64) if exact(tensor) else tensor
    if axis is None and ord is None:
        found = ours.vector_norm(tensor.reshape(-1))
        return found.reshape([1] * tensor.ndim) if keepdims else found
    axes = tuple(range(tensor.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(axis_of(one, tensor.ndim) for one in axes)
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"Invalid norm order '{ord}' for vectors")
        return ours.vector_norm(tensor, 2 if ord is None else ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError("Improper number of dimensions to norm.")
    if len(set(axes)) != 2:
        raise ValueError("Duplicate axes given.")
    if ord not in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        raise ValueError("Invalid norm order for matrices.")
    return ours.matrix_norm(tensor, "fro" if ord is None else ord, axes, keepdims)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    tensor = as_tensor(x)
    tensor = of_dtype(tensor, np.float64) if exact(tensor) else tensor
    return ours.vector_norm(tensor, ord, axis, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    return norm(x, ord, (-2, -1), keepdims)


# ---- decompositions


def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    return ours.cholesky(_square(a), upper=upper)


def qr(a: Any, mode: str = "reduced") -> Any:
    if mode == "raw":
        return wrapped(np.linalg.qr(array_of(as_tensor(a).detach()), "raw"))
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"Unrecognized mode {mode!r}")
    q, r = ours.qr(_matrix(a), "reduced" if mode == "r" else mode)
    return r if mode == "r" else _result_of("qr")(q, r)


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    if not compute_uv:
        return ours.svdvals(_matrix(a))
    return _result_of("svd")(*ours.svd(_matrix(a), full_matrices))


def svdvals(x: Any, /) -> Any:
    return ours.svdvals(_matrix(x))


def eigh(a: Any, UPLO: str = "L") -> Any:
    return _result_of("eigh")(*ours.eigh(_square(a), UPLO))


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    return ours.eigvalsh(_square(a), UPLO)


def eig(a: Any) -> Any:
    x = _square(a)
    values, vectors = ours.eig(x)
    if _is_real(x, values):
        values, vectors = values.real, vectors.real
    return _result_of("eig")(values, vectors)


def eigvals(a: Any) -> Any:
    x = _square(a)
    values = ours.eigvals(x)
    return values.real if _is_real(x, values) else values


def _is_real(x: Any, values: Any) -> bool:
    """Whether all eigenvalues are real. Of a batch they stay complex, as one dtype has to fit all matrices."""
    return x.dtype.kind == "f" and not without_data([x]) and not array_of(values).imag.any()


# ---- products and parts


def matrix_power(a: Any, n: int) -> Any:
    x = as_tensor(a)
    if exact(x) and n >= 0 and not without_data([x]):
        return wrapped(np.linalg.matrix_power(array_of(x), n))
    if x.dtype == np.float16 and n > 0 and x.ndim > 1 and x.shape[-1] == x.shape[-2]:
        return functools.reduce(ufunc("matmul"), [x] * n)
    return ours.matrix_power(_square(x), n)


def multi_dot(arrays: Any, *, out: Any = None) -> Any:
    from gradsmith.numpy.arguments import delivered

    tensors = common([as_tensor(one) for one in arrays])
    if exact(tensors[0]) and not without_data(tensors):
        return delivered(wrapped(np.linalg.multi_dot([array_of(one) for one in tensors])), out)
    if len(tensors) < 2:
        raise ValueError("Expecting at least two arrays.")
    return delivered(ours.multi_dot(tensors), out)


def matmul(x1: Any, x2: Any, /) -> Any:
    return ufunc("matmul")(x1, x2)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    return ufunc("vecdot")(x1, x2) if axis == -1 else ufunc("vecdot")(x1, x2, axis=axis)


def outer(x1: Any, x2: Any, /) -> Any:
    x, y = as_tensor(x1), as_tensor(x2)
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are {x.ndim} and {y.ndim}.")
    return products.outer(x, y)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    x, y = as_tensor(x1), as_tensor(x2)
    if x.shape[axis] != 3 or y.shape[axis] != 3:
        raise ValueError("Both input arrays must be (arrays of) 3-dimensional vectors")
    return products.cross(x, y, axis=axis)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    return products.tensordot(x1, x2, axes)


def matrix_transpose(x: Any, /) -> Any:
    return shapes.matrix_transpose(x)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    return as_tensor(x).diagonal(offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    return shapes.trace(x, offset, -2, -1, dtype)


for _name in __all__[1:]:
    describe(globals()[_name], f"linalg.{_name}", getattr(np.linalg, _name))
