"""Forward mode of a variant as the templates see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..formula.facts import settled
from ..formula.formula import Name
from ..formula.printing import CythonPrinter
from ..model import Tangents, TangentTerm, Variant
from ..spec.names import tangent_name, tangents_name
from .model import Incoming, TangentInput, TangentOutput, TangentTermView, TangentView, TransposedPart
from .node import gradient_names, incoming


def tangent_view(variant: Variant) -> TangentView | None:
    tangents = variant.tangents
    if tangents is None:
        return None
    inputs = tuple(_inputs(variant, tangents))
    outputs = tuple(_outputs(variant, tangents))
    stand_ins = _stand_ins(variant) if tangents.rule == "transposed" else ()
    sums = [output.tangent for output in outputs if output.terms and not output.sole]
    singles = [i.tangent for i in inputs if i.getter == "tangent"]
    lists = [i.tangent for i in inputs if i.getter == "tangents"]
    of_results = [*sums, *(gradient for _, gradient in stand_ins)]
    gives_list = variant.signature.returns[0].type.is_tensor_list
    return TangentView(
        name=tangents_name(variant.stem),
        comment=tangents.text,
        condition=tangent_condition(variant, tangents.inputs),
        operands=tangents.inputs,
        inputs=inputs,
        tensor_locals=(*singles, *(() if gives_list else of_results)),
        list_locals=(*lists, *(of_results if gives_list else ())),
        gives_list=gives_list,
        results=variant.signature.output_names,
        outputs=outputs,
        transposed=tuple(_transposed(variant, tangents)),
        stand_ins=stand_ins,
    )


def tangent_reads(variant: Variant) -> frozenset[str]:
    """Names whose values the rule reads, tangents among them."""
    tangents, backward = variant.tangents, variant.backward
    if tangents is None or backward is None:
        return frozenset()
    exprs = [term.expr for output in tangents.outputs for term in output.terms]
    if tangents.rule == "transposed":
        exprs = [settled(gradient.formula.expr) for gradient in backward.gradients]
    return frozenset(part.name for expr in exprs for part in expr.walk() if isinstance(part, Name))


def tangent_condition(variant: Variant, names: Iterable[str]) -> str:
    """Ask about three tensors at a time, each list by itself; the same shape as the test for recording."""
    lists = [name for name in names if variant.signature.argument(name).type.is_tensor_list]
    single = [name for name in names if name not in lists]
    groups = [single[i : i + 3] for i in range(0, len(single), 3)]
    tests = [f"has_tangent_{len(group)}({', '.join(group)})" for group in groups]
    return " or ".join([*tests, *(f"has_tangent_list({name})" for name in lists)])


def _inputs(variant: Variant, tangents: Tangents) -> Iterator[TangentInput]:
    read = {name for output in tangents.outputs for term in output.terms for name in term.reads}
    for name in tangents.inputs:
        if name in read or tangents.rule == "transposed":
            is_list = variant.signature.argument(name).type.is_tensor_list
            yield TangentInput(name, tangent_name(name), "tangents" if is_list else "tangent")


def _outputs(variant: Variant, tangents: Tangents) -> Iterator[TangentOutput]:
    lists = frozenset(a.name for a in variant.signature.arguments if a.type.is_tensor_list)
    printer = CythonPrinter(lists=lists)
    for output in tangents.outputs:
        name = variant.signature.output_names[output.output]
        # Rules that read one tangent come first: those that read several have to fill in zeros.
        terms = sorted(output.terms, key=lambda term: len(term.reads))
        views = tuple(_term(term, tangents, printer) for term in terms)
        # The operands have a tangent at every level that the rule is run for: a sole term is there.
        sole = len(views) == 1 and set(terms[0].reads) == set(tangents.inputs)
        yield TangentOutput(name, tangent_name(name), views, sole)


def _term(term: TangentTerm, tangents: Tangents, printer: CythonPrinter) -> TangentTermView:
    several = len(term.reads) > 1
    return TangentTermView(
        condition=" or ".join(f"{tangent_name(name)} is not None" for name in term.reads),
        filled=term.reads if several else (),
        text=printer.text(term.expr),
    )


# ---- transposed


def _stand_ins(variant: Variant) -> tuple[tuple[str, str], ...]:
    """Results, and what the formulas call their gradients."""
    names = variant.signature.output_names
    read = incoming(variant) or [Incoming(name, i) for i, name in enumerate(gradient_names(variant))]
    return tuple((names[grad.index], grad.name) for grad in read)


def _transposed(variant: Variant, tangents: Tangents) -> Iterator[TransposedPart]:
    backward = variant.backward
    if tangents.rule != "transposed" or backward is None:
        return
    lists = frozenset(a.name for a in variant.signature.arguments if a.type.is_tensor_list)
    names = gradient_names(variant)
    gives_list = variant.signature.returns[0].type.is_tensor_list
    printer = CythonPrinter(gradients=names, all_gradients=names[0] if gives_list else "", lists=lists)
    for gradient in backward.gradients:
        yield TransposedPart(
            comment=f"{', '.join(gradient.inputs)}: {' '.join(gradient.formula.text.split())}",
            condition=" or ".join(f"{tangent_name(name)} is not None" for name in gradient.inputs),
            inputs=tuple((name, tangent_name(name)) for name in gradient.inputs),
            text=printer.parts(settled(gradient.formula.expr)),
            kind="joint" if gradient.is_joint else "list" if gradient.inputs[0] in lists else "single",
        )
