"""Products and solutions with matrices of `scipy.sparse`, differentiable by their values too."""

from __future__ import annotations

from gradsmith.sparse import matmul, spsolve

__all__ = ["matmul", "spsolve"]
