"""Distances and angles of vectors."""

from __future__ import annotations

from gradsmith.generated.tensor import Tensor
from gradsmith.nn import functional as F
from gradsmith.nn.modules.module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """The norm of the difference of two inputs along the last dimension.

    Parameters
    ----------
    p : float, optional
        The exponent of the norm.
    eps : float, optional
        Added to the difference.
    keepdim : bool, optional
        Whether the last dimension stays, with size 1.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.PairwiseDistance(eps=0.0)(gs.tensor([[3.0, 0.0]]), gs.tensor([[0.0, 4.0]]))
    tensor([5.])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """See `nn.functional.pairwise_distance`."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between two inputs along a dimension.

    Parameters
    ----------
    dim : int, optional
    eps : float, optional
        The least norm, so that nothing is divided by zero.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.nn.CosineSimilarity()(gs.tensor([[3.0, 0.0]]), gs.tensor([[1.0, 0.0]]))
    tensor([1.])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """See `nn.functional.cosine_similarity`."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
