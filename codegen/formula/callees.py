"""Callables of formulas: the ops of the table and the helpers, by name and by operator."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from ..spec.errors import did_you_mean
from ..spec.helpers import helper_signatures
from ..spec.schema import Argument, Signature
from ..spec.schema_types import Type
from ..spec.vocabulary import INTRINSICS, LOOP_HELPERS
from .formula import Call, Expr, Literal, LiteralValue, TupleExpr
from .reductions import Reduction

if TYPE_CHECKING:
    from .functions import Function

INTRINSIC = "intrinsic"  # the family of functions that only the emitter of C loops knows
BUILTIN = "builtins"  # that of Python's own, which take lists of any type

_RANKS = {"bool": 0, "int": 1, "float": 2, "Scalar": 3}


@dataclass(frozen=True)
class Callee:
    """One concrete signature that a formula may call."""

    signature: Signature
    c_entry: str
    family: str  # of an external table, with its package: my_ops.waves
    loops: bool  # can stand inside a C loop
    operators: tuple[tuple[str, str], ...] = ()
    is_elementwise: bool = False  # broadcasts its operands, and nothing else
    reduction: Reduction | None = None

    @property
    def result(self) -> Type:
        """Type of what it returns; several tensors come as a list, and other results formulas cannot take apart."""
        returns = self.signature.returns
        if len(returns) == 1:
            return returns[0].type.plain
        is_simple = all(r.type.is_tensor and not r.type.optional for r in returns)
        return Type("Tensor", is_list=True) if is_simple else Type("object")


class Callees:
    """All callees of a table: its own, then those of the library if it is an external table."""

    def __init__(
        self,
        ops: Iterable[Callee],
        broken: AbstractSet[str] = frozenset(),
        holomorphic: frozenset[str] = frozenset(),
        library: Callees | None = None,
        functions: Mapping[str, Function] | None = None,
        broken_functions: Iterable[str] = (),
    ) -> None:
        # Names of ops and special methods whose entries are wrong: what they take is not known.
        self.broken = broken
        self.library = library
        self.holomorphic = holomorphic  # bases of the ops that are, see linearity.py
        self.functions = functions or {}  # expressions that the table declares
        self.broken_functions = set(broken_functions)
        self.called: set[str] = set()  # of these functions
        self._by_base: dict[str, list[Callee]] = {}
        self._by_operator: dict[str, list[Callee]] = {}
        self._by_entry: dict[str, Callee] = {}
        for callee in (*ops, *(helpers() if library is None else ())):
            self._by_base.setdefault(callee.signature.base, []).append(callee)
            self._by_entry.setdefault(callee.c_entry, callee)
            for method, _ in callee.operators:
                self._by_operator.setdefault(method, []).append(callee)

    def named(self, base: str) -> list[Callee]:
        return self._by_base.get(base, []) + self.of_library(base)

    def of_library(self, base: str) -> list[Callee]:
        return self.library.named(base) if self.library else []

    def is_shared(self, base: str) -> bool:
        """Do both an external op and one of the library have the name? Then it does not say which is meant."""
        return base in self._by_base and bool(self.of_library(base))

    def of_operator(self, method: str) -> list[Callee]:
        """Callees behind a special method such as ``__mul__``. No external table has any."""
        return self.library.of_operator(method) if self.library else self._by_operator.get(method, [])

    def behind_syntax(self, base: str) -> list[Callee]:
        """Callees behind syntax that names an op without saying so: `where` behind ``a if test else b``."""
        return self.of_library(base) or self.named(base)

    def expect_entry(self, c_entry: str) -> Callee | None:
        """The callee behind a C entry, its own first."""
        found = self._by_entry.get(c_entry)
        return self.library.expect_entry(c_entry) if found is None and self.library else found

    def of_entry(self, c_entry: str) -> Callee:
        """The callee behind a C entry, which must exist."""
        if self.library and c_entry not in self._by_entry:
            return self.library.of_entry(c_entry)
        return self._by_entry[c_entry]

    def loops(self, c_entry: str) -> bool:
        """Can the op behind a C entry stand in a loop; what has no entry, such as `len`, cannot."""
        found = self.expect_entry(c_entry)
        return found is not None and found.loops

    def is_holomorphic(self, c_entry: str) -> bool:
        """Is the op or helper behind a C entry; an intrinsic of the loops has none."""
        if self.library and c_entry not in self._by_entry:
            return self.library.is_holomorphic(c_entry)
        return c_entry in self._by_entry and self._by_entry[c_entry].signature.base in self.holomorphic

    def expect_unary(self, base: str) -> Callable[[Expr], Call] | None:
        """How to call an op of one tensor, if the table has it."""
        callee = next(
            (c for c in self.behind_syntax(base) if [str(a.type.plain) for a in c.signature.arguments] == ["Tensor"]),
            None,
        )
        if callee is None:
            return None
        return lambda operand: Call(callee.result, base, callee.c_entry, callee.family, (operand,))

    @property
    def names(self) -> Iterable[str]:
        return [*self._by_base, *self.functions, *(self.library.names if self.library else ())]


@cache
def helpers() -> tuple[Callee, ...]:
    return tuple(
        Callee(signature, name, module, loops=name in LOOP_HELPERS)
        for module, signatures in helper_signatures().items()
        for signature in signatures
        for name in (entry_name(signature),)
    )


@cache
def intrinsics() -> dict[str, tuple[Callee, ...]]:
    """Functions of the loop emitter: base -> its variants."""
    return {
        signature.base: tuple(Callee(variant, "", INTRINSIC, loops=True) for variant, _ in expand(signature))
        for signature in map(Signature.parse, INTRINSICS.strip().splitlines())
    }


# Prefixes of the C entries of gradsmith's own ops, and of an external table's. Both are seen together in
# the modules of such a table, whose ops may bear names that gradsmith has too.
TREE, OUTSIDE = "op_", "own_"


def stem_of(c_entry: str) -> str:
    """``mul_tensor`` of ``op_mul_tensor``."""
    return c_entry.removeprefix(OUTSIDE if is_outside(c_entry) else TREE)


def is_outside(c_entry: str) -> bool:
    return c_entry.startswith(OUTSIDE)


def entry_name(signature: Signature, *suffixes: str) -> str:
    """``conj.number`` lives in C and Cython as ``conj_number``."""
    return "_".join(filter(None, (signature.base, signature.overload, *suffixes)))


def expand(signature: Signature) -> list[tuple[Signature, tuple[str, ...]]]:
    """Signatures without unions, each with the kinds its unions took: "tensor" or "scalar".

    A combination that leaves no tensor at all is none: numbers alone are Python's business.
    """
    position = next((i for i, a in enumerate(signature.arguments) if a.type.union_scalar), None)
    if position is None:
        return [(signature, ())]
    found: list[tuple[Signature, tuple[str, ...]]] = []
    for kind in ("tensor", "scalar"):
        chosen = _choose(signature, position, to_scalar=kind == "scalar")
        found.extend((variant, (kind, *rest)) for variant, rest in expand(chosen))
    return [(variant, kinds) for variant, kinds in found if variant.tensor_arguments]


def _choose(signature: Signature, position: int, to_scalar: bool) -> Signature:
    arguments = list(signature.arguments)
    union = arguments[position]
    arguments[position] = replace(union, type=union.type.expanded(to_scalar))
    return replace(signature, arguments=tuple(arguments))


# ---- matching: does a callee take these arguments


class Mismatch(Exception):
    """Why a callee does not take the arguments it was given."""


def bind(callee: Callee, positional: list[Expr], keywords: dict[str, Expr] | None = None) -> tuple[Expr, ...]:
    """Complete positional arguments, converted and with defaults.

    Raises
    ------
    Mismatch
        With the reason, to follow "which": ``takes 1 argument, not 2``.
    """
    arguments = callee.signature.arguments
    given = dict(keywords or {})
    _verify_count(arguments, positional, given)
    bound: list[Expr] = []
    for index, argument in enumerate(arguments):
        value = positional[index] if index < len(positional) else given.pop(argument.name, None)
        bound.append(_default(argument) if value is None else _converted(value, argument))
    if given:
        name = next(iter(given))
        hint = did_you_mean(name, [a.name for a in arguments])
        raise Mismatch(f"has no argument '{name}'{hint and '. ' + hint}")
    return tuple(bound)


def _verify_count(arguments: tuple[Argument, ...], positional: list[Expr], given: dict[str, Expr]) -> None:
    limit = sum(not a.keyword_only for a in arguments)
    if len(positional) > limit:
        required = sum(a.default is None and not a.keyword_only for a in arguments)
        count = str(limit) if required == limit else f"{required} to {limit}"
        noun = "argument" if count == "1" else "arguments"
        raise Mismatch(f"takes {count} {noun}, not {len(positional)}")
    twice = next((a.name for a in arguments[: len(positional)] if a.name in given), None)
    if twice:
        raise Mismatch(f"is given '{twice}' twice")


def _default(argument: Argument) -> Expr:
    if argument.default is None:
        raise Mismatch(f"wants an argument '{argument.name}' of type {argument.type.plain}")
    return _converted(literal(ast.literal_eval(argument.default)), argument)


def _converted(value: Expr, argument: Argument) -> Expr:
    converted = expect_conversion(value, argument.type)
    if converted is not None:
        return converted
    if value.type.optional and expect_conversion(_without_none(value), argument.type):
        raise Mismatch(
            f"wants a {argument.type.plain} as '{argument.name}', where None may come. Test it with 'is None' first"
        )
    if value.type.optional_items and expect_conversion(_without_none_among(value), argument.type):
        raise Mismatch(
            f"wants {argument.type.plain} as '{argument.name}', where None may be among the tensors. "
            "Give it to a helper or op that takes Tensor?[]"
        )
    raise Mismatch(f"wants {argument.type.plain} as '{argument.name}', not {_shown_type(value)}")


def _shown_type(value: Expr) -> Type:
    """The type, with the length of a list where that is known."""
    return replace(value.type.plain, length=length_of(value)) if value.type.is_list else value.type.plain


def _without_none(value: Expr) -> Expr:
    return replace(value, type=value.type.required)


def _without_none_among(value: Expr) -> Expr:
    return replace(value, type=replace(value.type, optional_items=False))


def expect_conversion(value: Expr, wanted: Type) -> Expr | None:
    """`value` as an expression of type `wanted`, or None when it is none.

    The only conversions are those that lose nothing: int to float to Scalar, and one int where a
    list of ints is wanted.
    """
    have = value.type
    if wanted.name == "object":
        return replace(value, type=wanted) if isinstance(value, TupleExpr) else value  # an index of several tensors
    if wanted.union_scalar:  # of a helper: ops have no unions left
        sides = (wanted.expanded(to_scalar=False), wanted.expanded(to_scalar=True))
        return value if any(expect_conversion(value, side) for side in sides) else None
    if have.name == "None" or (have.optional and not wanted.optional):
        return value if have.name == "None" and wanted.optional else None
    if wanted.is_list and not have.is_list:
        return _repeated(value, wanted)
    if have.is_list != wanted.is_list or not _has_length(value, wanted.length):
        return None
    if wanted.is_list and _is_empty(value):
        return replace(value, type=wanted.plain)
    if have.optional_items and not wanted.optional_items:
        return None
    if have.name == wanted.name or _widens(have, wanted):
        return value
    return None


def _is_empty(value: Expr) -> bool:
    return (isinstance(value, TupleExpr) and not value.items) or (isinstance(value, Literal) and value.value == ())


def _repeated(value: Expr, wanted: Type) -> Expr | None:
    """One value for a list: one int where any number of ints will do, else as many as the list must have."""
    if not (wanted.length or wanted.name == "int") or expect_conversion(value, wanted.item) is None:
        return None
    return TupleExpr(wanted.plain.required, (value,) * (wanted.length or 1))


def _has_length(value: Expr, length: int) -> bool:
    """Has a list the number of items that is wanted, as far as can be told."""
    return not length or length_of(value) in (0, length)


def length_of(value: Expr) -> int:
    """How many items a list has; 0 when that is not known before the call, and of what is no list."""
    match value:
        case TupleExpr(items=items):
            return len(items)
        case Literal(value=tuple() as items):
            return len(items)
    return value.type.length


def _widens(have: Type, wanted: Type) -> bool:
    if have.name not in _RANKS or wanted.name not in _RANKS:
        return False
    return _RANKS[have.name] < _RANKS[wanted.name] and wanted.name in ("float", "Scalar")


def wider(left: Type, right: Type) -> Type:
    """Type of the sum of two numbers."""
    name = max("int", left.name, right.name, key=_RANKS.__getitem__)
    return Type(name)


def list_type(items: Sequence[Expr]) -> Type:
    """Type of a list of these items: one of the table's list types, else any object."""
    types = [item.type for item in items]
    if all(t.is_number for t in types):
        names = {t.name for t in types}
        number = names.pop() if len(names) == 1 else max(("int", *names), key=_RANKS.__getitem__)
        return Type(number, is_list=True)
    if all(t == Type("str") for t in types):
        return Type("str", is_list=True)
    if all(expect_conversion(item, Type("Tensor")) for item in items):
        return Type("Tensor", is_list=True)
    if all(expect_conversion(item, Type("Tensor", optional=True)) for item in items):
        return Type("Tensor", is_list=True, optional_items=True)
    return Type("object")


def literal(value: object) -> Literal:
    """A constant with the type it has by itself."""
    if isinstance(value, (tuple, list)):
        return Literal(list_type([literal(item) for item in value]), tuple(value))
    types: dict[type, str] = {
        bool: "bool",
        int: "int",
        float: "float",
        complex: "Scalar",
        str: "str",
        type(None): "None",
    }
    constant: LiteralValue = value  # type: ignore[assignment]
    return Literal(Type(types[type(value)]), constant)
