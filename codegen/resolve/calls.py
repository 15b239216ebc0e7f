"""Calls in formulas: of ops and helpers, as functions and as methods."""

from __future__ import annotations

import ast
from dataclasses import replace

from ..formula.callees import BUILTIN, Callee, Mismatch, bind, expect_conversion
from ..formula.formula import Attribute, AttributeOf, Call, Conditional, Expr, Name, Operator, RunFact, Subscript
from ..formula.functions import Function
from ..formula.scope import BOOL, INT, TENSOR
from ..spec.errors import Problem, did_you_mean
from ..spec.foreign_words import FUNCTIONS
from ..spec.schema_types import Type
from ..spec.vocabulary import METHOD_ATTRIBUTES, RUN_FACTS
from .comprehensions import ComprehensionResolver
from .parts import PartResolver
from .value_types import has_tensor, joined_type


class CallResolver(PartResolver, ComprehensionResolver):
    """Resolves ``exp(x)``, ``x.exp()`` and the calls that have a meaning of their own."""

    # -- calls

    def _call(self, node: ast.Call) -> Expr:
        if isinstance(node.func, ast.Attribute):
            return self._method(node, node.func)
        if not isinstance(node.func, ast.Name):
            raise Problem("calls something that has no name", node.func.col_offset)
        positional, keywords = self._arguments(node)
        return (
            self._expect_run_fact(node.func.id, positional)
            or self._expect_zeros(node.func.id, positional)
            or self._expect_ones(node)
            or self._expect_extreme(node.func.id, positional)
            or self._expect_count(node.func.id, node.func.col_offset, positional)
            or self._expect_of_list(node.func.id, node.func.col_offset, positional)
            or self._expect_choice(node.func.id, node.func.col_offset, positional)
            or self._applied(node.func.id, node.func.col_offset, positional, keywords)
        )

    def _method(self, node: ast.Call, func: ast.Attribute) -> Expr:
        """``grad.sum(dim)`` is ``sum(grad, dim)``; ``x.numel()`` and its like are attributes."""
        receiver = self.visit(func.value)
        positional, keywords = self._arguments(node)
        offset = (func.end_col_offset or 0) - len(func.attr)
        if receiver.type.is_tensor and func.attr in METHOD_ATTRIBUTES and not positional:
            return self._read_attribute(receiver, METHOD_ATTRIBUTES[func.attr], offset)
        if receiver.type.is_tensor and func.attr == "size" and len(positional) == 1:
            return Subscript(INT, self._read_attribute(receiver, "shape", offset), positional[0])
        return self._applied(func.attr, offset, [receiver, *positional], keywords)

    def _arguments(self, node: ast.Call) -> tuple[list[Expr], dict[str, Expr]]:
        for keyword in node.keywords:
            if keyword.arg is None:
                raise Problem("has '**', which formulas do not know", node.col_offset)
        positional = [self.visit(argument) for argument in node.args]
        return positional, {str(k.arg): self.visit(k.value) for k in node.keywords}

    def _expect_run_fact(self, function: str, positional: list[Expr]) -> Expr | None:
        is_known = function in RUN_FACTS and function != "retain_variables"
        return RunFact(BOOL, function) if is_known and self.scope.in_backward and not positional else None

    def _expect_zeros(self, function: str, positional: list[Expr]) -> Expr | None:
        """``zeros_like(x)`` of an argument or a result keeps its shape, dtype and device alone."""
        if function != "zeros_like" or len(positional) != 1 or not isinstance(positional[0], Name):
            return None
        value = positional[0]
        if value.type != TENSOR or not self.scope.in_backward:
            return None
        parts = [self._read_attribute(value, attribute, 0) for attribute in ("shape", "dtype", "device")]
        return self._apply(function, 0, parts, {})

    def _expect_ones(self, node: ast.Call) -> Expr | None:
        """``ones_like(x)``, where no op has the name, is ``zeros_like(x) + 1``."""
        if not isinstance(node.func, ast.Name) or node.func.id != "ones_like" or self.candidates("ones_like"):
            return None
        zeros = ast.copy_location(ast.Call(ast.Name("zeros_like", ast.Load()), node.args, node.keywords), node)
        ast.fix_missing_locations(zeros)
        return self.visit(
            ast.copy_location(ast.BinOp(zeros, ast.Add(), ast.copy_location(ast.Constant(1), node)), node)
        )

    @staticmethod
    def _expect_extreme(function: str, positional: list[Expr]) -> Expr | None:
        """``max(dim, 0)`` of numbers; of tensors it is an op."""
        if function not in ("min", "max") or len(positional) < 2:
            return None
        if not all(value.type.is_number and not value.type.optional for value in positional):
            return None
        symbol = "<=" if function == "min" else ">="
        found = positional[0]
        for value in positional[1:]:
            test = Operator(BOOL, symbol, (found, value))
            found = Conditional(joined_type(0, found, value), test, found, value)
        return found

    def _expect_count(self, function: str, offset: int, positional: list[Expr]) -> Expr | None:
        """``len(tensors)`` is kept as a number."""
        if function != "len" or len(positional) != 1 or not positional[0].type.is_list:
            return None
        value = positional[0]
        if value.type.optional:
            raise Problem(f"takes len() of {value.type}, where None may come", offset, "Test it with 'is None' first.")
        if not value.type.is_tensor_list:
            return Call(INT, "len", "len", BUILTIN, (value,))
        if isinstance(value, Name):
            return Attribute(INT, value.name, "count")
        return AttributeOf(INT, value, "count")

    def _expect_choice(self, function: str, offset: int, positional: list[Expr]) -> Expr | None:
        """``where(number == 0, a, b)`` chooses one of two values as a whole.

        It arises where an argument of a formula became a number. A loop reads the three parts; the
        helper behind `resolved` makes a tensor of a chosen number.
        """
        if function != "where" or len(positional) != 3 or positional[0].type != BOOL:
            return None
        test, body, orelse = positional
        if not (has_tensor(body) or has_tensor(orelse)):
            return Conditional(joined_type(offset, body, orelse), test, body, orelse)
        call = self._apply(function, offset, positional, {})
        return Conditional(TENSOR, test, body, orelse, call.c_entry, call.family, call.arguments)

    def _applied(self, function: str, offset: int, positional: list[Expr], keywords: dict[str, Expr]) -> Expr:
        """A function of the table, or else an op or a helper."""
        declared = self.callees.functions.get(function)
        if declared is None:
            return self._apply(function, offset, positional, keywords)
        self.forgive_broken(function)
        return self._inserted(declared, offset, positional, keywords)

    def _apply(self, function: str, offset: int, positional: list[Expr], keywords: dict[str, Expr]) -> Call:
        self.forgive_broken(function)
        candidates = self.candidates(function)
        if not candidates and function == self.scope.own_base:
            raise Problem("calls the op itself", offset, "Compute the value in another way.")
        if not candidates:
            names = [n for n in self.callees.names if n.isidentifier()]
            meant = FUNCTIONS.get(function)
            hint = f"Write {meant}." if meant else did_you_mean(function, names)
            raise Problem(f"calls '{function}', which is neither an op nor a helper", offset, hint)
        reasons: list[str] = []
        for callee in candidates:
            try:
                bound = bind(callee, positional, keywords)
            except Mismatch as mismatch:
                reasons.append(str(mismatch))
                continue
            if callee.c_entry in self.scope.variables:
                hint = "Choose another name for the argument."
                raise Problem(f"calls {function}, which an argument called '{callee.c_entry}' hides", offset, hint)
            callee = self.promoting(callee)
            result = Type("None") if function == "not_implemented" else callee.result  # of any input
            return Call(result, function, callee.c_entry, callee.family, bound)
        raise _no_callee(function, offset, candidates, reasons, positional, keywords)

    def _inserted(self, function: Function, offset: int, positional: list[Expr], keywords: dict[str, Expr]) -> Expr:
        """The text of a function with the arguments in their places."""
        name = function.signature.base
        try:
            bound = bind(function.callee, positional, keywords)
        except Mismatch as mismatch:
            raise Problem(f"calls {name}, which {mismatch}", offset, f"Signature: {function.signature}.") from None
        self.callees.called.add(name)
        outer = self.scope
        names = dict(zip((a.name for a in function.signature.arguments), bound, strict=True))
        outside = outer.names_outside | outer.variables.keys()
        self.scope = replace(outer, variables=names, names_outside=frozenset(outside), mask=(), missing={})
        present, self._present = self._present, []
        try:
            found = self.visit(function.body)
        except Problem as problem:
            raise Problem(f"calls {name}, which {problem.problem}", offset, problem.hint) from None
        finally:
            self.scope, self._present = outer, present
        return expect_conversion(found, function.returned) or found


def _no_callee(
    function: str,
    offset: int,
    candidates: list[Callee],
    reasons: list[str],
    positional: list[Expr],
    keywords: dict[str, Expr],
) -> Problem:
    """Why no signature took the arguments: the reason for one, the list for several."""
    if len(candidates) == 1:
        signature = candidates[0].signature
        return Problem(f"calls {function}, which {reasons[0]}", offset, f"Signature: {signature}.")
    types = [str(e.type.plain) for e in positional]
    types += [f"{name}={e.type.plain}" for name, e in keywords.items()]
    listing = "; ".join(dict.fromkeys(str(c.signature) for c in candidates))
    problem = f"calls {function}({', '.join(types)}), which fits none of its signatures"
    return Problem(problem, offset, f"Signatures: {listing}.")
