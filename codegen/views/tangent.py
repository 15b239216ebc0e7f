"""Forward mode of a variant as the templates see it: the lines of its rule, and the call that has it run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ..formula.facts import settled
from ..formula.formula import Name
from ..formula.printing import CythonPrinter
from ..model import GradientRule, Tangent, Tangents, TangentTerm, Variant
from ..spec.names import tangent_name, tangents_name
from .model import Incoming, TangentView, tuple_text
from .node import gradient_list, gradient_names, incoming

LONGEST = 100  # names in a row
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


def tangent_view(variant: Variant) -> TangentView | None:
    tangents = variant.tangents
    if tangents is None:
        return None
    is_transposed = tangents.rule == "transposed"
    operands = _transposed_inputs(variant) if is_transposed else tangents.inputs
    body = list(_transposed(variant)) if is_transposed else list(_sums(variant, tangents))
    given = _names_read(variant, body)
    read = any(tangent_name(name) in line for name in operands for line in body)
    return TangentView(
        name=tangents_name(variant.stem),
        comment=" ".join(tangents.text.split()),
        condition=tangent_condition(variant, tangents.inputs),
        is_transposed=is_transposed,
        lines=(
            *_unpacked([tangent_name(name) for name in operands if read], "tangents"),
            *_unpacked(given, "given"),
            *body,
        ),
        call=_call(variant, operands, given),
    )


def tangent_condition(variant: Variant, names: Iterable[str]) -> str:
    """Ask about three tensors at a time, each list by itself; the same shape as the test for recording."""
    lists = [name for name in names if variant.signature.argument(name).type.is_tensor_list]
    single = [name for name in names if name not in lists]
    groups = [single[i : i + 3] for i in range(0, len(single), 3)]
    tests = [f"has_tangent_{len(group)}({', '.join(group)})" for group in groups]
    return " or ".join([*tests, *(f"has_tangent_list({name})" for name in lists)])


def read_after_write(variant: Variant) -> tuple[str, ...]:
    """Tensors that the rule of an op that writes reads: a write changes `self` and all that shares its memory.

    It changes the tangent of `self` too, which is multiplied by any value that is read.
    """
    if not variant.written or variant.tangents is None:
        return ()
    read = _reads(variant)
    if read & {*variant.tangents.inputs, *variant.signature.output_names} and "self" in variant.tangents.inputs:
        read |= {"self"}
    return tuple(a.name for a in variant.signature.arguments if a.name in read and a.type.is_differentiable)


def _reads(variant: Variant) -> frozenset[str]:
    """Names whose values the rule reads, tangents among them."""
    tangents = variant.tangents
    if tangents is None:
        return frozenset()
    exprs = [term.expr for output in tangents.outputs for term in output.terms]
    if tangents.rule == "transposed":
        exprs = [settled(gradient.formula.expr) for gradient in _gradients(variant)]
    return frozenset(part.name for expr in exprs for part in expr.walk() if isinstance(part, Name))


def _call(variant: Variant, operands: tuple[str, ...], given: tuple[str, ...]) -> str:
    """``carry_tangents(result, (self,), tangents_exp, (result,))``; an op that writes has its result in `self`."""
    outputs = variant.signature.output_names
    places = {name: "self" if variant.written else name for name in outputs}
    if variant.has_view_among:
        shown = zip(outputs, variant.signature.returns, strict=True)
        places |= {name: f"unlinked({name})" for name, returned in shown if returned.type.alias}
    before = {"self": "original"} if "self" in read_after_write(variant) else {}
    of_operands = tuple_text(before.get(name, name) for name in operands)
    more = f"{of_operands}, {tangents_name(variant.stem)}, {tuple_text({**before, **places}.get(n, n) for n in given)}"
    if variant.tangents and variant.tangents.rule == "transposed":
        whole = f"tuple({places[outputs[0]]})" if variant.signature.returns_list else _stood_for(variant, places)
        return f"carry_transposed({whole}, {more})"
    whole = places[outputs[0]] if len(outputs) == 1 else tuple_text(map(places.__getitem__, outputs))
    return f"carry_tangents({whole}, {more})"


def _stood_for(variant: Variant, places: Mapping[str, str]) -> str:
    """The results that have a stand-in, in its order; of a list, its tensors."""
    ordered = variant.signature.in_gradient_order
    results = [places[ordered[grad.index][0]] for grad in _stand_ins(variant)]
    return tuple_text([*results, *(f"*{places[name]}" for name, returned in ordered if returned.type.is_list)])


def _unpacked(names: Iterable[str], source: str) -> Iterator[str]:
    """``self_t, other_t = tangents``"""
    targets = list(names)
    text = f"{', '.join(targets)}{',' if len(targets) == 1 else ''}"
    if targets:
        yield f"{text if len(text) < LONGEST else f'({text})'} = {source}"  # a line is broken at its brackets


def _names_read(variant: Variant, lines: Iterable[str]) -> tuple[str, ...]:
    """Results and arguments that a rule reads, besides the tangents."""
    words = {word for line in lines for word in _WORD.findall(line)}
    names = (*variant.signature.output_names, *(argument.name for argument in variant.signature.arguments))
    return tuple(dict.fromkeys(name for name in names if name in words))


# ---- sums


def _sums(variant: Variant, tangents: Tangents) -> Iterator[str]:
    """The tangent of each output, in the order of the outputs."""
    printer = CythonPrinter(lists=_lists(variant))
    by_output = {output.output: output for output in tangents.outputs}
    given = []
    for index, name in enumerate(variant.signature.output_names):
        output = by_output.get(index)
        if output is None or not output.terms:
            given.append("None")
        elif _is_sole(output, tangents):
            yield from _filled(output.terms[0])
            given.append(printer.text(output.terms[0].expr))
        else:
            yield from _sum(output, tangent_name(name), printer)
            given.append(tangent_name(name))
    yield f"return {', '.join(given)}"


def _is_sole(output: Tangent, tangents: Tangents) -> bool:
    """The operands have a tangent at every level that the rule is run for: the one term is there."""
    return len(output.terms) == 1 and set(output.terms[0].reads) == set(tangents.inputs)


def _sum(output: Tangent, name: str, printer: CythonPrinter) -> Iterator[str]:
    yield f"{name} = None"
    # Terms that read one tangent come first: those that read several have to fill in zeros.
    for number, term in enumerate(sorted(output.terms, key=lambda term: len(term.reads))):
        yield f"if {_is_there(term.reads)}:"
        yield from (f"    {line}" for line in _filled(term))
        text = printer.text(term.expr)
        yield f"    {name} = plus({name}, {text})" if number else f"    {name} = {text}"


def _filled(term: TangentTerm) -> Iterator[str]:
    """Zeros for the missing tangents, where a term reads several."""
    for name in term.reads if len(term.reads) > 1 else ():
        yield f"{tangent_name(name)} = or_zeros({tangent_name(name)}, {name})"


def _is_there(names: Iterable[str]) -> str:
    return " or ".join(f"{tangent_name(name)} is not None" for name in names)


def _lists(variant: Variant) -> frozenset[str]:
    return frozenset(a.name for a in variant.signature.arguments if a.type.is_tensor_list)


# ---- transposed


def _transposed_inputs(variant: Variant) -> tuple[str, ...]:
    return tuple(name for gradient in _gradients(variant) for name in gradient.inputs)


def _stand_ins(variant: Variant) -> tuple[Incoming, ...]:
    """The gradients that formulas read, but for those of a list; of formulas that read none, all."""
    names = gradient_names(variant)[: -1 if gradient_list(variant) else None]
    return incoming(variant) or tuple(Incoming(name, i) for i, name in enumerate(names))


def _gradients(variant: Variant) -> tuple[GradientRule, ...]:
    return variant.backward.gradients if variant.backward else ()


def _transposed(variant: Variant) -> Iterator[str]:
    """The formula of each input that has a tangent, in the order of the inputs."""
    names = gradient_names(variant)
    of_list = gradient_list(variant)
    if not variant.signature.returns_list:
        more = [f"*{of_list}"] if of_list else []
        yield from _unpacked([*(grad.name for grad in _stand_ins(variant)), *more], "gradients")
    printer = CythonPrinter(gradients=names, all_gradients=of_list, lists=_lists(variant))
    several = len(_gradients(variant)) > 1
    formulas = []
    for gradient in _gradients(variant):
        text = printer.parts(settled(gradient.formula.expr))
        if several:  # the inputs of a single one have a tangent at every level that the rule is run for
            nothing = tuple_text(["None"] * len(gradient.inputs)) if gradient.is_joint else "None"
            text = f"({text})" if " if " in text else text
            text = f"{text} if {_is_there(gradient.inputs)} else {nothing}"
        if gradient.is_joint:
            yield f"parts = {text}"
        formulas.append("*parts" if gradient.is_joint else text)
    yield f"return {tuple_text(formulas)}"
