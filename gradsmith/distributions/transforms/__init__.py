"""Differentiable maps with the logarithms of the determinants of their Jacobian matrices.

>>> import gradsmith as gs
>>> sigmoid = gs.distributions.transforms.SigmoidTransform()
>>> x = gs.zeros(2)
>>> sigmoid.log_abs_det_jacobian(x, sigmoid(x)).exp()
tensor([0.2500, 0.2500])
"""

from gradsmith.distributions.transforms.base import (
    ComposeTransform,
    Transform,
    _InverseTransform,
    identity_transform,
)
from gradsmith.distributions.transforms.composed import (
    CatTransform,
    CumulativeDistributionTransform,
    IndependentTransform,
    ReshapeTransform,
    StackTransform,
)
from gradsmith.distributions.transforms.elementwise import (
    AbsTransform,
    AffineTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
)
from gradsmith.distributions.transforms.matrices import (
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
)
from gradsmith.distributions.transforms.vectors import SoftmaxTransform, StickBreakingTransform

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform",
    "_InverseTransform", "identity_transform",
]  # fmt: skip
