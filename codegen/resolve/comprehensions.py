"""Comprehensions in formulas: ``[g * w for g, w in zip(grads, weights) if g is not None]``, and what they go over."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count

from ..formula.callees import BUILTIN, list_type
from ..formula.formula import Call, Comprehension, Expr, Literal, Loop, Operator, Slice, Subscript, TupleExpr, Variable
from ..formula.list_facts import without_values
from ..formula.scope import BOOL, INT
from ..spec.errors import Problem
from ..spec.reserved import CALLED_BUILTINS, is_taken
from ..spec.schema_types import Type
from ..spec.vocabulary import ATTRIBUTES, CONSTANTS, DTYPES, LIST_ATTRIBUTES
from .base import ResolverBase
from .value_types import names_present

_OBJECT = Type("object")
# Of a list of numbers or truths -> the type of what Python's function makes of it.
_OF_LISTS: dict[str, Callable[[Type], Type]] = {
    **dict.fromkeys(("sum", "prod"), lambda item: INT if item == BOOL else item),
    "min": lambda item: item,
    "max": lambda item: item,
    "any": lambda item: BOOL,
    "all": lambda item: BOOL,
    "sorted": lambda item: replace(item, is_list=True),
}
# Those that Python has no builtin function for -> the helper, see runtime/formulas/numbers.pxd.
_HELPERS = {"prod": "prod_number"}


@dataclass(frozen=True)
class Items:
    """An expression to go over, and the types of what it gives: of ``zip(a, b)`` those of a pair."""

    source: Expr
    kinds: tuple[Items | Type, ...]  # one of a list; several of a tuple

    @property
    def is_tuple(self) -> bool:
        return len(self.kinds) > 1


class ComprehensionResolver(ResolverBase):
    """Resolves comprehensions and Python's functions of lists."""

    def _comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> Comprehension:
        loops: list[Loop] = []
        with self._scope_of(node.generators, loops):
            item = self.visit(node.elt)
        return without_values(Comprehension(list_type([item]), item, tuple(loops)))

    @contextmanager
    def _scope_of(self, generators: Sequence[ast.comprehension], loops: list[Loop]) -> Iterator[None]:
        """The names of the loops, and what their tests say of them, as long as this lasts."""
        if not generators:
            yield
            return
        generator = generators[0]
        if generator.is_async:
            raise Problem("has an asynchronous loop, which formulas do not know", generator.target.col_offset)
        items = self._items(generator.iter)
        variables: dict[str, Variable] = {}
        target = self._target(generator.target, items.kinds, variables)
        with self._naming(variables), self._passing(generator.ifs) as tests:
            loops.append(Loop(_OBJECT, target, items.source, tests))
            with self._scope_of(generators[1:], loops):
                yield

    @contextmanager
    def _naming(self, variables: dict[str, Variable]) -> Iterator[None]:
        outer = self.scope
        self.scope = replace(outer, variables={**outer.variables, **variables})
        try:
            yield
        finally:
            self.scope = outer

    @contextmanager
    def _passing(self, nodes: Sequence[ast.expr]) -> Iterator[tuple[Expr, ...]]:
        """The tests of a loop; what passed them is not None where they say so."""
        tests: list[Expr] = []
        count = len(self._present)
        try:
            for node in nodes:
                test = self.visit(node)
                if test.type != BOOL:
                    raise Problem(f"tests {test.type.plain}, which is no bool", node.col_offset)
                tests.append(test)
                self._present.extend(names_present(test, holds=True))
            yield tuple(tests)
        finally:
            del self._present[count:]

    # -- targets

    def _target(self, node: ast.expr, kinds: tuple[Items | Type, ...], variables: dict[str, Variable]) -> Expr:
        """The target of a loop, ``g`` or ``i, (a, b)``; each name is added to `variables`."""
        if isinstance(node, ast.Name):
            if len(kinds) > 1 or isinstance(kinds[0], Items):
                hint = f"Write {', '.join('abcdef'[: len(kinds)])} in its place."
                raise Problem(f"calls {len(kinds)} values by one name, '{node.id}'", node.col_offset, hint)
            self._verify_variable(node)
            return variables.setdefault(node.id, Variable(kinds[0], self._new_name(node.id)))
        if not isinstance(node, (ast.Tuple, ast.List)) or any(isinstance(e, ast.Starred) for e in node.elts):
            raise Problem("has a loop over something else than names", node.col_offset)
        if len(node.elts) != len(kinds) or len(kinds) == 1:
            raise Problem(f"has {len(node.elts)} names for what is {_counted(len(kinds))}", node.col_offset)
        parts = (k.kinds if isinstance(k, Items) else (k,) for k in kinds)
        targets = (self._target(e, part, variables) for e, part in zip(node.elts, parts, strict=True))
        return TupleExpr(_OBJECT, tuple(targets))

    def _new_name(self, name: str) -> str:
        """The name, unless the formula that calls this function has it for something else."""
        numbered = (f"{name}{number}" for number in count(2))
        taken = self.scope.names_outside
        return name if name not in taken else next(other for other in numbered if other not in taken)

    def _verify_variable(self, node: ast.Name) -> None:
        hint = "Choose another name."
        if node.id in self.scope.variables:
            raise Problem(f"has a loop whose variable '{node.id}' hides what has that name", node.col_offset, hint)
        taken = node.id != "i" and is_taken(node.id, pointwise=True, joint=True)
        if taken or node.id in CONSTANTS or node.id in DTYPES or self._is_made(node.id):
            raise Problem(f"has a loop whose variable '{node.id}' means something else", node.col_offset, hint)

    def _is_made(self, name: str) -> bool:
        """Does generated code call something so: ``self_shape``, ``self_``."""
        endings = ("", *ATTRIBUTES, *LIST_ATTRIBUTES)
        return any(name == f"{known}_{ending}" for known in self.scope.variables for ending in endings)

    # -- what a loop goes over

    def _items(self, node: ast.expr) -> Items:
        found = self._expect_builtin_items(node)
        if found is not None:
            return found
        source = self.visit(node)
        kind = source.type
        if kind.optional and kind.is_list:
            hint = "Test it with 'is None' first."
            raise Problem(f"goes over {kind}, where None may come", node.col_offset, hint)
        if not kind.is_list:
            hint = "Write unbind(x, dim)." if kind.is_tensor else ""
            raise Problem(f"goes over {kind.plain}, which is no list", node.col_offset, hint)
        return Items(source, (kind.plain.item,))

    def _expect_builtin_items(self, node: ast.expr) -> Items | None:
        """Those of ``zip``, ``enumerate``, ``range`` and ``reversed``."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.keywords:
            return None
        function = node.func.id
        if function == "zip" and len(node.args) > 1:
            return _called(function, [self._items(argument) for argument in node.args])
        if function == "enumerate" and len(node.args) == 1:
            items = self._items(node.args[0])
            inner = items if items.is_tuple else items.kinds[0]
            return Items(_builtin(_OBJECT, function, (items.source,)), (INT, inner))
        if function == "range" and 1 <= len(node.args) <= 3:
            return Items(_builtin(_OBJECT, function, tuple(map(self._whole, node.args))), (INT,))
        return None

    def _whole(self, node: ast.expr) -> Expr:
        found = self.visit(node)
        if found.type != INT:
            raise Problem(f"counts with {found.type.plain}", node.col_offset)
        return found

    # -- functions of lists

    def _expect_of_list(self, function: str, offset: int, positional: list[Expr]) -> Expr | None:
        """``sum(sizes)``, ``prod(x.shape)``, ``all([...])``, ``sorted(dims)``; of tensors these are ops."""
        if len(positional) != 1 or not positional[0].type.is_list or function not in (*_OF_LISTS, "reversed"):
            return None
        value = positional[0]
        if value.type.optional:
            raise Problem(f"takes {function}() of {value.type}, where None may come", offset)
        if function == "reversed":
            return Subscript(value.type, value, Slice(value.type, None, None, Literal(INT, -1)))
        item = value.type.plain.item
        if not item.is_number or (function in ("any", "all") and item != BOOL):
            return None
        result = _OF_LISTS[function](item)
        if function in _HELPERS:
            return Call(result, function, _HELPERS[function], "numbers", (value,))
        return _builtin(result, function, (value,))

    def _negated_list(self, operand: Expr) -> Comprehension:
        """``-shifts`` is ``[-n for n in shifts]``."""
        name = self._new_name(next(name for name in ("n", "each", "number") if name not in self.scope.variables))
        variable = Variable(operand.type.plain.item, name)
        negative = Operator(variable.type, "neg", (variable,))
        return Comprehension(list_type([negative]), negative, (Loop(_OBJECT, variable, operand, ()),))


def _called(function: str, several: list[Items]) -> Items:
    kinds = tuple(items if items.is_tuple else items.kinds[0] for items in several)
    return Items(_builtin(_OBJECT, function, tuple(items.source for items in several)), kinds)


def _builtin(result: Type, function: str, arguments: tuple[Expr, ...]) -> Call:
    """A call of Python's function, by a name that no op of the module has."""
    name = function if function in CALLED_BUILTINS else f"{BUILTIN}.{function}"
    return Call(result, function, name, BUILTIN, arguments)


def _counted(count: int) -> str:
    return "one value" if count == 1 else f"{count} values"
