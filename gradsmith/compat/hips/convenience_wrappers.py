"""``autograd.convenience_wrappers``, the older place of `differential_operators`."""

from gradsmith.compat.hips.differential_operators import (
    checkpoint,
    elementwise_grad,
    grad,
    grad_and_aux,
    grad_named,
    hessian,
    hessian_tensor_product,
    hessian_vector_product,
    jacobian,
    make_ggnvp,
    make_hvp,
    multigrad_dict,
    value_and_grad,
    vector_jacobian_product,
)

__all__ = [
    "checkpoint", "elementwise_grad", "grad", "grad_and_aux", "grad_named", "hessian", "hessian_tensor_product",
    "hessian_vector_product", "jacobian", "make_ggnvp", "make_hvp", "multigrad_dict", "value_and_grad",
    "vector_jacobian_product",
]  # fmt: skip
