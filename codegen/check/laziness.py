"""Families that are imported on first use: nothing that is always imported may need one."""

from __future__ import annotations

from collections.abc import Sequence

from ..entries.declaration import Declaration
from ..formula.called import called_entries
from ..model import Op
from ..spec.errors import Collector
from ..spec.vocabulary import LAZY_FAMILIES


def report_eager_calls(declarations: Sequence[Declaration], ops: Sequence[Op], errors: Collector) -> None:
    """Report formulas of gradsmith's own table by which a family would import one that is imported on first use."""
    for declaration, op in zip(declarations, ops, strict=True):
        if op.is_lazy or declaration.package:
            continue
        called = {found for variant in op.variants for tree in variant.trees for found in called_entries(tree)}
        for family, name in sorted(called):
            if family in LAZY_FAMILIES:
                problem = f"calls {name} of '{family}', a family that is imported on first use, from '{op.family}'"
                hint = "Move one of the two ops, or put the caller's family among LAZY_FAMILIES too."
                errors.add(declaration.position, declaration.base, problem, hint)
