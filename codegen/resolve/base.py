"""Base of the resolver's parts: the scope, lookup of callees, and names known not to be None."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from ..formula.callees import TREE, Callee, Callees, Mismatch, bind, intrinsics
from ..formula.formula import Expr, Gradient, Name, Variable
from ..formula.scope import Scope
from ..spec.errors import Consequence
from ..spec.helpers import MIXED
from .value_types import Present, gradient_name


@dataclass
class ResolverBase(ABC):
    """One formula and its scope. Raises `Problem` with the offset of what is wrong."""

    scope: Scope
    callees: Callees
    spellings: set[str] = field(default_factory=set)  # of gradients: "grad", "grads", "grad_values"
    _present: list[Present] = field(default_factory=list)  # what may be None elsewhere, and is not here

    @abstractmethod
    def visit(self, node: ast.expr) -> Expr:
        """The tree of any part of the formula."""

    @property
    def is_inserted(self) -> bool:
        """Is the text at hand that of a function, whose arguments are known: what they rule out has no meaning."""
        return bool(self.scope.names_outside)

    # -- names that may be None

    def narrowed(self, found: Expr) -> Expr:
        if isinstance(found, Gradient) and gradient_name(found.index) in self._present:
            return replace(found, type=found.type.required)
        key = found.name if isinstance(found, (Name, Variable)) else found
        if key in self._present and found.type.optional:
            return replace(found, type=found.type.required)
        return found

    @contextmanager
    def knowing(self, present: tuple[Present, ...]) -> Iterator[None]:
        """The names known not to be None inside of this context."""
        self._present.extend(present)
        try:
            yield
        finally:
            del self._present[len(self._present) - len(present) :]

    # -- callees

    def forgive_broken(self, name: str) -> None:
        if name in self.callees.broken | self.callees.broken_functions:
            raise Consequence(f"uses {name}, whose entry is wrong")

    def candidates(self, function: str) -> list[Callee]:
        """Ops, then helpers; in a pointwise forward also loop functions.

        In the forward of an op its name means what it meant without that op.
        """
        is_own = function == self.scope.own_base
        found = self.callees.of_library(function) if is_own else self.callees.named(function)
        if self.scope.elementwise and not found:
            return list(intrinsics().get(function, ()))
        return found

    def promoting(self, callee: Callee) -> Callee:
        """Matrix products refuse operands of two dtypes, as PyTorch's do. A formula gets one that converts them."""
        if not self.scope.promotes or callee.c_entry != f"{TREE}{callee.signature.base}":
            return callee
        other = self.callees.expect_entry(f"{callee.signature.base}_{MIXED}")
        return callee if other is None else replace(callee, c_entry=other.c_entry, family=other.family)

    @staticmethod
    def first_match(candidates: list[Callee], positional: list[Expr]) -> tuple[Callee, tuple[Expr, ...]] | None:
        for callee in candidates:
            try:
                return callee, bind(callee, positional)
            except Mismatch:
                continue
        return None
