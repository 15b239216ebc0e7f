"""Parts of values in formulas: attributes, subscripts and slices."""

from __future__ import annotations

import ast
import types
from collections.abc import Mapping
from dataclasses import replace

from ..formula.callees import length_of, literal
from ..formula.formula import (
    Attribute,
    AttributeOf,
    Call,
    Expr,
    Gradient,
    Gradients,
    Index,
    IsWanted,
    Literal,
    Name,
    Slice,
    Subscript,
)
from ..formula.scope import BOOL, INT, TENSOR
from ..spec.errors import Problem, hint_from
from ..spec.foreign_words import ATTRIBUTES as FOREIGN_ATTRIBUTES
from ..spec.schema_types import Type
from ..spec.vocabulary import ATTRIBUTES, GRAD_INPUT_MASK, LIST_ATTRIBUTES, UNDOTTED_ATTRIBUTES
from .base import ResolverBase
from .value_types import has_tensor


class PartResolver(ResolverBase):
    """Resolves ``x.shape``, ``shape[dim]``, ``grads[1]``, ``grad_input_mask[0]``."""

    # -- parts of values

    def _attribute(self, node: ast.Attribute) -> Expr:
        owner = self.visit(node.value)
        offset = (node.end_col_offset or 0) - len(node.attr)
        if isinstance(owner, Call) and owner.type.is_tensor_list:
            return self._named_return(owner, node.attr, offset)
        if owner.type.name == "Tensor":
            return self._read_attribute(owner, node.attr, offset)
        raise Problem(f"reads '.{node.attr}' of {owner.type}, which has no attributes", offset)

    def _read_attribute(self, owner: Expr, attribute: str, offset: int) -> Expr:
        known = LIST_ATTRIBUTES if owner.type.is_list else ATTRIBUTES
        if attribute not in known or attribute in UNDOTTED_ATTRIBUTES:
            return self._property(owner, attribute, offset, known)
        result = known[attribute]
        if owner.type.optional and attribute != "is_none":
            result = replace(result, optional=result.name != "object")
        if isinstance(owner, Name):
            return Attribute(result, owner.name, attribute)
        return AttributeOf(result, owner, attribute)

    def _property(self, owner: Expr, attribute: str, offset: int, known: Mapping[str, Type]) -> Expr:
        """``x.mT``: an op of one argument read like an attribute."""
        found = self.first_match(self.callees.named(attribute), [owner])
        if found is not None:
            callee, bound = found
            return Call(callee.result, attribute, callee.c_entry, callee.family, bound)
        dotted = [name for name in known if name not in UNDOTTED_ATTRIBUTES]
        spelling = UNDOTTED_ATTRIBUTES.get(attribute) if attribute in known else None
        spelling = spelling or FOREIGN_ATTRIBUTES.get(attribute)
        hint = f"Write {spelling}." if spelling else hint_from("Attributes", attribute, dotted)
        raise Problem(f"reads '.{attribute}', which {owner.type} has not", offset, hint)

    def _named_return(self, owner: Call, name: str, offset: int) -> Expr:
        names = self.scope.multi_returns.get(owner.c_entry, ())
        if name not in names:
            hint = hint_from("Returns", name, names)
            raise Problem(f"reads '.{name}', which {owner.function} does not return", offset, hint)
        return Subscript(TENSOR, owner, literal(names.index(name)))

    def _subscript(self, node: ast.Subscript) -> Expr:
        if isinstance(node.value, ast.Name) and node.value.id == GRAD_INPUT_MASK:
            return self._masked(node)
        value = self.visit(node.value)
        if value.type == TENSOR and not isinstance(value, Gradients):
            return self._indexed(node, value)
        if isinstance(node.slice, ast.Slice):
            return self._sliced(node, value, node.slice)
        index = self.visit(node.slice)
        if isinstance(value, Gradients):
            return self._gradient(node, index)
        if not value.type.is_list or value.type.optional:
            hint = "Use select, narrow or index." if has_tensor(value) else ""
            raise Problem(f"subscripts {value.type}, which is no list", node.col_offset, hint)
        if index.type != INT:
            raise Problem(f"subscripts a list with {index.type}", node.slice.col_offset)
        size = length_of(value)
        if size and isinstance(index, Literal) and not -size <= int(index.value) < size:  # type: ignore[arg-type]
            raise Problem(f"subscripts a list of {size} items with {index.value}", node.slice.col_offset)
        return self.narrowed(Subscript(value.type.item, value, index))

    def _indexed(self, node: ast.Subscript, value: Expr) -> Expr:
        """``x[0, ..., None, 1:]``: a view."""
        entry = next(iter(self.callees.behind_syntax("basic_index")), None)
        if entry is None:
            raise Problem("indexes a tensor, but the table has no op basic_index", node.col_offset)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        index = Index(Type("object"), tuple(self._index_part(part) for part in parts))
        return Call(TENSOR, "basic_index", entry.c_entry, entry.family, (value, index))

    def _index_part(self, node: ast.expr) -> Expr:
        match node:
            case ast.Constant(value=types.EllipsisType() as value):
                return Literal(Type("object"), value)
            case ast.Constant(value=None):
                return literal(None)
            case ast.Slice(lower=lower, upper=upper, step=step):
                bounds = [None if bound is None else self._whole_number(bound) for bound in (lower, upper, step)]
                return Slice(Type("object"), *bounds)
        return self._whole_number(node)

    def _whole_number(self, node: ast.expr) -> Expr:
        found = self.visit(node)
        if found.type != INT:
            hint = "An index of tensors is for the op index." if has_tensor(found) else ""
            raise Problem(f"indexes a tensor with {found.type.plain}", node.col_offset, hint)
        return found

    def _masked(self, node: ast.Subscript) -> Expr:
        """``grad_input_mask[i]``: is the gradient of the i-th input that the formula is for asked for."""
        mask = self.scope.mask
        if not mask:
            hint = "It tells a formula for several inputs which of them are asked for."
            raise Problem(f"uses '{GRAD_INPUT_MASK}', but the formula is for one input", node.col_offset, hint)
        index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if type(index) is not int:
            raise Problem(f"subscripts '{GRAD_INPUT_MASK}' with something else than a number", node.slice.col_offset)
        if not 0 <= index < len(mask):
            listing = ", ".join(mask)
            problem = f"uses {GRAD_INPUT_MASK}[{index}], but the formula is for {len(mask)} inputs"
            raise Problem(problem, node.slice.col_offset, f"Inputs: {listing}.")
        return literal(False) if mask[index] in self.scope.numbers else IsWanted(BOOL, mask[index])

    def _sliced(self, node: ast.Subscript, value: Expr, index: ast.Slice) -> Expr:
        if not value.type.is_list or isinstance(value, Gradients) or value.type.optional:
            raise Problem(f"slices {value.type}; lists and tensors have slices", node.col_offset)
        bounds = [self.visit(b) if b is not None else None for b in (index.lower, index.upper, index.step)]
        for bound in bounds:
            if bound is not None and bound.type != INT:
                raise Problem(f"slices with {bound.type}", node.slice.col_offset)
        kind = replace(value.type, length=0)
        return Subscript(kind, value, Slice(kind, *bounds))

    def _gradient(self, node: ast.Subscript, index: Expr) -> Expr:
        wanted = self.scope.differentiable_outputs
        if self.scope.returns_list:
            name = node.value.id if isinstance(node.value, ast.Name) else "grads"
            raise Problem(
                f"takes one of '{name}', but how many there are differs from call to call",
                node.col_offset,
                f"Go over them: [f(g) for g in {name}], or give '{name}' as a whole to a helper or op.",
            )
        if not isinstance(index, Literal) or index.type != INT:
            raise Problem("subscripts 'grads' with something else than a number", node.col_offset)
        position = int(index.value)  # type: ignore[arg-type]
        if not 0 <= position < len(wanted):
            count = f"{len(wanted)} output{'s' if len(wanted) > 1 else ''}"
            raise Problem(f"uses grads[{position}], but the op has {count}", node.col_offset)
        if not wanted[position]:
            raise Problem(f"uses grads[{position}], but that output is not differentiable", node.col_offset)
        return self.narrowed(Gradient(Type("Tensor", optional=position in self.scope.optional_outputs), position))
