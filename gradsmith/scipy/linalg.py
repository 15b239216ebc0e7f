"""SciPy's linear algebra for tensors: ``gradsmith.scipy.linalg``.

Arguments that say what memory may be overwritten or what is not checked are taken and have no effect.
"""

from __future__ import annotations

from typing import Any

import gradsmith.generated as generated
import gradsmith.linalg as ours
from gradsmith.numpy import linalg as like_numpy
from gradsmith.numpy.arguments import array_of, as_tensor, common, floating, is_recorded, is_tensor, np, without_data
from gradsmith.numpy.linalg import LinAlgError, eigvals, pinv, svdvals
from gradsmith.numpy.published import plain
from gradsmith.runtime.arrays.scipy_modules import scipy_module
from gradsmith.scipy.matrices import (
    block_diag,
    circulant,
    companion,
    convolution_matrix,
    dft,
    hankel,
    helmert,
    hilbert,
    khatri_rao,
    leslie,
    pascal,
    toeplitz,
)

# Of these the values of tensors are taken, by SciPy itself: they have no derivative.
_PLAIN = (
    "bandwidth cdf2rdf cossin hadamard hessenberg invhilbert invpascal ishermitian issymmetric ldl matrix_balance"
    " ordqz qz rsf2csf schur signm"
)

__all__ = [
    "LinAlgError", "block_diag", "cho_factor", "cho_solve", "cholesky", "circulant", "companion", "convolution_matrix",
    "coshm", "cosm", "det", "dft", "eig", "eigh", "eigh_tridiagonal", "eigvals", "eigvalsh", "eigvalsh_tridiagonal",
    "expm", "expm_frechet", "fractional_matrix_power", "hankel", "helmert", "hilbert", "inv", "khatri_rao", "leslie",
    "logm", "lstsq", "lu", "lu_factor", "lu_solve", "matmul_toeplitz", "norm", "null_space", "orth",
    "orthogonal_procrustes", "pascal", "pinv", "pinvh", "polar", "qr", "sinhm", "sinm", "solve", "solve_banded",
    "solve_circulant", "solve_continuous_are", "solve_continuous_lyapunov", "solve_discrete_are",
    "solve_discrete_lyapunov", "solve_lyapunov", "solve_sylvester", "solve_toeplitz", "solve_triangular",
    "solveh_banded", "sqrtm", "subspace_angles", "svd", "svdvals", "tanhm", "tanm", "toeplitz", *_PLAIN.split(),
]  # fmt: skip


def _matrix(a: Any, check_finite: bool = True) -> Any:
    x = floating(as_tensor(a))
    if x.ndim < 2:
        raise ValueError(f"expected a matrix, got an array of {x.ndim} dimensions")
    return _finite(x) if check_finite else x


def _finite(x: Any) -> Any:
    if not without_data([x]) and not np.isfinite(array_of(x)).all():
        raise ValueError("array must not contain infs or NaNs")
    return x


def _pair(a: Any, b: Any, check_finite: bool = True) -> list[Any]:
    x, y = common([_matrix(a, check_finite), floating(as_tensor(b))])
    return [x, _finite(y) if check_finite else y]


def _transposed(x: Any, trans: Any) -> Any:
    if trans in (0, "N"):
        return x
    if trans in (1, "T"):
        return x.mT
    if trans in (2, "C"):
        return x.mH
    raise ValueError(f"trans is 0, 1, 2, 'N', 'T' or 'C', not {trans!r}")


def _column_wise(solve: Any, y: Any) -> Any:
    """A solver of matrices of right sides, for one right side too."""
    return solve(y.unsqueeze(-1)).squeeze(-1) if y.ndim == 1 else solve(y)


# ---- equations


