"""Programs written for HIPS autograd: write ``gradsmith.compat.hips`` where they say ``autograd``.

Functions take and give arrays, numbers and trees of these; within a function that is differentiated, arrays are boxes
with NumPy's methods.

>>> import gradsmith.compat.hips.numpy as np
>>> from gradsmith.compat.hips import grad
>>> def tanh(x):
...     return (1.0 - np.exp(-2 * x)) / (1.0 + np.exp(-2 * x))
>>> grad(tanh)(1.0).round(6), grad(grad(tanh))(1.0).round(6)
(np.float64(0.419974), np.float64(-0.6397))
"""

from __future__ import annotations

import importlib
from typing import Any

from gradsmith.compat.hips.builtins import dict, isinstance, list, tuple, type
from gradsmith.compat.hips.differential_operators import (
    checkpoint,
    deriv,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    holomorphic_grad,
    jacobian,
    make_ggnvp,
    make_hvp,
    make_jvp,
    make_jvp_reversemode,
    make_vjp,
    multigrad_dict,
    tensor_jacobian_product,
    value_and_grad,
    vector_jacobian_product,
)
from gradsmith.compat.hips.extend import primitive

__all__ = [
    "checkpoint", "deriv", "dict", "elementwise_grad", "grad", "grad_and_aux", "grad_named", "hessian",
    "hessian_tensor_product", "hessian_vector_product", "holomorphic_grad", "isinstance", "jacobian", "list",
    "make_ggnvp", "make_hvp", "make_jvp", "make_jvp_reversemode", "make_vjp", "multigrad_dict", "primitive",
    "tensor_jacobian_product", "tuple", "type", "value_and_grad", "vector_jacobian_product",
]  # fmt: skip

_MODULES = (
    "core",
    "misc",
    "numpy",
    "scipy",
    "test_util",
    "tracer",
    "util",
    "wrap_util",
)  # others are imported with this one


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
