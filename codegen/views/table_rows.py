"""One row per op, for tests, documentation and benchmarks that iterate over all ops."""

from __future__ import annotations

from dataclasses import dataclass

from ..api.docs import tangent_texts
from ..api.latex import forward_latex
from ..api.parameters import python_parameters
from ..model import Interval, Op, Point, Table


@dataclass(frozen=True)
class RowArgument:
    name: str
    type: str
    default: str | None
    keyword_only: bool


@dataclass(frozen=True)
class OpRowView:
    """Fields as in the generated table, which documents them."""

    name: str
    base: str
    overload: str
    family: str
    arguments: tuple[RowArgument, ...]
    parameters: tuple[str, ...]
    returns: tuple[str, ...]
    forms: tuple[str, ...]
    entries: tuple[str, ...]
    inputs: tuple[str, ...]
    gradients: tuple[tuple[str, str], ...]
    tangent: str
    derived: tuple[str, ...]
    saving: str
    outputs: tuple[bool, ...]
    samples: tuple[tuple[tuple[str, str], ...], ...]
    operators: tuple[tuple[str, str], ...]
    aliases: tuple[str, ...]
    variadic: str | None
    forward: str
    complex: bool
    is_view: bool
    is_composite: bool
    nondifferentiable: str
    subgradient: str
    points: tuple[Point, ...]
    domain: tuple[tuple[str, Interval], ...]
    latex: str
    reference: str
    surrogate: str
    cancellation: str
    resets_accumulator: bool
    out_of_place: str
    non_differentiable: tuple[str, ...]
    depends_on_layout: bool
    stops_gradient: bool
    result_types: tuple[str, ...]
    requires: tuple[str, ...]
    batching: str
    doc: str


_FORMS = ("function", "method", "property", "inplace", "out", "copy", "internal")


def op_rows(table: Table) -> tuple[OpRowView, ...]:
    """Those of functions that only formulas call are left out: what calls them is proven."""
    return tuple(op_row(op) for op in table.ops if op.samples)


def op_row(op: Op) -> OpRowView:
    gradients = _gradients(op)
    return OpRowView(
        name=op.name,
        base=op.base,
        overload=op.overload,
        family=op.family,
        arguments=tuple(RowArgument(a.name, str(a.type), a.default, a.keyword_only) for a in op.signature.arguments),
        parameters=tuple(_parameter_names(op)),
        returns=op.signature.output_names,
        forms=tuple(form for form in _FORMS if form in op.forms),
        entries=tuple(variant.c_entry for variant in op.variants),
        inputs=tuple(dict.fromkeys(name for names, _ in gradients for name in names)),
        gradients=tuple((", ".join(names), text) for names, text in gradients),
        tangent="; ".join(tangent_texts(op)),
        derived=_derived(op),
        saving=next((v.backward.saving for v in op.variants if v.backward), ""),
        outputs=op.output_differentiability,
        samples=tuple(tuple(sample.items()) for sample in op.samples),
        operators=op.operators,
        aliases=op.aliases,
        variadic=op.variadic,
        forward=f"{op.variants[0].forward.kind}({op.variants[0].forward.text})",
        complex=op.supports_complex,
        is_view=op.is_view,
        is_composite=op.is_composite,
        nondifferentiable=op.nondifferentiable,
        subgradient=op.policy.subgradient,
        points=op.policy.points,
        domain=op.policy.domain,
        latex=forward_latex(op),
        reference=op.policy.reference,
        surrogate=op.policy.surrogate,
        cancellation=op.policy.cancellation,
        resets_accumulator=op.policy.resets_accumulator,
        out_of_place=op.policy.out_of_place,
        non_differentiable=op.non_differentiable,
        depends_on_layout=op.policy.depends_on_layout,
        stops_gradient=op.policy.stops_gradient,
        result_types=_result_types(op),
        requires=tuple(dict.fromkeys(r.message for variant in op.variants for r in variant.requirements)),
        batching=_batching(op),
        doc=op.doc,
    )


def _batching(op: Op) -> str:
    """``rule``, ``parts``, ``values`` or ``loop: why``; of several variants the one that is furthest from a rule."""
    found = [variant.batching for variant in op.variants]
    for loop in (b for b in found if b is not None and b.method == "slice_by_slice"):
        return f"loop: {loop.reason}"
    if any(b is not None and b.method == "by_values" for b in found):
        return "values"
    return "parts" if any(b is None or b.method == "by_parts" for b in found) else "rule"


def _result_types(op: Op) -> tuple[str, ...]:
    returns = op.signature.returns
    is_usual = len(returns) == 1 or op.signature.has_plain_returns
    return () if is_usual else tuple(str(returned.type) for returned in returns)


def _parameter_names(op: Op) -> list[str]:
    """Those of the function, without NumPy's names for operands."""
    return [p.name for p in python_parameters(op, method=False) if p.second_name_of in ("", "dim", "keepdim")]


def _gradients(op: Op) -> list[tuple[tuple[str, ...], str]]:
    """Inputs and formula, over all variants: a union has its formula in one of them only."""
    found: dict[tuple[str, ...], str] = {}
    for variant in op.variants:
        for gradient in variant.backward.gradients if variant.backward else ():
            found.setdefault(gradient.inputs, " ".join(gradient.formula.text.split()))
    return list(found.items())


def _derived(op: Op) -> tuple[str, ...]:
    """Inputs whose formula is derived."""
    gradients = [gradient for variant in op.variants if variant.backward for gradient in variant.backward.gradients]
    names = [name for gradient in gradients if gradient.formula.is_derived for name in gradient.inputs]
    return tuple(dict.fromkeys(names))