def solve(
    a: Any, b: Any, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
    check_finite: bool = True, assume_a: Any = None, transposed: bool = False,
) -> Any:  # fmt: skip
    """Solution of ``a @ x == b``; with ``assume_a="pos"``, "sym" or "her" from one triangle of `a`."""
    x, y = _pair(a, b, check_finite)
    if assume_a in ("pos", "positive definite", "sym", "symmetric", "her", "hermitian"):
        x = _from_triangle(x, lower, assume_a in ("sym", "symmetric"))
    if assume_a in ("pos", "positive definite"):
        return cho_solve((ours.cholesky(x), True), y)
    if assume_a in ("lower triangular", "upper triangular"):
        return solve_triangular(x, y, int(transposed), assume_a.startswith("lower"))
    return like_numpy.solve(x.mT if transposed else x, y)


def _from_triangle(x: Any, lower: bool, symmetric: bool) -> Any:
    half = generated.tril(x, -1) if lower else generated.triu(x, 1)
    other = half.mT if symmetric or x.dtype.kind == "f" else half.mH
    return half + other + generated.diag_embed(x.diagonal(0, -2, -1))


def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """Solution of ``a @ x == b`` with a triangle of `a`, or with its transpose."""
    x, y = _pair(a, b, check_finite)
    if not unit_diagonal and not without_data([x]) and (array_of(x.diagonal(0, -2, -1)) == 0).any():
        raise LinAlgError("singular matrix: there is a zero on the diagonal")
    x = _transposed(generated.tril(x) if lower else generated.triu(x), trans)
    upper = lower if trans not in (0, "N") else not lower
    return _column_wise(lambda z: ours.solve_triangular(x, z, upper=upper, unitriangular=unit_diagonal), y)


def solve_banded(
    l_and_u: Any, ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """Solution with a band matrix, given by its diagonals in rows."""
    x, y = _pair(ab, b, check_finite)
    return ours.solve_banded(tuple(l_and_u), x, y)


def solveh_banded(
    ab: Any,
    b: Any,
    overwrite_ab: bool = False,
    overwrite_b: bool = False,
    lower: bool = False,
    check_finite: bool = True,
) -> Any:
    """Solution with a Hermitian band matrix, given by its upper or lower diagonals in rows."""
    x, y = _pair(ab, b, check_finite)
    rows = list(x.unbind(0)) if lower else list(x.unbind(0))[::-1]
    count, size = len(rows) - 1, x.shape[1]
    below = [row if lower else generated.cat([row[k:], row.new_zeros(k)]).conj() for k, row in enumerate(rows)]
    above = [generated.cat([row.new_zeros(k), row[: size - k]]).conj() for k, row in enumerate(below)]
    return ours.solve_banded((count, count), generated.stack([*above[:0:-1], *below]), y)


def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Any:
    """Solution with the Toeplitz matrix of a first column, or of a pair of first column and row."""
    if isinstance(c_or_cr, tuple):
        column, row, y = common([floating(as_tensor(one)) for one in (*c_or_cr, b)])
        return ours.solve_toeplitz((column, row), y)
    column, y = common([floating(as_tensor(one)) for one in (c_or_cr, b)])
    return ours.solve_toeplitz(column, y)


def solve_circulant(c: Any, b: Any) -> Any:
    """Solution with the circulant matrix of a first column."""
    return solve(circulant(c), b)


def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: bool = False, workers: Any = None) -> Any:
    """Product of the Toeplitz matrix of a first column, or of a pair of first column and row, with `x`."""
    matrix = toeplitz(*c_or_cr) if isinstance(c_or_cr, tuple) else toeplitz(c_or_cr)
    left, right = common([matrix, as_tensor(x)])
    return left @ right


def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """Solution of ``a @ x + x @ b == q``."""
    return ours.solve_sylvester(*common([_matrix(one) for one in (a, b, q)]))


def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """Solution of ``a @ x + x @ a^H == q``."""
    return ours.solve_continuous_lyapunov(*common([_matrix(one) for one in (a, q)]))


solve_lyapunov = solve_continuous_lyapunov


