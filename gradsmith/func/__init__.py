"""Transforms of functions of tensors: gradients, products with Jacobians, Jacobians and Hessians, which compose.

>>> import gradsmith as gs
>>> from gradsmith import func
>>> def energy(x):
...     return (x**4).sum() / 4
>>> x = gs.tensor([1.0, 2.0])
>>> func.grad(energy)(x)
tensor([1., 8.])
>>> func.hessian(energy)(x)
tensor([[ 3.,  0.],
        [ 0., 12.]])
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gradsmith.func.forward import jvp, linearize
from gradsmith.func.implicit import custom_root, fixed_point
from gradsmith.func.jacobians import hessian, hvp, jacfwd, jacrev
from gradsmith.func.mapping import vmap
from gradsmith.func.mutations import debug_unwrap, functionalize
from gradsmith.func.reverse import grad, grad_and_value, value_and_grad, vjp
from gradsmith.func.stateless import functional_call, replace_all_batch_norm_modules_, stack_module_state
from gradsmith.names.missing import missing_attribute
from gradsmith.runtime.batching.fallback import is_vmap_fallback_warning_enabled, set_vmap_fallback_warning_enabled

if TYPE_CHECKING:
    from gradsmith.func.sparse import SparsityPattern as SparsityPattern
    from gradsmith.func.sparse import hessian_pattern as hessian_pattern
    from gradsmith.func.sparse import jacobian_pattern as jacobian_pattern
    from gradsmith.func.sparse import sparse_hessian as sparse_hessian
    from gradsmith.func.sparse import sparse_jacobian as sparse_jacobian

__all__ = [
    "SparsityPattern", "custom_root", "debug_unwrap", "fixed_point", "functional_call", "functionalize", "grad",
    "grad_and_value", "hessian", "hessian_pattern", "hvp", "is_vmap_fallback_warning_enabled", "jacfwd",
    "jacobian_pattern", "jacrev", "jvp", "linearize", "replace_all_batch_norm_modules_",
    "set_vmap_fallback_warning_enabled", "sparse_hessian", "sparse_jacobian", "stack_module_state", "value_and_grad",
    "vjp", "vmap",
]  # fmt: skip

_SPARSE = ("SparsityPattern", "hessian_pattern", "jacobian_pattern", "sparse_hessian", "sparse_jacobian")


def __getattr__(name: str) -> Any:
    """Sparse derivatives, which read the table of all ops: it takes longer to import than all else."""
    if name in _SPARSE:
        value = globals()[name] = getattr(importlib.import_module("gradsmith.func.sparse"), name)
        return value
    raise missing_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
