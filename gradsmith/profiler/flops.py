"""Floating point operations of an op, from the shapes of its operands: products of matrices, and arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_Shape = tuple[int, ...]


def flops_of(name: str, shapes: Sequence[Any]) -> int | None:
    """Operations of one call; a multiplication with an addition is two. None where it is not known.

    Parameters
    ----------
    name : str
        Of the op; that of its in-place form will do.
    shapes : sequence
        Of the operands; () for what is no tensor.
    """
    count = _COUNTS.get(name.rstrip("_"))
    return None if count is None else count(*shapes)


def _matmul(a: _Shape, b: _Shape, *_: Any) -> int:
    rows = a[:-1]
    columns = b[-1:] if len(b) > 1 else ()
    batch = _broadcast(a[:-2], b[:-2])
    return 2 * math.prod(batch) * math.prod(rows[-1:]) * a[-1] * math.prod(columns)


def _matmul_of_transpose(a: _Shape, b: _Shape) -> int:
    return 2 * math.prod(a) * b[-1]


def _rows_of_groups(a: _Shape, b: _Shape) -> int:
    return 2 * math.prod(a) * b[-1]


_outers_of_groups = _rows_of_groups


def _linear(x: _Shape, weight: _Shape, bias: _Shape) -> int:
    rows, products = math.prod(x[:-1]), 2 * math.prod(x[:-1]) * math.prod(weight)
    return products + rows * math.prod(weight[:-1]) if bias else products


def _outer(a: _Shape, b: _Shape, *_: Any) -> int:
    return math.prod(a) * math.prod(b)


def _pointwise(*shapes: _Shape) -> int:
    return math.prod(_broadcast(*shapes))


def _broadcast(*shapes: _Shape) -> _Shape:
    return np.broadcast_shapes(*shapes)


_COUNTS: dict[str, Callable[..., int]] = {
    "matmul": _matmul,
    "mm": _matmul,
    "bmm": _matmul,
    "mv": _matmul,
    "dot": _matmul,
    "matmul_of_transpose": _matmul_of_transpose,
    "rows_of_groups": _rows_of_groups,
    "outers_of_groups": _outers_of_groups,
    "linear": _linear,
    "outer": _outer,
    "add": _pointwise,
    "sub": _pointwise,
    "mul": _pointwise,
    "div": _pointwise,
    "neg": _pointwise,
    "square": _pointwise,
    "reciprocal": _pointwise,
}
