"""opt_einsum on tensors: importing this module makes ``opt_einsum.contract`` and its expressions take them.

    import gradsmith.utils.opt_einsum
    opt_einsum.contract("ij,jk,kl->il", a, b, c)

`gradsmith.einsum` needs no more than that opt_einsum is installed: it multiplies three operands and more in the order
that opt_einsum finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gradsmith as gs
from gradsmith.utils.optional import required

__all__ = ["einsum", "tensordot", "transpose"]

einsum = gs.einsum


def tensordot(x: gs.Tensor, y: gs.Tensor, axes: Any = 2) -> gs.Tensor:
    """Sums of products over axes of both, named as NumPy names them."""
    return gs.tensordot(x, y, dims=axes)


def transpose(x: gs.Tensor, axes: Sequence[int]) -> gs.Tensor:
    """A view with the axes in another order."""
    return gs.permute(x, tuple(axes))


# Where opt_einsum looks for the functions of tensors, by the name of their package.
_dispatch = required("opt_einsum", "gradsmith.utils.opt_einsum", "opt_einsum.backends.dispatch")
_dispatch._aliases["gradsmith"] = __name__
