"""Products with Jacobians and Hessians, and these themselves, of Python functions of tensors.

>>> import gradsmith as gs
>>> from gradsmith.autograd.functional import hessian, jacobian
>>> x = gs.tensor([1.0, 2.0])
>>> jacobian(lambda x: x * x, x)
tensor([[2., 0.],
        [0., 4.]])
>>> hessian(lambda x: (x**3).sum(), x)
tensor([[ 6.,  0.],
        [ 0., 12.]])
"""

from gradsmith.autograd.functional.arguments import _as_tuple, _grad_postprocess, _tuple_postprocess
from gradsmith.autograd.functional.basis import _construct_standard_basis_for
from gradsmith.autograd.functional.matrices import hessian, jacobian
from gradsmith.autograd.functional.products import hvp, jvp, vhp, vjp

__all__ = [
    "_as_tuple", "_construct_standard_basis_for", "_grad_postprocess", "_tuple_postprocess", "vjp", "jvp", "jacobian",
    "hessian", "hvp", "vhp",
]  # fmt: skip