def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> Any:
    """Solution of ``a @ x @ a^H - x + q == 0``."""
    return ours.solve_discrete_lyapunov(*common([_matrix(one) for one in (a, q)]))


def solve_continuous_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True) -> Any:
    """Solution of Riccati's equation of continuous time, ``a^H x + x a - x b r^-1 b^H x + q == 0``.

    With `e` and `s` it is ``e^H x a + a^H x e - (e^H x b + s) r^-1 (b^H x e + s^H) + q == 0``.
    """
    x, inputs, cost, effort = _riccati_arguments("continuous", a, b, q, r)
    x, cost = _without_cross_term(x, inputs, cost, effort, s)
    if e is not None:  # the equation between e^-H and e^-1 is one without `e`
        mass = as_tensor(e, x.dtype)
        x = like_numpy.solve(mass.mT, x.mT).mT
        cost = like_numpy.solve(mass.mT, like_numpy.solve(mass.mT, cost).mT).mT
    return ours.solve_continuous_are(x, inputs, cost, effort)


def solve_discrete_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True) -> Any:
    """Solution of Riccati's equation of discrete time, ``a^H x a - x - a^H x b (r + b^H x b)^-1 b^H x a + q == 0``.

    With `e` and `s` it is ``a^H x a - e^H x e - (a^H x b + s) (r + b^H x b)^-1 (b^H x a + s^H) + q == 0``.
    """
    x, inputs, cost, effort = _riccati_arguments("discrete", a, b, q, r)
    x, cost = _without_cross_term(x, inputs, cost, effort, s)
    if e is None:
        return ours.solve_discrete_are(x, inputs, cost, effort)
    mass = as_tensor(e, x.dtype)  # of e^-1 a and e^-1 b the solution is e^H x e
    x, inputs = like_numpy.solve(mass, x), like_numpy.solve(mass, inputs)
    inner = ours.solve_discrete_are(x, inputs, cost, effort)
    return like_numpy.solve(mass.mT, like_numpy.solve(mass.mT, inner).mT).mT


def _riccati_arguments(kind: str, *matrices: Any) -> list[Any]:
    found = common([_matrix(one) for one in matrices])
    if found[0].dtype.kind == "c":
        raise ValueError(f"solve_{kind}_are: of complex matrices there is no op; use scipy.linalg.solve_{kind}_are")
    for name, matrix in zip("qr", found[2:]):
        if without_data([matrix]):
            continue
        values = array_of(matrix)
        rounding = 100 * np.finfo(values.dtype).eps * np.abs(values).max(initial=0)
        if values.shape[-1] != values.shape[-2] or not np.allclose(values, values.mT, rtol=0, atol=rounding):
            raise ValueError(f"Matrix {name} should be symmetric/hermitian.")
    return found


def _without_cross_term(x: Any, inputs: Any, cost: Any, effort: Any, s: Any) -> tuple[Any, Any]:
    """The matrix and the cost of the equation in which the inputs are shifted so that there is no `s`."""
    if s is None:
        return x, cost
    cross = as_tensor(s, x.dtype)
    shift = like_numpy.solve(effort, cross.mT)
    return x - inputs @ shift, cost - cross @ shift


def lstsq(
    a: Any, b: Any, cond: Any = None, overwrite_a: bool = False, overwrite_b: bool = False, check_finite: bool = True,
    lapack_driver: Any = None,
) -> Any:  # fmt: skip
    """Least-squares solution, squared residuals, rank and singular values."""
    x, y = _pair(a, b, check_finite)
    found, squares, rank, values = like_numpy.lstsq(x, y, cond)
    return found, squares[0] if y.ndim == 1 and squares.numel() else squares, rank, values


# ---- inverses and numbers


def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True, **options: Any) -> Any:
    """Inverse of a matrix."""
    return like_numpy.inv(_matrix(a, check_finite))


