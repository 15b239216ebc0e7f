"""The node of an op: its gradients, and what it must keep for them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from ..check.context import Context, Resolved, gives_gradient
from ..check.lets import named_parts
from ..entries.declaration import Declaration, DerivedText, RawFormula
from ..formula.formula import Attribute, Expr, Formula, Gradient, Gradients, Name, TupleExpr
from ..formula.guards import inputs_reading
from ..formula.loops import why_not_loop
from ..formula.scope import GRADIENTS, Scope
from ..formula.shapes import ShapeCheck
from ..model import Backward, Forward, GradientRule, SavedTensor, SavedValue
from ..saving.cost import Prices
from ..saving.decision import Plan, planned, ways_of
from ..saving.explanation import why_kept
from ..spec.errors import Collector
from ..spec.schema import Signature
from ..spec.schema_types import Type
from ..spec.vocabulary import LIST_ATTRIBUTES
from .rewriting import Rewriter


@dataclass(frozen=True)
class BackwardBuilder:
    """Builds the node of one variant."""

    declaration: Declaration
    index: int  # of the variant
    number: int  # of the entry among those of its base: MulBackward0
    context: Context

    @property
    def signature(self) -> Signature:
        return self.declaration.expanded[self.index][0]

    def expect_backward(self, forward: Forward | None) -> Backward | None:
        """The node; None when the variant has none, or after an error (which has been reported)."""
        formulas = [f for f in map(self.for_variant, self.declaration.formulas) if f is not None]
        if not formulas:
            return None
        gradients = self.gradients(formulas)
        # Errors elsewhere in the entry may contradict the model of a node.
        if gradients is None or forward is None or self.context.errors:
            return None
        return self.backward(self.plan(gradients, formulas, forward))

    def backward(self, plan: Plan) -> Backward:
        gradients = plan.way.gradients
        values = tuple(self.values(gradients))
        backward = Backward(
            class_name=self.declaration.node_class(self.index, self.number),
            node_name=f"{self.declaration.camel_case}Backward{self.number}",
            gradients=gradients,
            differentiable_inputs=self.edges([g.inputs for g in gradients]),
            saved=tuple(self.saved(gradients, are_lists=False)),
            values=values,
            saved_lists=tuple(self.saved(gradients, are_lists=True, slot=len(values))),
            outputs=tuple(sorted(number for number, _, _ in self.wanted_outputs())),
            saving=plan.reason,
            note=plan.note,
        )
        return backward if plan.reason else replace(backward, saving=why_kept(backward))

    # -- gradients

    def for_variant(self, formula: RawFormula) -> RawFormula | None:
        """The formula without inputs that are numbers here; None when nothing is left."""
        numbers = self.declaration.scalar_positions(self.index)
        inputs = tuple(name for name in formula.inputs if name not in numbers)
        return replace(formula, inputs=inputs) if inputs else None

    def edges(self, inputs: list[tuple[str, ...]]) -> tuple[str, ...]:
        """Differentiable inputs in the order of the signature, but lists last: they have an edge for each tensor."""
        wanted = {name for names in inputs for name in names}
        found = [a for a in self.signature.arguments if a.name in wanted]
        return tuple(a.name for a in sorted(found, key=lambda a: a.type.is_list))

    def gradients(self, formulas: list[RawFormula]) -> tuple[GradientRule, ...] | None:
        resolved = [(formula, self.resolve(formula)) for formula in formulas]
        self.verify_spellings(resolved)
        edges = self.edges([formula.inputs for formula in formulas])
        found = [
            GradientRule(raw.inputs, formula, tuple(edges.index(name) for name in raw.inputs))
            for raw, result in resolved
            if result is not None and (formula := self.expect_formula(raw, result)) is not None
        ]
        if len(found) < len(formulas):
            return None
        return tuple(sorted(found, key=lambda gradient: gradient.edges))

    def resolve(self, formula: RawFormula) -> Resolved | None:
        scope = self.scope(self.written(formula))
        named = named_parts(self.declaration.entry, formula.text, scope, self.context)
        subject = self.subject(formula)
        found = self.context.expect_expr(formula.text, named.within(scope), self.declaration.base, subject)
        return replace(found, lets=named.parts) if found and named.parts else found

    def subject(self, formula: RawFormula) -> str:
        numbers = self.declaration.scalar_positions(self.index)
        if not numbers:
            return formula.subject
        names = " and ".join(repr(name) for name in numbers)
        return f"{formula.subject.rstrip(',')}, where {names} {'is a number' if len(numbers) == 1 else 'are numbers'},"

    def expect_formula(self, raw: RawFormula, resolved: Resolved) -> Formula | None:
        expr = self.parts_for(raw, resolved.expr)
        types = [self.signature.argument(name).type for name in raw.inputs]
        reason = gives_gradient(expr, types) or self.why_not_saved(expr) or self.why_not_shaped(raw, expr)
        if reason:
            self.error(raw, f"{self.subject(raw)} {reason}")
            return None
        position = raw.text.position
        return Formula(
            raw.text.text, position.line, position.column, expr, self.is_loop(expr), raw.is_derived, resolved.lets
        )

    def why_not_shaped(self, raw: RawFormula, expr: Expr) -> str:
        """Errors in the shapes of a formula, as far as shapes are known."""
        declaration = self.declaration
        outputs = self.signature.output_names
        check = ShapeCheck(declaration.is_elementwise, declaration.reduction, outputs, self.context.callees)
        parts = expr.items if len(raw.inputs) > 1 and isinstance(expr, TupleExpr) else (expr,) * len(raw.inputs)
        reasons = (check.why_no_gradient(part, name) for name, part in zip(raw.inputs, parts, strict=True))
        return next(filter(None, reasons), "")

    def parts_for(self, raw: RawFormula, expr: Expr) -> Expr:
        """Of a joint tuple, the parts of the inputs that are tensors here."""
        written = self.written(raw)
        if len(written) == len(raw.inputs) or not isinstance(expr, TupleExpr):
            return expr
        items = [e for name, e in zip(written, expr.items, strict=False) if name in raw.inputs]
        return items[0] if len(items) == 1 else TupleExpr(expr.type, tuple(items))

    def written(self, raw: RawFormula) -> tuple[str, ...]:
        """The inputs that the entry wrote the formula for, whatever is a number here."""
        return next(f for f in self.declaration.formulas if set(raw.inputs) <= set(f.inputs)).inputs

    def is_loop(self, expr: Expr) -> bool:
        """Elementwise throughout, over tensors that all broadcast to the shape of the result."""
        return self.declaration.is_elementwise and not why_not_loop(expr, self.context.callees)

    def why_not_saved(self, expr: Expr) -> str:
        drawn = [part.name for part in expr.walk() if isinstance(part, Name) and part.name in self.signature.generators]
        if drawn:
            return f"reads '{drawn[0]}', which gives other numbers by then: make those that were drawn a result"
        outputs = dict(zip(self.signature.output_names, self.signature.returns, strict=True))
        for part in expr.walk():
            if isinstance(part, Name) and part.name in outputs and part.type.is_tensor_list:
                return f"reads '{part.name}', a list of results, which a node cannot keep"
        return ""

    def verify_spellings(self, resolved: list[tuple[RawFormula, Resolved | None]]) -> None:
        """`grad`, `grads[i]` and `grad_<name>` in one entry: the author has several ideas of what the results are."""
        first: str = ""
        for raw, result in resolved:
            spellings = sorted(result.spellings) if result else []
            for spelling in spellings:
                if first and _spelling_kind(first) != _spelling_kind(spelling):
                    problem = f"{raw.subject} mixes '{spelling}' with '{first}'"
                    self.error(raw, problem, "Use one of the two throughout the entry.")
                first = first or spelling

    # -- what is saved

    def plan(self, gradients: tuple[GradientRule, ...], formulas: list[RawFormula], forward: Forward) -> Plan:
        """The gradients by what the node shall keep."""
        raws = {raw.inputs: raw for raw in formulas}
        rewriter = self.rewriter(forward)
        ways = ways_of([(g, *self.other_ways(g, raws[g.inputs], rewriter)) for g in gradients])
        return planned(ways, self.declaration.saves, self.prices(forward), self.declaration.base)

    def rewriter(self, forward: Forward) -> Rewriter:
        return Rewriter(
            signature=self.signature,
            c_entry=self.declaration.c_entries[self.index],
            forward=forward,
            scope=self.scope(()),
            callees=self.context.callees,
            only_real=not self.declaration.supports_complex,
        )

    def other_ways(self, gradient: GradientRule, raw: RawFormula, rewriter: Rewriter) -> Iterator[GradientRule]:
        """Gradients of the same value that read something else."""
        position = raw.text.position
        rewritten = () if raw.is_derived else rewriter.others(raw.text.text)
        others = raw.others or [DerivedText(text, position, "") for text in rewritten]
        quiet = replace(self, context=replace(self.context, errors=Collector(self.context.errors.file), told=set()))
        for text in others:
            other = replace(raw, text=text)
            resolved = quiet.resolve(other)
            formula = quiet.expect_formula(other, resolved) if resolved else None
            if formula is not None:
                yield replace(gradient, formula=formula)

    def prices(self, forward: Forward) -> Prices:
        return Prices(
            forward=forward,
            c_entry=self.declaration.c_entries[self.index],
            arguments=tuple(argument.name for argument in self.signature.arguments),
            output=self.signature.output_names[0],
            is_inplace="inplace" in self.declaration.forms
            and "self" not in self.declaration.scalar_positions(self.index),
            is_reduction=self.declaration.reduction is not None,
        )

    def error(self, raw: RawFormula, problem: str, hint: str = "") -> None:
        self.context.error(raw.text, 0, self.declaration.base, problem, hint)

    # -- names

    def scope(self, inputs: tuple[str, ...]) -> Scope:
        outputs = self.declaration.output_differentiability
        return Scope(
            variables=dict(self.variables()),
            differentiable_outputs=outputs,
            returns_list=any(r.type.is_list for r in self.signature.returns),
            optional_outputs=frozenset(i for i, r in enumerate(self.signature.returns) if r.type.optional),
            multi_returns=self.context.multi_returns,
            mask=inputs if len(inputs) > 1 else (),
            numbers=self.declaration.scalar_positions(self.index),
            in_backward=True,
            promotes=bool(self.declaration.package),
        )

    def variables(self) -> Iterator[tuple[str, Expr]]:
        for argument in self.signature.arguments:
            yield argument.name, Name(argument.type.plain, argument.name)
        for name, returned in zip(self.signature.output_names, self.signature.returns, strict=True):
            yield name, Name(returned.type.plain, name)
        yield from self.gradient_variables()

    def gradient_variables(self) -> Iterator[tuple[str, Expr]]:
        """`grad` is the gradient of the one differentiable result; with several it means nothing."""
        if self.signature.returns_list:
            yield "grads", Gradients(GRADIENTS)
            return
        has_list = any(r.type.is_list for r in self.signature.returns)
        if len(self.signature.returns) > 1 and not has_list:
            yield "grads", Gradients(GRADIENTS)
        wanted = list(self.wanted_outputs())
        if len(wanted) == 1 and not has_list:
            yield "grad", gradient_of(*wanted[0])
        yield from ((f"grad_{output[1]}", gradient_of(*output)) for output in wanted if output[1])

    def wanted_outputs(self) -> Iterator[tuple[int, str, Type]]:
        """Number of the gradient, name and type of the results that have a history."""
        numbers, flags = self.signature.gradient_numbers, self.declaration.output_differentiability
        for number, returned, is_wanted in zip(numbers, self.signature.returns, flags, strict=True):
            if is_wanted:
                yield number, returned.name, returned.type.plain

    # -- what is kept, in the order of the signature: arguments, then results

    def saved(self, gradients: tuple[GradientRule, ...], are_lists: bool, slot: int = 0) -> Iterator[SavedTensor]:
        """The single tensors, or the lists of tensors; `slot` is that of the first."""
        for name, is_output, kind in self.tensor_names():
            needed_by = _readers(gradients, name)
            if needed_by and (kind.is_tensor_list if are_lists else kind.is_tensor):
                edges = _edges(gradients, needed_by, Name(kind.plain, name))
                yield SavedTensor(name, slot, is_output, are_lists, kind.optional, needed_by, edges)
                slot += 1

    def tensor_names(self) -> list[tuple[str, bool, Type]]:
        arguments = [(a.name, False, a.type) for a in self.signature.arguments]
        results = zip(self.signature.output_names, self.signature.returns, strict=True)
        return arguments + [(name, True, returned.type) for name, returned in results]

    def values(self, gradients: tuple[GradientRule, ...]) -> Iterator[SavedValue]:
        """Arguments that are no tensors, and attributes of those that are."""
        counted = self.counted(gradients)
        every_edge = tuple(edge for gradient in gradients for edge in gradient.edges)
        slot = 0
        for name, _, kind in self.tensor_names():
            needed_by = _readers(gradients, name)
            if needed_by and not kind.is_differentiable:
                edges = _edges(gradients, needed_by, Name(kind.plain, name))
                yield SavedValue(name, slot, None, None, needed_by, edges, self.value_kind(name, kind))
                slot += 1
            for attribute in _attributes(gradients, name):
                readers = _attribute_readers(gradients, attribute)
                edges = every_edge if attribute in counted else _edges(gradients, readers, attribute)
                yield SavedValue(attribute.saved_name, slot, name, attribute.attribute, readers, edges)
                slot += 1
            for count in (c for c in counted if c.owner == name and c not in _attributes(gradients, name)):
                yield SavedValue(count.saved_name, slot, name, count.attribute, (), every_edge)
                slot += 1

    def value_kind(self, name: str, type_: Type) -> Literal["plain", "operand", "object"]:
        if type_.name == "object":
            return "object"
        return "operand" if name in self.declaration.scalar_positions(self.index) else "plain"

    def counted(self, gradients: tuple[GradientRule, ...]) -> tuple[Attribute, ...]:
        """Numbers of tensors of all lists but the last: they tell where the edges of the next list begin."""
        inputs = self.edges([gradient.inputs for gradient in gradients])
        lists = [name for name in inputs if self.signature.argument(name).type.is_list]
        return tuple(Attribute(LIST_ATTRIBUTES["count"], name, "count") for name in lists[:-1])


def gradient_of(number: int, _: str, returned: Type) -> Expr:
    """Of a list the gradients of its tensors; None may come for a result that may be absent."""
    return Gradients(GRADIENTS) if returned.is_list else Gradient(returned, number)


def _edges(gradients: tuple[GradientRule, ...], readers: tuple[int, ...], wanted: Name | Attribute) -> tuple[int, ...]:
    """Edges without any of which none of the formulas reads the value."""
    return tuple(edge for i in readers for edge in _edges_reading(gradients[i], wanted))


def _edges_reading(gradient: GradientRule, wanted: Name | Attribute) -> tuple[int, ...]:
    if not gradient.is_joint:
        return gradient.edges
    inputs = inputs_reading(gradient.formula.expr, lambda e: _is_same(e, wanted), frozenset(gradient.inputs))
    return tuple(e for name, e in zip(gradient.inputs, gradient.edges, strict=True) if name in inputs)


def _is_same(expr: Expr, wanted: Name | Attribute) -> bool:
    """The same value, known to be there or not."""
    if isinstance(expr, Name) and isinstance(wanted, Name):
        return expr.name == wanted.name
    return isinstance(expr, Attribute) and isinstance(wanted, Attribute) and expr.saved_name == wanted.saved_name


def _spelling_kind(spelling: str) -> str:
    return spelling if spelling in ("grad", "grads") else "by name"


def _readers(gradients: tuple[GradientRule, ...], name: str) -> tuple[int, ...]:
    return tuple(i for i, gradient in enumerate(gradients) if name in gradient.formula.uses)


def _attributes(gradients: tuple[GradientRule, ...], owner: str) -> list[Attribute]:
    """Attributes of one tensor, each once, in the order in which formulas read them."""
    parts = (part for gradient in gradients for part in gradient.formula.expr.walk())
    return list(dict.fromkeys(p for p in parts if isinstance(p, Attribute) and p.owner == owner))


def _attribute_readers(gradients: tuple[GradientRule, ...], attribute: Attribute) -> tuple[int, ...]:
    wanted = (attribute.owner, attribute.attribute)
    return tuple(i for i, g in enumerate(gradients) if wanted in g.formula.attributes)
