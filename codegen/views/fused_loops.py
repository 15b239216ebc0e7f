"""Formulas of an op that become compiled loops, and the places where a loop finds its operands."""

from __future__ import annotations

from ..model import Backward, GradientRule, Table, Variant
from ..spec.schema import Argument
from .kernels import Kernel, Places, expect_kernel


def backward_kernels(variant: Variant, table: Table) -> tuple[Kernel | None, ...] | None:
    """One kernel per edge, None for a gradient that passes; None for all when a formula needs more than a loop."""
    backward = variant.backward
    if backward is None or len(variant.signature.returns) != 1 or backward.saved_lists:
        return None
    kernels = [expect_backward_kernel(variant, backward, gradient, table) for gradient in backward.gradients]
    passing = [gradient.formula.is_identity for gradient in backward.gradients]
    if all(passing) or any(k is None and not p for k, p in zip(kernels, passing, strict=True)):
        return None
    return tuple(kernels)


def expect_backward_kernel(variant: Variant, backward: Backward, gradient: GradientRule, table: Table) -> Kernel | None:
    if gradient.formula.is_identity or gradient.is_joint or not gradient.formula.is_pointwise:
        return None
    places = Places(
        inputs={saved.name: f"GS_SAVED | {saved.slot}" for saved in backward.saved},
        scalars={value.name: value.slot for value in backward.values if value.owner is None},
        gradients=("grad",),
    )
    name = f"{variant.stem}_backward_{gradient.inputs[0]}"
    text = f"{gradient.inputs[0]}: {gradient.formula.text}"
    return expect_kernel(name, text, gradient.formula.expr, places, table)


def forward_kernel(variant: Variant, table: Table) -> Kernel | None:
    formula = variant.forward.formula
    if variant.forward.kind != "pointwise" or formula is None:
        return None
    places = Places(
        inputs={a.name: str(i) for i, a in enumerate(tensors_of(variant))},
        scalars={a.name: i for i, a in enumerate(numbers_of(variant))},
    )
    return expect_kernel(f"{variant.stem}_forward", formula.text, formula.expr, places, table)


def tensors_of(variant: Variant) -> list[Argument]:
    return [a for a in variant.signature.arguments if a.type.is_tensor]


def numbers_of(variant: Variant) -> list[Argument]:
    return [a for a in variant.signature.arguments if a.type.is_number]
