"""Functions that a table declares for its formulas: texts that stand for themselves, with the arguments in place."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ..spec.schema import Signature
from ..spec.schema_types import Type
from .callees import Callee


@dataclass(frozen=True)
class Function:
    """``- function: wrapped(int[] dims, int ndim) -> int[]`` with ``forward: composite([d % ndim for d in dims])``."""

    signature: Signature
    body: ast.expr

    @property
    def callee(self) -> Callee:
        """The types of its arguments; it has no entry of its own."""
        return Callee(self.signature, "", "", loops=False)

    @property
    def returned(self) -> Type:
        return self.signature.returns[0].type
