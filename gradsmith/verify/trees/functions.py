"""The functions called by steps of a formula, in Python."""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gradsmith.codegen.formula.callees import BUILTIN, helpers
from gradsmith.codegen.spec.vocabulary import HELPER_MODULES, HELPERS_PACKAGE

if TYPE_CHECKING:
    from gradsmith.codegen.model import Op, Table, Variant

Function = Callable[[Sequence[Any]], Any]  # of complete positional arguments


class NotEvaluable(Exception):
    """A formula has a step that Python cannot reach; the message names it."""


@dataclass
class Functions:
    """Functions behind the C entries of a table, each looked up once."""

    table: Table
    _known: dict[str, Function] = field(default_factory=dict)
    _entries: Mapping[str, tuple[Op, Variant]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        tables = [self.table.library, self.table] if self.table.library else [self.table]
        self._entries = {v.c_entry: (op, v) for table in tables for op in table.ops for v in op.variants}

    def of(self, c_entry: str, name: str = "") -> Function:
        """The function; `name` is for what is no op, such as Python's `len`."""
        key = c_entry or name
        if key not in self._known:
            self._known[key] = self._found(key)
        return self._known[key]

    def _found(self, key: str) -> Function:
        if key in self._entries:
            return self._of_op(*self._entries[key])
        for helper in helpers():
            if helper.c_entry == key:
                return _of_helper(helper.family, key)
        python = getattr(builtins, key.removeprefix(f"{BUILTIN}."), None)
        if python is not None:
            return lambda arguments: python(*arguments)
        raise NotEvaluable(f"{key} cannot be called from Python")

    def _of_op(self, op: Op, variant: Variant) -> Function:
        by_name = [a.name for a in variant.signature.arguments if a.keyword_only]
        places = len(variant.signature.arguments) - len(by_name)
        reached = self._face(op)

        def function(arguments: Sequence[Any]) -> Any:
            return reached(*arguments[:places], **dict(zip(by_name, arguments[places:])))

        return function

    def _face(self, op: Op) -> Callable[..., Any]:
        """The first of the op's forms that exists."""
        base = op.base
        if op.forms & {"function", "internal"}:
            found: Callable[..., Any] = getattr(self._module(op), base)
            return found
        if "method" in op.forms:
            return lambda self, *rest, **named: getattr(self, base)(*rest, **named)
        if "property" in op.forms:
            return lambda self: getattr(self, base)
        raise NotEvaluable(f"{base} has no form that Python can call")

    def _module(self, op: Op) -> Any:
        owner = self.table if op in self.table.ops else self.table.library
        assert owner is not None
        return importlib.import_module(f"{owner.package}.{op.family}")


def _of_helper(family: str, name: str) -> Function:
    module = importlib.import_module(family if family == "builtins" else f"{HELPERS_PACKAGE}.{HELPER_MODULES[family]}")
    helper = getattr(module, name)
    return lambda arguments: helper(*arguments)
