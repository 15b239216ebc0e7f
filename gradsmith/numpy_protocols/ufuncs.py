"""The ufuncs of NumPy and SciPy, and the ops that they are."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from gradsmith.numpy_protocols import composed
from gradsmith.numpy_protocols.composed.operands import op_named
from gradsmith.runtime.tensors.plain_methods import set_op_of_ufunc

# Those whose op has another name, or takes other operands than the ufunc. All others have the op of their own name.
OTHER_NAMES = {
    "absolute": "abs", "fabs": "abs", "sign": "sgn", "invert": "bitwise_not", "conjugate": "conj", "equal": "eq",
    "not_equal": "ne",
}  # fmt: skip
COMPOSED = {
    "matmul": composed.matmul, "vecdot": composed.vecdot, "matvec": composed.matvec, "vecmat": composed.vecmat,
}  # fmt: skip

# They have no meaning for tensors, or are constant where they have a derivative and are not among the ops.
WITHOUT_OP = ("bitwise_count", "isnat", "spacing")

_ops: dict[np.ufunc, Any] = {}


def expect_op(ufunc: np.ufunc) -> Any:
    """The op of a ufunc, or None. Found once, it is called without coming here again."""
    if ufunc not in _ops:
        op = _of_numpy(ufunc) or _of_scipy(ufunc)
        if op is None:
            return None
        _ops[ufunc] = op
        set_op_of_ufunc(ufunc, op)
    return _ops[ufunc]


def _of_numpy(ufunc: np.ufunc) -> Any:
    name = ufunc.__name__
    if getattr(np, name, None) is not ufunc or name in WITHOUT_OP:
        return None
    return COMPOSED.get(name) or op_named(OTHER_NAMES.get(name, name))


def _of_scipy(ufunc: np.ufunc) -> Any:
    """SciPy is loaded if the ufunc is one of its own."""
    name = ufunc.__name__
    scipy_special = sys.modules.get("scipy.special")
    if scipy_special is None or getattr(scipy_special, name, None) is not ufunc:
        return None
    for path in (f"special.{name}", name):
        try:
            return op_named(path)
        except AttributeError:
            continue
    return None


def name_of(ufunc: np.ufunc) -> str:
    """As errors say it: ``exp``, ``special.gammaln``."""
    return str(ufunc.__name__)