def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Determinant of a matrix."""
    return like_numpy.det(_matrix(a, check_finite))


def pinvh(
    a: Any, atol: Any = None, rtol: Any = None, lower: bool = True, return_rank: bool = False, check_finite: bool = True
) -> Any:
    """Pseudo-inverse of a Hermitian matrix, from one of its triangles."""
    x = _from_triangle(_matrix(a, check_finite), lower, False)
    cut = x.shape[-1] * np.finfo(x.dtype).eps if rtol is None else rtol
    found = ours.pinv(x, atol=atol or 0.0, rtol=cut, hermitian=True)
    return (found, int(ours.matrix_rank(x.detach(), atol=atol or 0.0, rtol=cut))) if return_rank else found


def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True) -> Any:
    """Norm of a matrix or vector."""
    return like_numpy.norm(a, ord, axis, keepdims)


# ---- decompositions


def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """Triangular factor of a positive definite matrix: by default the upper one, from the upper triangle."""
    x = _from_triangle(_matrix(a, check_finite), lower, False)
    return ours.cholesky(x) if lower else ours.cholesky(x).mH


def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, bool]:
    """The factor for `cho_solve`, and whether it is the lower one."""
    return cholesky(a, lower, check_finite=check_finite), lower


def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """Solution of ``a @ x == b`` from what `cho_factor` has given."""
    factor, lower = c_and_lower
    x, y = _pair(factor, b, check_finite)
    first, second = (x, x.mH) if lower else (x.mH, x)

    def both(z: Any) -> Any:
        return ours.solve_triangular(second, ours.solve_triangular(first, z, upper=False), upper=True)

    return _column_wise(both, y)


def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True, p_indices: bool = False
) -> Any:
    """Permutation, lower and upper triangle whose product is the matrix."""
    p, lower, upper = ours.lu(_matrix(a, check_finite))
    if permute_l:
        return p @ lower, upper
    return (p.argmax(-1) if p_indices else p), lower, upper


def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> tuple[Any, Any]:
    """Both triangles in one matrix, and the pivots, counted from zero."""
    found, pivots = ours.lu_factor(_matrix(a, check_finite))
    return found, pivots - 1


def lu_solve(lu_and_piv: Any, b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """Solution of ``a @ x == b`` from what `lu_factor` has given."""
    found, pivots = lu_and_piv
    x, y = _pair(found, b, check_finite)
    places = as_tensor(pivots, np.int32) + 1
    if trans == 1 and x.dtype.kind == "c":
        return _column_wise(lambda z: ours.lu_solve(x, places, z.conj(), adjoint=True).conj(), y)
    return _column_wise(lambda z: ours.lu_solve(x, places, z, adjoint=trans != 0), y)


def qr(
    a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full", pivoting: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """An orthogonal matrix and an upper triangle whose product is the matrix."""
    if pivoting or mode == "raw":
        raise ValueError("qr: pivoting and mode 'raw' have no derivative here; use scipy.linalg.qr")
    if mode not in ("full", "r", "economic"):
        raise ValueError("Mode argument should be one of ['full', 'r', 'economic']")
    x = _matrix(a, check_finite)
    if mode == "economic":
        return tuple(ours.qr(x))
    if mode == "r":
        _, r = ours.qr(x)
        return (generated.cat([r, r.new_zeros((*r.shape[:-2], x.shape[-2] - r.shape[-2], r.shape[-1]))], -2),)
    return tuple(ours.qr(x, "complete"))


def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False, check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:  # fmt: skip
    """Singular values and vectors."""
    found = like_numpy.svd(_matrix(a, check_finite), full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


def eigh(
    a: Any, b: Any = None, *, lower: bool = True, eigvals_only: bool = False, overwrite_a: bool = False,
    overwrite_b: bool = False, type: int = 1, check_finite: bool = True, subset_by_index: Any = None,
    subset_by_value: Any = None, driver: Any = None,
) -> Any:  # fmt: skip
    """Eigenvalues and vectors of a Hermitian matrix, or of ``a @ v == w * b @ v`` with a positive definite `b`."""
    if subset_by_value is not None or type != 1:
        raise ValueError("eigh: of the generalized problems type 1 is here, and subsets by index")
    x = _from_triangle(_matrix(a, check_finite), lower, False)
    factor = None if b is None else ours.cholesky(_from_triangle(_matrix(b, check_finite), lower, False))
    if factor is not None:
        half = ours.solve_triangular(factor, x, upper=False)
        x = ours.solve_triangular(factor, half.mH, upper=False)
    chosen = slice(None) if subset_by_index is None else slice(subset_by_index[0], subset_by_index[1] + 1)
    if eigvals_only:
        return ours.eigvalsh(x)[..., chosen]
    values, vectors = ours.eigh(x)
    if factor is not None:
        vectors = ours.solve_triangular(factor.mH, vectors, upper=True)
    return values[..., chosen], vectors[..., chosen]


def eigvalsh(a: Any, b: Any = None, *, lower: bool = True, **options: Any) -> Any:
    """Eigenvalues of a Hermitian matrix."""
    return eigh(a, b, lower=lower, eigvals_only=True, **options)


def eigh_tridiagonal(d: Any, e: Any, eigvals_only: bool = False, **options: Any) -> Any:
    """Eigenvalues and vectors of a symmetric matrix, given by its diagonal and the one beside it."""
    main, beside = common([floating(as_tensor(one)) for one in (d, e)])
    matrix = generated.diag(main) + generated.diag(beside, 1) + generated.diag(beside, -1)
    return ours.eigvalsh(matrix) if eigvals_only else tuple(ours.eigh(matrix))


def eig(
    a: Any, b: Any = None, left: bool = False, right: bool = True, check_finite: bool = True, **options: Any
) -> Any:
    """Eigenvalues, which are complex, and right eigenvectors."""
    if left:
        raise ValueError("eig: left eigenvectors are not here; they are right ones of the transposed matrix")
    x = _matrix(a, check_finite)
    x = x if b is None else like_numpy.solve(b, x)
    values, vectors = ours.eig(x)
    if x.dtype.kind == "f" and not without_data([x]) and not array_of(values).imag.any():
        vectors = vectors.real
    return (values, vectors) if right else values


def polar(a: Any, side: str = "right") -> tuple[Any, Any]:
    """An orthogonal and a positive semidefinite matrix whose product is the matrix."""
    if side not in ("right", "left"):
        raise ValueError("`side` must be either 'right' or 'left'")
    u, s, vh = ours.svd(_matrix(a), full_matrices=False)
    positive = (vh.mH * s) @ vh if side == "right" else (u * s) @ u.mH
    return u @ vh, positive


def orth(A: Any, rcond: Any = None) -> Any:
    """Orthonormal basis of the range of a matrix."""
    u, s, _ = ours.svd(_matrix(A), full_matrices=False)
    return u[:, : _rank(s, A, rcond)]


def null_space(A: Any, rcond: Any = None, **options: Any) -> Any:
    """Orthonormal basis of the null space of a matrix."""
    _, s, vh = ours.svd(_matrix(A), full_matrices=True)
    return vh[_rank(s, A, rcond) :].mH


def _rank(values: Any, matrix: Any, rcond: Any) -> int:
    sizes = array_of(values)
    cut = np.finfo(sizes.dtype).eps * max(as_tensor(matrix).shape) if rcond is None else rcond
    return int((sizes > sizes.max(initial=0.0) * cut).sum())


def subspace_angles(A: Any, B: Any) -> Any:
    """Angles between the ranges of two matrices, the greatest first."""
    a, b = common([orth(A), orth(B)])
    cosines = ours.svdvals(a.mH @ b)
    rest = b - a @ (a.mH @ b) if a.shape[1] >= b.shape[1] else a - b @ (b.mH @ a)
    sines = ours.svdvals(rest)
    near = (cosines**2 >= 0.5).flip(0)
    straight = cosines.flip(0).clamp(-1, 1).acos()
    return generated.where(near, sines[: cosines.numel()].clamp(-1, 1).asin(), straight)


def orthogonal_procrustes(A: Any, B: Any, check_finite: bool = True) -> tuple[Any, Any]:
    """The orthogonal matrix that takes `A` nearest to `B`, and the sum of the singular values of their product."""
    a, b = common([_matrix(A, check_finite), _matrix(B, check_finite)])
    u, s, vh = ours.svd((b.mT @ a.conj()).mT, full_matrices=False)
    return u @ vh, s.sum()


# ---- functions of matrices


def expm(A: Any) -> Any:
    """Exponential of a matrix."""
    return ours.expm(_matrix(A))


def expm_frechet(A: Any, E: Any, method: Any = None, compute_expm: bool = True, check_finite: bool = True) -> Any:
    """Exponential of `A`, and its derivative in the direction `E`."""
    a, e = common([_matrix(A), _matrix(E)])
    upper, lower = generated.cat([a, e], -1), generated.cat([a * 0, a], -1)
    whole, n = ours.expm(generated.cat([upper, lower], -2)), a.shape[-1]
    slope = whole[..., :n, n:]
    return (whole[..., :n, :n], slope) if compute_expm else slope


def logm(A: Any, disp: Any = None) -> Any:
    """Logarithm of a matrix."""
    return ours.logm(_matrix(A))


def sqrtm(A: Any, disp: Any = None, blocksize: Any = None) -> Any:
    """Square root of a matrix."""
    return ours.sqrtm(_matrix(A))


def fractional_matrix_power(A: Any, t: float) -> Any:
    """Power of a matrix, which need not be an integer."""
    if not (is_tensor(t) and (without_data([t]) or is_recorded(t))) and int(t) == t:
        return ours.matrix_power(_matrix(A), int(t))
    return ours.expm(ours.logm(_matrix(A)) * t)


def _exponentials(A: Any, factor: complex) -> tuple[Any, Any]:
    """Of a matrix times a factor, and of its negative."""
    x = _matrix(A) * factor
    return ours.expm(x), ours.expm(-x)


def _like(A: Any, found: Any) -> Any:
    return found.real if as_tensor(A).dtype.kind != "c" and found.dtype.kind == "c" else found


def coshm(A: Any) -> Any:
    """Hyperbolic cosine of a matrix."""
    ahead, behind = _exponentials(A, 1)
    return (ahead + behind) / 2


def sinhm(A: Any) -> Any:
    """Hyperbolic sine of a matrix."""
    ahead, behind = _exponentials(A, 1)
    return (ahead - behind) / 2


def tanhm(A: Any) -> Any:
    """Hyperbolic tangent of a matrix."""
    return like_numpy.solve(coshm(A), sinhm(A))


def cosm(A: Any) -> Any:
    """Cosine of a matrix."""
    ahead, behind = _exponentials(A, 1j)
    return _like(A, (ahead + behind) / 2)


def sinm(A: Any) -> Any:
    """Sine of a matrix."""
    ahead, behind = _exponentials(A, 1j)
    return _like(A, (ahead - behind) / 2j)


def tanm(A: Any) -> Any:
    """Tangent of a matrix."""
    return like_numpy.solve(cosm(A), sinm(A))


def eigvalsh_tridiagonal(d: Any, e: Any, **options: Any) -> Any:
    """Eigenvalues of a symmetric matrix, given by its diagonal and the one beside it."""
    return eigh_tridiagonal(d, e, eigvals_only=True)


# ---- without derivatives: an error where an argument is differentiated by


def __getattr__(name: str) -> Any:
    if name not in _PLAIN.split():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    own = getattr(scipy_module("linalg", f"linalg.{name}()"), name)
    value = globals()[name] = plain(f"linalg.{name}", own)
    value.__module__, value.__name__, value.__qualname__ = __name__, name, name
    value.__doc__ = f"SciPy's `{name}` of the values of tensors. It has no derivative.\n"
    return value
