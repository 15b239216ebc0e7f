"""Gradsmith's own table, as it looks to the formulas of an external table."""

from __future__ import annotations

from ..formula.callees import Callee, Callees, intrinsics
from ..formula.reductions import expect_reduction
from ..model import Op, Table, Variant
from ..spec.vocabulary import LOOP_UFUNCS


def library_callees(library: Table) -> Callees:
    """Its ops that formulas may call."""
    return Callees(
        (_callee(op, variant) for op in library.ops for variant in op.variants),
        holomorphic=library.holomorphic,
    )


def _callee(op: Op, variant: Variant) -> Callee:
    forward = variant.forward
    return Callee(
        variant.signature,
        variant.c_entry,
        op.family,
        _loops(op, variant),
        op.operators,
        is_elementwise=forward.is_elementwise or op.base in intrinsics(),
        reduction=expect_reduction(forward.text) if forward.kind == "array" else None,
    )


def _loops(op: Op, variant: Variant) -> bool:
    forward = variant.forward
    if variant.requirements:
        return False
    return op.base in intrinsics() or forward.kind == "pointwise" or forward.ufunc in LOOP_UFUNCS


def library_returns(library: Table) -> dict[str, tuple[str, ...]]:
    """C entry -> names of its returns, where there are several."""
    variants = library.variants.items()
    return {c_entry: v.signature.output_names for c_entry, v in variants if len(v.signature.returns) > 1}
