"""From the text of a formula to its tree: the type checker of the formula language.

The language is the part of Python that a gradient needs: numbers, tensors, their operators, calls
of ops and helpers, ``a if test else b``, subscripts of shapes and lists. Whatever else Python has is
refused by name.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from .callees import (
    Callee,
    Callees,
    Mismatch,
    bind,
    expect_conversion,
    intrinsics,
    length_of,
    list_type,
    literal,
    wider,
)
from .errors import Consequence, Problem, did_you_mean, hint_from
from .facts import folded
from .formula import (
    Attribute,
    AttributeOf,
    Call,
    Conditional,
    Expr,
    Gradient,
    Gradients,
    IsUndefined,
    IsWanted,
    Literal,
    Name,
    Operator,
    RunFact,
    Slice,
    Subscript,
    TupleExpr,
)
from .schema import Type
from .vocabulary import (
    ATTRIBUTES,
    CONSTANTS,
    DTYPES,
    GRAD_INPUT_MASK,
    LIST_ATTRIBUTES,
    METHOD_ATTRIBUTES,
    RUN_FACTS,
    UNDOTTED_ATTRIBUTES,
)

TENSOR = Type("Tensor")
TENSORS = Type("Tensor", is_list=True)
INT = Type("int")
BOOL = Type("bool")

# Python's operator -> symbol in the tree, special method, reflected method. An operator whose
# reflected method is itself may swap its operands.
BINARY_OPERATORS: dict[type[ast.operator], tuple[str, str, str]] = {
    ast.Add: ("+", "__add__", "__radd__"),
    ast.Sub: ("-", "__sub__", "__rsub__"),
    ast.Mult: ("*", "__mul__", "__rmul__"),
    ast.Div: ("/", "__truediv__", "__rtruediv__"),
    ast.FloorDiv: ("//", "__floordiv__", "__rfloordiv__"),
    ast.Mod: ("%", "__mod__", "__rmod__"),
    ast.Pow: ("**", "__pow__", "__rpow__"),
    ast.MatMult: ("@", "__matmul__", "__rmatmul__"),
    ast.BitAnd: ("&", "__and__", "__rand__"),
    ast.BitOr: ("|", "__or__", "__ror__"),
    ast.BitXor: ("^", "__xor__", "__rxor__"),
}
_COMMUTATIVE = frozenset("+*&|^")
_COMPARE: dict[type[ast.cmpop], tuple[str, str, str]] = {
    ast.Eq: ("==", "__eq__", "__eq__"),
    ast.NotEq: ("!=", "__ne__", "__ne__"),
    ast.Lt: ("<", "__lt__", "__gt__"),
    ast.LtE: ("<=", "__le__", "__ge__"),
    ast.Gt: (">", "__gt__", "__lt__"),
    ast.GtE: (">=", "__ge__", "__le__"),
}
_UNARY: dict[type[ast.unaryop], tuple[str, str]] = {
    ast.USub: ("neg", "__neg__"),
    ast.Invert: ("~", "__invert__"),
}
_LOGICAL = {"and": "logical_and", "or": "logical_or", "not": "logical_not"}


@dataclass(frozen=True)
class Scope:
    """What one formula sees."""

    variables: Mapping[str, Expr]
    # Per output: does a gradient arrive for it. Empty in a forward expression.
    differentiable_outputs: tuple[bool, ...] = ()
    returns_list: bool = False  # the op returns Tensor[]: how many gradients there are is not known
    elementwise: bool = False  # a pointwise forward: a tensor may be a test, loop functions may be called
    own_base: str = ""  # a name that does not mean the op itself, but gradsmith's op or the loop function
    multi_returns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    mask: tuple[str, ...] = ()  # inputs that `grad_input_mask` tells about: those of a joint formula
    numbers: tuple[str, ...] = ()  # inputs that are numbers in this variant
    in_backward: bool = False  # a run of the engine evaluates it


@dataclass
class Resolver:
    """Resolves one formula. Raises `Problem` with the offset of what is wrong."""

    scope: Scope
    callees: Callees
    spellings: set[str] = field(default_factory=set)  # of gradients: "grad", "grads", "grad_values"
    _present: list[str] = field(default_factory=list)  # optional names known not to be None here

    def resolve(self, text: str) -> Expr:
        return self.resolve_node(parse(text))

    def resolve_node(self, node: ast.expr) -> Expr:
        """The tree of what is parsed already."""
        return self._visit(node)

    def _visit(self, node: ast.expr) -> Expr:
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name():
                return self._name(node)
            case ast.BinOp():
                return self._binary(node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp():
                return self._bool(node)
            case ast.IfExp():
                return self._conditional(node)
            case ast.Call():
                return self._call(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Tuple() | ast.List():
                return self._tuple(node)
        raise Problem(f"has {_describe(node)}, which formulas do not know", node.col_offset)

    # -- leaves

    def _constant(self, node: ast.Constant) -> Expr:
        if isinstance(node.value, (bytes, type(...))):
            raise Problem(f"has the constant {node.value!r}, which formulas do not know", node.col_offset)
        return literal(node.value)

    def _name(self, node: ast.Name) -> Expr:
        found = self.scope.variables.get(node.id)
        if found is not None:
            return self._narrowed(self._noted(node.id, found))
        if node.id == "retain_variables" and self.scope.in_backward:
            return RunFact(BOOL, node.id)
        if node.id in CONSTANTS:
            return Literal(Type("float"), CONSTANTS[node.id])
        if node.id in DTYPES:
            return Literal(Type("dtype"), node.id)
        hint = hint_from("In scope", node.id, self.scope.variables)
        raise Problem(f"uses '{node.id}', which is not in scope", node.col_offset, hint)

    def _noted(self, name: str, found: Expr) -> Expr:
        if isinstance(found, (Gradient, Gradients)):
            self.spellings.add(name)
        return found

    def _narrowed(self, found: Expr) -> Expr:
        if isinstance(found, Name) and found.name in self._present:
            return replace(found, type=found.type.required)
        return found

    # -- operators

    def _binary(self, node: ast.BinOp) -> Expr:
        left, right = self._visit(node.left), self._visit(node.right)
        if type(node.op) not in BINARY_OPERATORS:
            raise Problem(
                f"has the operator of {_describe(node.op)}, which formulas do not know", node.left.end_col_offset or 0
            )
        symbol, method, reflected = BINARY_OPERATORS[type(node.op)]
        if not (_has_tensor(left) or _has_tensor(right)):
            return Operator(_number_type(node, symbol, left, right), symbol, (left, right))
        mirrored = method if symbol in _COMMUTATIVE else ""
        return self._operator(node, symbol, (left, right), method, mirrored, reflected)

    def _operator(
        self,
        node: ast.expr,
        symbol: str,
        operands: tuple[Expr, ...],
        method: str,
        mirrored: str = "",
        reflected: str = "",
    ) -> Operator:
        """An operator with a tensor: the first op that takes the operands, else the swapped ones."""
        self._forgive_broken(method)
        reasons: list[str] = []
        attempts = [(method, operands), (mirrored, operands[::-1]), (reflected, operands[::-1])]
        for name, arguments in attempts:
            for callee in self.callees.of_operator(name):
                try:
                    bound = bind(callee, list(arguments))
                except Mismatch as mismatch:
                    reasons.append(f"{callee.signature.base} {mismatch}")
                    continue
                return Operator(callee.result, symbol, operands, callee.c_entry, callee.family, bound)
        raise Problem(*self._no_operator(node, symbol, operands, method, reasons))

    def _no_operator(
        self,
        node: ast.expr,
        symbol: str,
        operands: tuple[Expr, ...],
        method: str,
        reasons: list[str],
    ) -> tuple[str, int, str]:
        shown = "-" if symbol == "neg" else symbol
        types = " and ".join(str(o.type.plain) for o in operands)
        problem = f"applies '{shown}' to {types}, which no op takes"
        hint = f"{reasons[0]}." if reasons else f"No op of the table declares {method}."
        return problem, node.col_offset, hint

    def _unary(self, node: ast.UnaryOp) -> Expr:
        operand = self._visit(node.operand)
        if isinstance(node.op, ast.UAdd):
            return operand
        if isinstance(node.op, ast.Not):
            return self._logical(node, "not", (operand,))
        symbol, method = _UNARY[type(node.op)]
        if _has_tensor(operand):
            return self._operator(node, symbol, (operand,), method)
        if not operand.type.is_number:
            raise Problem(f"applies '-' to {operand.type}, which is no number", node.col_offset)
        if symbol == "neg" and isinstance(operand, Literal):
            return literal(-operand.value)  # type: ignore[operator]
        return Operator(wider(operand.type, INT), symbol, (operand,))

    def _compare(self, node: ast.Compare) -> Expr:
        """``a < b < c`` is ``a < b and b < c``."""
        nodes = [node.left, *node.comparators]
        links: list[Expr] = [
            self._comparison(node, op, left, right) for op, left, right in zip(node.ops, nodes, nodes[1:], strict=False)
        ]
        result = links[0]
        for link in links[1:]:
            result = self._logical(node, "and", (result, link))
        return result

    def _comparison(self, node: ast.Compare, op: ast.cmpop, left_node: ast.expr, right_node: ast.expr) -> Expr:
        left, right = self._visit(left_node), self._visit(right_node)
        if isinstance(op, (ast.Is, ast.IsNot)):
            return self._is_none(node, left, right, negated=isinstance(op, ast.IsNot))
        if type(op) not in _COMPARE:
            raise Problem(
                f"has the operator of {_describe(op)}, which formulas do not know", left_node.end_col_offset or 0
            )
        symbol, method, mirrored = _COMPARE[type(op)]
        if _has_tensor(left) or _has_tensor(right):
            return self._operator(node, symbol, (left, right), method, mirrored)
        if not _comparable(symbol, left.type, right.type):
            raise Problem(f"compares {left.type} with {right.type}", left_node.col_offset)
        return Operator(BOOL, symbol, (left, right))

    def _is_none(self, node: ast.Compare, left: Expr, right: Expr, negated: bool) -> Expr:
        if not isinstance(right, Literal) or right.value is not None:
            raise Problem("uses 'is' with something else than None", node.col_offset)
        if isinstance(left, Gradient):
            test: Expr = IsUndefined(BOOL, left.index)
        elif isinstance(left, Name) and left.type.name == "Tensor":
            test = Attribute(BOOL, left.name, "is_none")
        else:
            test = Operator(BOOL, "is", (left, right))
        return Operator(BOOL, "not", (test,)) if negated else test

    def _bool(self, node: ast.BoolOp) -> Expr:
        """``and`` evaluates its right side only where the left side holds: names stay narrowed."""
        symbol = "and" if isinstance(node.op, ast.And) else "or"
        result = self._visit(node.values[0])
        holds = symbol == "and"
        present = _tested(result, holds)
        for value in node.values[1:]:
            with self._knowing(present):
                right = self._visit(value)
            present = present + _tested(right, holds)
            result = self._logical(node, symbol, (result, right))
        return result

    def _logical(self, node: ast.expr, symbol: str, operands: tuple[Expr, ...]) -> Expr:
        if all(o.type == BOOL for o in operands):
            return folded(symbol, operands)
        if self.scope.elementwise and any(_has_tensor(o) for o in operands):
            return self._elementwise_logical(symbol, operands)
        wrong = next(o.type for o in operands if o.type != BOOL)
        raise Problem(f"applies '{symbol}' to {wrong}, which is no bool", node.col_offset)

    def _elementwise_logical(self, symbol: str, operands: tuple[Expr, ...]) -> Operator:
        found = self._first_match(self.callees.behind_syntax(_LOGICAL[symbol]), list(operands))
        if found is None:
            return Operator(TENSOR, symbol, operands)
        callee, bound = found
        return Operator(TENSOR, symbol, operands, callee.c_entry, callee.family, bound)

    def _conditional(self, node: ast.IfExp) -> Expr:
        test = self._visit(node.test)
        with self._knowing(_tested(test, holds=True)):
            body = self._visit(node.body)
        with self._knowing(_tested(test, holds=False)):
            orelse = self._visit(node.orelse)
        if self.scope.elementwise and test.type.is_tensor:
            return self._select(test, body, orelse)
        if test.type != BOOL:
            hint = "Select element by element with where(test, a, b)." if _has_tensor(test) else ""
            raise Problem(f"tests {test.type}, which is no bool", node.test.col_offset, hint)
        if isinstance(test, Literal):
            return body if test.value else orelse
        return Conditional(_joined(node.col_offset, body, orelse), test, body, orelse)

    def _select(self, test: Expr, body: Expr, orelse: Expr) -> Conditional:
        """An elementwise choice; without an op `where` only a loop can compute it."""
        found = self._first_match(self.callees.behind_syntax("where"), [test, body, orelse])
        if found is None or self.scope.own_base == "where":
            return Conditional(TENSOR, test, body, orelse)
        callee, bound = found
        return Conditional(TENSOR, test, body, orelse, callee.c_entry, callee.family, bound)

    @contextmanager
    def _knowing(self, present: tuple[str, ...]) -> Iterator[None]:
        """Names that are not None as long as this lasts."""
        self._present.extend(present)
        try:
            yield
        finally:
            del self._present[len(self._present) - len(present) :]

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
            or self._expect_count(node.func.id, node.func.col_offset, positional)
            or self._expect_choice(node.func.id, node.func.col_offset, positional)
            or self._apply(node.func.id, node.func.col_offset, positional, keywords)
        )

    def _method(self, node: ast.Call, func: ast.Attribute) -> Expr:
        """``grad.sum(dim)`` is ``sum(grad, dim)``; ``x.numel()`` and its like are attributes."""
        receiver = self._visit(func.value)
        positional, keywords = self._arguments(node)
        offset = (func.end_col_offset or 0) - len(func.attr)
        if receiver.type.is_tensor and func.attr in METHOD_ATTRIBUTES and not positional:
            return self._read_attribute(receiver, METHOD_ATTRIBUTES[func.attr], offset)
        if receiver.type.is_tensor and func.attr == "size" and len(positional) == 1:
            return Subscript(INT, self._read_attribute(receiver, "shape", offset), positional[0])
        return self._apply(func.attr, offset, [receiver, *positional], keywords)

    def _arguments(self, node: ast.Call) -> tuple[list[Expr], dict[str, Expr]]:
        for keyword in node.keywords:
            if keyword.arg is None:
                raise Problem("has '**', which formulas do not know", node.col_offset)
        positional = [self._visit(argument) for argument in node.args]
        return positional, {str(k.arg): self._visit(k.value) for k in node.keywords}

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

    def _expect_count(self, function: str, offset: int, positional: list[Expr]) -> Expr | None:
        """``len(tensors)`` is kept as a number."""
        if function != "len" or len(positional) != 1 or not positional[0].type.is_list:
            return None
        value = positional[0]
        if value.type.optional:
            raise Problem(f"takes len() of {value.type}, where None may come", offset, "Test it with 'is None' first.")
        if not value.type.is_tensor_list:
            return Call(INT, "len", "len", "builtins", (value,))
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
        if not (_has_tensor(body) or _has_tensor(orelse)):
            return Conditional(_joined(offset, body, orelse), test, body, orelse)
        call = self._apply(function, offset, positional, {})
        return Conditional(TENSOR, test, body, orelse, call.c_entry, call.family, call.arguments)

    def _apply(self, function: str, offset: int, positional: list[Expr], keywords: dict[str, Expr]) -> Call:
        candidates = self._candidates(function)
        self._forgive_broken(function)
        if not candidates:
            names = [n for n in self.callees.names if n.isidentifier()]
            hint = did_you_mean(function, names)
            raise Problem(f"calls '{function}', which is neither an op nor a helper", offset, hint)
        reasons: list[str] = []
        for callee in candidates:
            try:
                bound = bind(callee, positional, keywords)
            except Mismatch as mismatch:
                reasons.append(str(mismatch))
                continue
            result = Type("None") if function == "not_implemented" else callee.result  # of any input
            return Call(result, function, callee.c_entry, callee.family, bound)
        raise _no_callee(function, offset, candidates, reasons, positional, keywords)

    def _forgive_broken(self, name: str) -> None:
        if name in self.callees.broken:
            raise Consequence(f"uses {name}, whose entry is wrong")

    def _candidates(self, function: str) -> list[Callee]:
        """Ops, then helpers; in a pointwise forward also loop functions.

        In the forward of an op its name means what it meant without that op.
        """
        is_own = function == self.scope.own_base
        found = self.callees.of_library(function) if is_own else self.callees.named(function)
        if self.scope.elementwise and not found:
            return list(intrinsics().get(function, ()))
        return found

    @staticmethod
    def _first_match(candidates: list[Callee], positional: list[Expr]) -> tuple[Callee, tuple[Expr, ...]] | None:
        for callee in candidates:
            try:
                return callee, bind(callee, positional)
            except Mismatch:
                continue
        return None

    # -- parts of values

    def _attribute(self, node: ast.Attribute) -> Expr:
        owner = self._visit(node.value)
        offset = (node.end_col_offset or 0) - len(node.attr)
        if isinstance(owner, Call) and owner.type.is_tensor_list:
            return self._named_return(owner, node.attr, offset)
        if owner.type.name == "Tensor":
            return self._read_attribute(owner, node.attr, offset)
        raise Problem(f"reads '.{node.attr}' of {owner.type}, which has no attributes", offset)

    def _read_attribute(self, owner: Expr, attribute: str, offset: int) -> Expr:
        known = LIST_ATTRIBUTES if owner.type.is_list else ATTRIBUTES
        dotted = [name for name in known if name not in UNDOTTED_ATTRIBUTES]
        if attribute not in dotted:
            return self._property(owner, attribute, offset, dotted)
        result = known[attribute]
        if owner.type.optional and attribute != "is_none":
            result = replace(result, optional=result.name != "object")
        if isinstance(owner, Name):
            return Attribute(result, owner.name, attribute)
        return AttributeOf(result, owner, attribute)

    def _property(self, owner: Expr, attribute: str, offset: int, dotted: list[str]) -> Expr:
        """``x.mT``: an op of one argument read like an attribute."""
        found = self._first_match(self.callees.named(attribute), [owner])
        if found is not None:
            callee, bound = found
            return Call(callee.result, attribute, callee.c_entry, callee.family, bound)
        hint = hint_from("Attributes", attribute, dotted)
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
        value = self._visit(node.value)
        if isinstance(node.slice, ast.Slice):
            return self._sliced(node, value, node.slice)
        index = self._visit(node.slice)
        if isinstance(value, Gradients):
            return self._gradient(node, index)
        if not value.type.is_list or value.type.optional:
            hint = "Use select, narrow or index." if _has_tensor(value) else ""
            raise Problem(f"subscripts {value.type}, which is no list", node.col_offset, hint)
        if index.type != INT:
            raise Problem(f"subscripts a list with {index.type}", node.slice.col_offset)
        size = length_of(value)
        if size and isinstance(index, Literal) and not -size <= int(index.value) < size:  # type: ignore[arg-type]
            raise Problem(f"subscripts a list of {size} items with {index.value}", node.slice.col_offset)
        return Subscript(value.type.item, value, index)

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
        if not value.type.is_list or value.type.is_tensor_list or value.type.optional or index.step is not None:
            raise Problem(f"slices {value.type}; only lists of numbers have slices [start:stop]", node.col_offset)
        bounds = [self._visit(b) if b is not None else None for b in (index.lower, index.upper)]
        for bound in bounds:
            if bound is not None and bound.type != INT:
                raise Problem(f"slices with {bound.type}", node.slice.col_offset)
        kind = replace(value.type, length=0)
        return Subscript(kind, value, Slice(kind, bounds[0], bounds[1]))

    def _gradient(self, node: ast.Subscript, index: Expr) -> Gradient:
        wanted = self.scope.differentiable_outputs
        if not isinstance(index, Literal) or index.type != INT:
            raise Problem("subscripts 'grads' with something else than a number", node.col_offset)
        position = int(index.value)  # type: ignore[arg-type]
        if self.scope.returns_list:
            raise Problem(
                "takes one of 'grads', but how many there are differs from call to call",
                node.col_offset,
                "Give 'grads' as a whole to a helper or op.",
            )
        if not 0 <= position < len(wanted):
            count = f"{len(wanted)} output{'s' if len(wanted) > 1 else ''}"
            raise Problem(f"uses grads[{position}], but the op has {count}", node.col_offset)
        if not wanted[position]:
            raise Problem(f"uses grads[{position}], but that output is not differentiable", node.col_offset)
        return Gradient(TENSOR, position)

    def _tuple(self, node: ast.Tuple | ast.List) -> TupleExpr:
        items = tuple(self._visit(item) for item in node.elts)
        return TupleExpr(list_type(items), items)


def parse(text: str) -> ast.expr:
    """The Python expression in `text`; offsets in it are those of the text."""
    if not text.isascii():
        offset = next(i for i, c in enumerate(text) if not c.isascii())
        raise Problem(f"has the character '{text[offset]}', which is not ASCII", offset)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python merely doubts is a mistake here
            return ast.parse(text.replace("\n", " "), mode="eval").body
    except SyntaxError as error:
        raise Problem(f"does not parse: {error.msg}", max((error.offset or 1) - 1, 0)) from None


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


def _describe(node: ast.AST) -> str:
    """``ListComp`` -> "list comp": good enough for what nobody should write."""
    name = type(node).__name__
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()


def _has_tensor(expr: Expr) -> bool:
    return expr.type.name == "Tensor"


def _number_type(node: ast.BinOp, symbol: str, left: Expr, right: Expr) -> Type:
    """Type of an operator between values that are no tensors."""
    if symbol == "+" and left.type == right.type and _is_list_of_numbers(left.type):
        return replace(left.type, length=0)
    for side, operand in ((node.left, left), (node.right, right)):
        if not operand.type.is_number:
            what = f"{operand.type.plain}, which is no number"
            hint = "Test it with 'is None' first." if operand.type.required.is_number else ""
            raise Problem(f"applies '{symbol}' to {what}", side.col_offset, hint)
    result = wider(left.type, right.type)
    return Type("float") if symbol == "/" and result == INT else result


def _is_list_of_numbers(type_: Type) -> bool:
    return type_.is_list and type_.item.is_number and not type_.optional


def _comparable(symbol: str, left: Type, right: Type) -> bool:
    if left.is_number and right.is_number:
        return True
    if left.is_list != right.is_list:
        return False
    same = left.name == right.name or (left.required.is_number and right.required.is_number)
    return same and symbol in ("==", "!=")


def _tested(test: Expr, holds: bool) -> tuple[str, ...]:
    """Names that are not None when `test` holds (or does not hold)."""
    match test:
        case Operator(symbol="not", operands=(operand,)):
            return _tested(operand, not holds)
        case Operator(symbol="and", operands=operands) if holds:
            return tuple(name for o in operands for name in _tested(o, True))
        case Operator(symbol="or", operands=operands) if not holds:
            return tuple(name for o in operands for name in _tested(o, False))
        case Attribute(attribute="is_none", owner=owner) if not holds:
            return (owner,)
        case Operator(symbol="is", operands=(Name(name=name), _)) if not holds:
            return (name,)
    return ()


def _joined(offset: int, body: Expr, orelse: Expr) -> Type:
    """The type of both branches together."""
    left, right = body.type.plain, orelse.type.plain
    optional = left.optional or right.optional or "None" in (left.name, right.name)
    if left.name == "None":
        return replace(right, optional=right.name != "None")
    if right.name == "None":
        return replace(left, optional=True)
    if left.is_number and right.is_number:
        return left if left == right else wider(left, right)
    if left.required == right.required:
        return replace(left, optional=optional)
    if expect_conversion(body, right) or expect_conversion(orelse, left):
        return right if expect_conversion(body, right) else left
    raise Problem(f"gives {left} or {right}: the two sides of 'if' differ", offset)
