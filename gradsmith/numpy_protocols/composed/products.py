"""Products, and solutions of linear equations."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradsmith as gs
import gradsmith.numpy as gnp
from gradsmith.numpy_protocols.composed.operands import as_inexact, as_tensor, promoted
from gradsmith.runtime.tensors.summed_axes import expect_same_sizes

__all__ = [
    "convolve", "cross", "dot", "einsum", "linalg_cross", "linalg_tensordot", "matmul", "matrix_outer", "matrix_trace",
    "matvec", "multi_dot", "outer", "pinv", "qr", "solve", "svd", "tensordot", "trace", "vdot", "vecdot", "vecmat",
]  # fmt: skip


def _pair(a: Any, b: Any) -> list[Any]:
    pair = [as_tensor(a), as_tensor(b)]
    return pair if pair[0].dtype is pair[1].dtype else promoted(pair)


def matmul(x1: Any, x2: Any) -> Any:
    first, second = _pair(x1, x2)
    if not (first.ndim and second.ndim):
        raise ValueError("np.matmul(): an operand has no dimensions; a number is multiplied by *")
    try:
        return gs.matmul(first, second)
    except RuntimeError as error:
        if first.shape[-1] == second.shape[-2 if second.ndim > 1 else -1]:
            raise
        raise ValueError(str(error)) from None  # NumPy's kind


def dot(a: Any, b: Any) -> Any:
    first, second = _pair(a, b)
    if not (first.ndim and second.ndim):
        return gs.mul(first, second)
    if second.ndim <= 2:
        return gs.matmul(first, second)
    axes = [first.ndim - 1], [second.ndim - 2]
    expect_same_sizes("dot", first, second, *axes)
    return gs.tensordot(first, second, axes)


def vdot(a: Any, b: Any) -> Any:
    first, second = _pair(a, b)
    return gs.vdot(first.reshape(-1), second.reshape(-1))


def vecdot(x1: Any, x2: Any, axis: int = -1) -> Any:
    first, second = _pair(x1, x2)
    expect_same_sizes("vecdot", first, second, [axis], [axis])
    return gs.linalg.vecdot(first, second, dim=axis)


def matvec(x1: Any, x2: Any) -> Any:
    return gs.matvec(*_pair(x1, x2))


def vecmat(x1: Any, x2: Any) -> Any:
    return gs.vecmat(*_pair(x1, x2))


def outer(a: Any, b: Any) -> Any:
    first, second = _pair(a, b)
    return gs.outer(first.reshape(-1), second.reshape(-1))


def matrix_outer(x1: Any, x2: Any) -> Any:
    return gs.outer(*_pair(x1, x2))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    first, second = _pair(a, b)
    if isinstance(axes, (int, np.integer)):
        expect_same_sizes("tensordot", first, second, range(-int(axes), 0), range(int(axes)))
    else:
        axes = tuple(list(part) if isinstance(part, (tuple, list)) else [part] for part in axes)
        expect_same_sizes("tensordot", first, second, *axes)
    return gs.tensordot(first, second, axes)


def linalg_tensordot(x1: Any, x2: Any, axes: Any = 2) -> Any:
    return tensordot(x1, x2, axes)


def multi_dot(arrays: Any) -> Any:
    return gs.linalg.multi_dot(promoted([as_tensor(part) for part in arrays]))


def einsum(*operands: Any, dtype: Any = None, order: str = "K") -> Any:
    if isinstance(operands[0], str):
        tensors = promoted([as_tensor(operand) for operand in operands[1:]])
        return gs.einsum(operands[0].replace(" ", ""), *_of_dtype(tensors, dtype))
    given = [as_tensor(operand) for operand in operands[: len(operands) // 2 * 2 : 2]]
    parts = iter(_of_dtype(promoted(given), dtype))
    last = len(operands) - 1
    return gs.einsum(*(value if n % 2 or n == last else next(parts) for n, value in enumerate(operands)))


def _of_dtype(tensors: list[Any], dtype: Any) -> list[Any]:
    return tensors if dtype is None else [tensor.to(np.dtype(dtype)) for tensor in tensors]


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    first, second = _pair(a, b)
    first, second = first.movedim(axisa, -1), second.movedim(axisb, -1)
    if {first.shape[-1], second.shape[-1]} in ({2}, {2, 3}):
        return gnp.cross(a, b, axisa, axisb, axisc)  # in the plane, which NumPy warns of
    if first.shape[-1] != 3 or second.shape[-1] != 3:
        raise ValueError(
            "incompatible dimensions for cross product: vectors must have 3 elements, got "
            f"{first.shape[-1]} and {second.shape[-1]}"
        )
    shape = np.broadcast_shapes(tuple(first.shape), tuple(second.shape))
    return gs.linalg.cross(first.broadcast_to(shape), second.broadcast_to(shape), dim=-1).movedim(-1, axisc)


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    first, second = (one.reshape(1) if one.ndim == 0 else one for one in _pair(a, v))
    return gs.convolve(first, second, mode=mode)


def linalg_cross(x1: Any, x2: Any, axis: int = -1) -> Any:
    return cross(x1, x2, axis=axis)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    return gs.sum(gs.diagonal(as_tensor(a), offset, axis1, axis2), -1, dtype=dtype)


def matrix_trace(x: Any, offset: int = 0, dtype: Any = None) -> Any:
    return trace(x, offset, -2, -1, dtype)


# ---- equations and decompositions


def solve(a: Any, b: Any) -> Any:
    """A right side of one dimension is a vector; any other is a stack of matrices."""
    left, right = map(as_inexact, _pair(a, b))
    if right.ndim == 1:
        shape = (*tuple(left.shape)[:-2], right.shape[0], 1)
        return gs.linalg.solve(left, right.unsqueeze(-1).broadcast_to(shape)).squeeze(-1)
    stack = np.broadcast_shapes(tuple(left.shape)[:-2], tuple(right.shape)[:-2])
    left = left.broadcast_to((*stack, *tuple(left.shape)[-2:]))
    return gs.linalg.solve(left, right.broadcast_to((*stack, *tuple(right.shape)[-2:])))


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, rtol: Any = None) -> Any:
    bound = 1e-15 if rcond is None and not isinstance(rtol, (int, float)) else rtol if rcond is None else rcond
    return gs.linalg.pinv(as_inexact(as_tensor(a)), rtol=bound, hermitian=hermitian)


def qr(a: Any, mode: str = "reduced") -> Any:
    found = gs.linalg.qr(as_inexact(as_tensor(a)), "reduced" if mode == "r" else mode)
    return found[1] if mode == "r" else found


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    tensor = as_inexact(as_tensor(a))
    return gs.linalg.svd(tensor, full_matrices) if compute_uv else gs.linalg.svdvals(tensor)
