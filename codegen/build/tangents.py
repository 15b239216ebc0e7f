"""Forward mode of an op: how the tangents of its results follow from those of its inputs.

An entry may say it (``result: ...``). Tangents that it leaves out are derived, in this order:

- an elementwise op uses the formulas of its gradients: the derivative that multiplies `grad` there multiplies a tangent
  here (`auto_element_wise`);
- a view none of whose gradients reads a value is linear, and is applied to the tangents (`auto_linear`); so is an op of
  this tree that a function of runtime/arrays/functions computes. Such an op is linear in each of several inputs when
  the gradient of each reads the others alone (`auto_linear_in_each`);
- whatever is left is `transposed`: its gradients are linear in `grad`, and the graph of a linear map, run backwards, is
  the transposed map.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import cast, get_args

from ..check.context import Context
from ..check.lets import named_parts
from ..entries.declaration import Declaration, RawFormula
from ..formula.facts import is_unknown, settled
from ..formula.formula import Call, Conditional, Expr, Gradient, Literal, Name, Subscript, TupleExpr
from ..formula.scope import TENSOR, TENSORS, Scope
from ..formula.substitute import substituted
from ..model import Backward, Tangent, TangentRule, Tangents, TangentTerm
from ..spec.errors import Problem
from ..spec.names import tangent_name
from ..spec.schema import Argument, Signature
from ..spec.schema_types import Type
from ..spec.syntax import called, parse
from .linearity import is_holomorphic, without_conj

AUTOMATIC: tuple[str, ...] = tuple(rule for rule in get_args(TangentRule) if rule != "formula")
ZERO = Literal(Type("int"), 0)


@dataclass(frozen=True)
class TangentBuilder:
    """Builds the forward mode of one variant that has a node."""

    declaration: Declaration
    index: int  # of the variant
    backward: Backward
    context: Context

    @property
    def signature(self) -> Signature:
        return self.declaration.expanded[self.index][0]

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.backward.differentiable_inputs

    def expect_tangents(self) -> Tangents | None:
        """None after an error, which has been reported."""
        declared = self.declaration.tangent_formulas
        if not declared:
            return self.derived()
        rules = {raw.text.text.strip() for raw in declared} & set(AUTOMATIC)
        if not rules:
            return self.explicit(declared)
        return self.automatic(cast("TangentRule", rules.pop()), declared[0])

    # -- as the entry says

    def automatic(self, rule: TangentRule, raw: RawFormula) -> Tangents | None:
        reason = self.why_not(rule)
        if reason:
            self.error(raw, f"{raw.subject} is {rule}, but {reason}")
            return None
        return self.by_rule(rule, declared=True)

    def why_not(self, rule: TangentRule) -> str:
        """Why the op cannot have this rule, as far as the entry alone can tell."""
        if rule == "auto_element_wise":
            if len(self.signature.returns) > 1 or self.signature.returns_list:
                return "the op has several results"
            if any(self.type_of(name).is_list for name in self.inputs):
                return "the op takes a list of tensors"
            if any(g.is_joint and not isinstance(g.formula.expr, TupleExpr) for g in self.backward.gradients):
                return "one formula gives the gradients of several inputs"
            if any(map(may_be_none, self.formulas())):
                return "a formula may give None"
        if rule in ("auto_linear", "auto_linear_in_each") and self.signature.returns[0].type.written:
            return "the op would write into a tangent"
        if rule in ("auto_linear", "auto_linear_in_each") and self.signature.generators:
            return "the op would draw other numbers for a tangent"
        return ""

    def formulas(self) -> Iterator[Expr]:
        """One for each input, as far as they are apart."""
        for gradient in self.backward.gradients:
            expr = gradient.formula.expr
            yield from expr.items if isinstance(expr, TupleExpr) else (expr,)

    def explicit(self, declared: tuple[RawFormula, ...]) -> Tangents | None:
        outputs = [output for raw in declared for output in self.explicit_outputs(raw)]
        missing = self.outputs() - {output.output for output in outputs}
        if self.context.errors:
            return None
        if missing:
            name = self.signature.output_names[min(missing)]
            self.error(declared[0], f"has no forward formula for '{name}'", "Every differentiable result needs one.")
            return None
        text = "; ".join(f"{', '.join(raw.inputs)}: {' '.join(raw.text.text.split())}" for raw in declared)
        single = len(declared) == 1 and declared[0].inputs == ("result",)
        text = " ".join(declared[0].text.text.split()) if single else text
        return Tangents("formula", text, True, self.inputs, tuple(outputs))

    def explicit_outputs(self, raw: RawFormula) -> Iterator[Tangent]:
        """One formula, or a tuple of as many as it names outputs."""
        node = self.expect_parsed(raw)
        if node is None:
            return
        nodes = [node] if len(raw.inputs) == 1 else list(getattr(node, "elts", ()))
        if len(nodes) != len(raw.inputs):
            self.error(raw, f"{raw.subject} gives {len(nodes) or 1} tangents for {len(raw.inputs)} results")
            return
        for name, part in zip(raw.inputs, nodes, strict=True):
            terms = self.explicit_terms(raw, part, self.wanted(name))
            if terms is not None:
                yield Tangent(self.signature.output_names.index(name), terms)

    def expect_parsed(self, raw: RawFormula) -> ast.expr | None:
        try:
            return parse(raw.text.text)
        except Problem as problem:
            self.context.error(
                raw.text, problem.offset, self.declaration.base, f"{raw.subject} {problem.problem}", problem.hint
            )
            return None

    def wanted(self, name: str) -> Type:
        """The type of the tangent of a result."""
        returned = self.signature.returns[self.signature.output_names.index(name)].type
        return TENSORS if returned.is_list else TENSOR

    def explicit_terms(self, raw: RawFormula, node: ast.expr, wanted: Type) -> tuple[TangentTerm, ...] | None:
        terms: list[TangentTerm] = []
        every = set(map(tangent_name, self.differentiable))
        here = set(map(tangent_name, self.inputs))
        read_at_all = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} & every
        if not read_at_all:
            self.error(raw, f"{raw.subject} reads no tangent", f"Tangents: {', '.join(sorted(every))}.")
            return None
        scope = self.scope(raw)
        for term in summands(node):
            read = {n.id for n in ast.walk(term) if isinstance(n, ast.Name)} & every
            if read and not read & here:
                continue  # only tangents of what are numbers here: zero
            resolved = self.context.expect_node(raw.text, term, scope, self.declaration.base, raw.subject)
            if resolved is None:
                return None
            drawn = [p.name for p in resolved.walk() if isinstance(p, Name) and p.name in self.signature.generators]
            if drawn:
                self.error(raw, f"{raw.subject} reads '{drawn[0]}', which gives other numbers by then")
                return None
            if resolved.type.plain.required != wanted:
                self.error(raw, f"{raw.subject} gives {resolved.type.plain}, but a tangent is a {wanted}")
                return None
            terms.append(TangentTerm(self.reads(resolved), resolved))
        return tuple(terms)

    def scope(self, raw: RawFormula) -> Scope:
        variables: dict[str, Expr] = {a.name: Name(a.type.plain, a.name) for a in self.signature.arguments}
        for name, returned in zip(self.signature.output_names, self.signature.returns, strict=True):
            variables[name] = Name(returned.type.plain, name)
        promotes = bool(self.declaration.package)
        plain = Scope(variables=dict(variables), multi_returns=self.context.multi_returns, promotes=promotes)
        named = named_parts(self.declaration.entry, raw.text, plain, self.context, has_gradient=False)
        for name in self.differentiable:
            kind = self.type_of(name)
            here = name in self.inputs
            variables[tangent_name(name)] = Name(kind.plain.required, tangent_name(name)) if here else ZERO
        return named.within(replace(plain, variables=variables))

    @property
    def differentiable(self) -> tuple[str, ...]:
        """Inputs with a gradient in some variant: here they may be numbers, whose tangent is zero."""
        named = {name for formula in self.declaration.formulas for name in formula.inputs}
        return tuple(a.name for a in self.signature.arguments if a.name in named)

    # -- derived

    def derived(self) -> Tangents:
        return self.by_rule(self.fitting_rule(), declared=False)

    def fitting_rule(self) -> TangentRule:
        if self.declaration.is_elementwise and not self.why_not("auto_element_wise"):
            return "auto_element_wise"
        if self.signature.returns[0].type.written or self.signature.generators:
            return "transposed"  # the op is not applied to tangents: it would write into one, or draw again
        if any(is_unknown(g.formula.expr) for g in self.backward.gradients) or self.refused():
            return "transposed"  # what the formulas read does not say how the op depends on its inputs
        # Gradients that read no value are those of x + 1 too, so that it has to be known that nothing is added.
        return self.linear_rule() if self.adds_nothing() else "transposed"

    def linear_rule(self) -> TangentRule:
        """By what the gradients read: no value at all, or those of all other inputs, as in a product."""
        values = {*self.differentiable, *self.signature.output_names}
        read = [(set(g.inputs), g.formula.uses & values) for g in self.backward.gradients]
        if not any(uses for _, uses in read):
            return "auto_linear"
        inputs = set(self.inputs)
        is_product = len(inputs) > 1 and all(len(own) == 1 and uses == inputs - own for own, uses in read)
        return "auto_linear_in_each" if is_product else "transposed"

    def adds_nothing(self) -> bool:
        """Is the result zero where the inputs are: of a view, and of an array function of the tree by convention."""
        if len(self.signature.returns) == 1 and self.signature.returns[0].type.alias:
            return True
        forward = self.declaration.forward
        if forward is None or forward.kind != "array" or self.declaration.package:
            return False
        return called(forward.text) in self.context.functions

    def by_rule(self, rule: TangentRule, *, declared: bool) -> Tangents:
        outputs: tuple[Tangent, ...] = ()
        if rule == "auto_element_wise":
            outputs = (Tangent(0, tuple(self.elementwise_terms())),)
        elif rule == "auto_linear":
            outputs = tuple(self.linear_outputs())
        elif rule == "auto_linear_in_each":
            terms = tuple(self.term(self.applied({name}, numbers_too=False)) for name in self.inputs)
            outputs = (Tangent(0, terms),)
        return Tangents(rule, rule, declared, self.inputs, outputs)

    def elementwise_terms(self) -> Iterator[TangentTerm]:
        for gradient in self.backward.gradients:
            expr = gradient.formula.expr
            parts = expr.items if isinstance(expr, TupleExpr) else (expr,)
            for name, part in zip(gradient.inputs, parts, strict=True):
                if is_unknown(part):
                    yield TangentTerm((name,), settled(part))  # an error where there is a tangent
                elif any(isinstance(step, Gradient) for step in part.walk()):
                    yield self.term(self.along(settled(part), Name(TENSOR, tangent_name(name))))

    def along(self, formula: Expr, tangent: Expr) -> Expr:
        """The gradient ``F(grad) = grad * conj(f')`` made a derivative along a tangent: ``conj(F(conj(t)))``."""
        conj = self.context.callees.expect_unary("conj")
        if conj is None or not self.declaration.supports_complex:
            return without_conj(substituted(formula, {Gradient: lambda _: tangent}))
        if is_holomorphic(formula, self.context.callees):
            return without_conj(substituted(formula, {Gradient: lambda _: tangent}))
        inner = substituted(formula, {Gradient: lambda _: conj(tangent)})
        return conj(inner)

    def linear_outputs(self) -> Iterator[Tangent]:
        """The op applied to all tangents; numbers in their places are zero."""
        applied = self.applied(set(self.inputs), numbers_too=True)
        names = self.signature.output_names
        for output in sorted(self.outputs()):
            part: Expr = applied
            if len(names) > 1:
                part = Subscript(TENSOR, applied, Literal(Type("int"), output))
            yield Tangent(output, (self.term(part),))

    def applied(self, tangents: set[str], *, numbers_too: bool) -> Call:
        """The op itself, with the tangents of some inputs in their places, and zero for the numbers in such places."""
        arguments = tuple(self.argument(a, tangents, numbers_too) for a in self.signature.arguments)
        c_entry = self.declaration.c_entries[self.index]
        returns = self.signature.returns
        kind = returns[0].type.plain if len(returns) == 1 else TENSORS
        return Call(kind, self.declaration.base, c_entry, self.declaration.module, arguments)

    def argument(self, argument: Argument, tangents: set[str], numbers_too: bool) -> Expr:
        if argument.name in tangents:
            return Name(argument.type.plain, tangent_name(argument.name))
        is_number = argument.name in self.differentiable and not argument.type.is_differentiable
        return ZERO if is_number and numbers_too else Name(argument.type.plain, argument.name)

    # -- small things

    def term(self, expr: Expr) -> TangentTerm:
        return TangentTerm(self.reads(expr), expr)

    def reads(self, expr: Expr) -> tuple[str, ...]:
        names = {part.name for part in expr.walk() if isinstance(part, Name)}
        return tuple(name for name in self.inputs if tangent_name(name) in names)

    def outputs(self) -> set[int]:
        return {i for i, flag in enumerate(self.declaration.output_differentiability) if flag}

    def refused(self) -> bool:
        """Is there a tensor that the entry does not mention: the op may depend on it in any way."""
        settled_inputs = {*self.inputs, *self.declaration.non_differentiable}
        return any(a.name not in settled_inputs for a in self.signature.tensor_arguments)

    def type_of(self, name: str) -> Type:
        return self.signature.argument(name).type

    def error(self, raw: RawFormula, problem: str, hint: str = "") -> None:
        self.context.error(raw.text, 0, self.declaration.base, problem, hint)


def may_be_none(expr: Expr) -> bool:
    """In some calls only: what is always None, or an error, is no choice."""
    return isinstance(expr, Conditional) and expr.type.optional


def summands(node: ast.expr) -> Iterator[ast.expr]:
    """``a + b - c`` as a, b, -c: each is computed only when its tangent is there."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        yield from summands(node.left)
        for term in summands(node.right):
            yield term if isinstance(node.op, ast.Add) else _negated(term)
    else:
        yield node


def _negated(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return node.operand
    return ast.copy_location(ast.UnaryOp(ast.USub(), node), node)
