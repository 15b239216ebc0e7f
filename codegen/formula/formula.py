"""Formulas as typed trees.

A formula is a Python expression. `codegen.resolve` has looked up every name, call, operator and attribute
in it, so that a reader of the tree prints it without asking anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from types import EllipsisType
from typing import Any

from ..spec.schema_types import Type
from .trees import HashedOnce

LiteralValue = int | float | bool | str | complex | tuple[object, ...] | EllipsisType | None

# How tightly Python's operators bind; what binds less than its surroundings needs parentheses.
BINDING = {
    "or": 1, "and": 2, "not": 3,
    "==": 4, "!=": 4, "<": 4, "<=": 4, ">": 4, ">=": 4, "is": 4, "is not": 4, "in": 4, "not in": 4,
    "|": 5, "^": 6, "&": 7, "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10, "@": 10,
    "neg": 11, "~": 11, "**": 12,
}  # fmt: skip
CONDITIONAL, COMPARISON, UNARY, ATOM = 0, 4, 11, 14


@dataclass(frozen=True, eq=False)
class Expr(HashedOnce):
    """A node of the tree. `type` is the type of its value; optional when it may be None."""

    type: Type

    def children(self) -> Iterator[Expr]:
        """Sub-expressions, in the order of the text (defaults that were filled in come last)."""
        kind: Any = type(self)  # mypy does not take it for hashable
        for name in _field_names(kind):
            value = getattr(self, name)
            if isinstance(value, Expr):
                yield value
            elif isinstance(value, tuple) and name not in ("resolved_arguments", "value"):
                yield from (item for item in value if isinstance(item, Expr))

    @cached_property
    def names(self) -> frozenset[str]:
        """Arguments, outputs and other named values that are read here or below."""
        return frozenset(part.name for part in self.walk() if isinstance(part, Name))

    @cached_property
    def has_choices(self) -> bool:
        """Is there a part whose value decides whether others are computed."""
        return any(
            isinstance(part, Comprehension)
            or (isinstance(part, Conditional) and not part.resolved)
            or (isinstance(part, Operator) and part.symbol in ("and", "or") and not part.resolved)
            for part in self.walk()
        )

    @cached_property
    def size(self) -> int:
        """How many nodes it has."""
        return 1 + sum(child.size for child in self.children())

    def walk(self) -> Iterator[Expr]:
        """This node and everything below it, in the order of the text."""
        waiting: list[Expr] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(list(node.children())))


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(entry.name for entry in fields(kind))


@dataclass(frozen=True, eq=False)
class Name(Expr):
    """An argument or an output of the op."""

    name: str


@dataclass(frozen=True, eq=False)
class Gradient(Expr):
    """Gradient of output `index`: written ``grad``, ``grads[1]`` or ``grad_values``."""

    index: int


@dataclass(frozen=True, eq=False)
class Gradients(Expr):
    """The gradients of all outputs as a list: ``grads``. Undefined ones are None."""


@dataclass(frozen=True, eq=False)
class IsUndefined(Expr):
    """``grad_values is None``: no gradient of output `index` has arrived."""

    index: int
    optional: bool = False  # the output may be absent, and then its gradient is None in forward mode too


@dataclass(frozen=True, eq=False)
class IsWanted(Expr):
    """``grad_input_mask[1]``: is the gradient of this input asked for."""

    input: str


@dataclass(frozen=True, eq=False)
class RunFact(Expr):
    """A fact about one run of the engine: a key of vocabulary.RUN_FACTS."""

    fact: str


@dataclass(frozen=True, eq=False)
class Literal(Expr):
    """A constant. A dtype (``int64``) is its name, with type dtype."""

    value: LiteralValue


@dataclass(frozen=True, eq=False)
class Attribute(Expr):
    """``self.shape``: kept as a value, so that the tensor need not be saved.

    `owner` is an argument or an output. `attribute` is one of vocabulary.ATTRIBUTES.
    """

    owner: str
    attribute: str

    @property
    def saved_name(self) -> str:
        return f"{self.owner}_{self.attribute}"


@dataclass(frozen=True, eq=False)
class AttributeOf(Expr):
    """The same of a value computed in the formula itself: ``grad.shape``."""

    value: Expr
    attribute: str


@dataclass(frozen=True, eq=False)
class Operator(Expr):
    """An operator applied to one or two operands.

    symbol is Python's (``+ - * / // % ** @ == != < <= > >= & | ^ ~ and or not is``), ``neg`` for
    the sign. When tensors take part, `resolved` is the C entry, in module `family`, and
    `resolved_arguments` its complete positional arguments (``2 * x`` may be ``op_mul_scalar(x, 2)``).
    """

    symbol: str
    operands: tuple[Expr, ...]
    resolved: str = ""
    family: str = ""
    resolved_arguments: tuple[Expr, ...] = field(default=(), compare=False)  # these follow from the rest


@dataclass(frozen=True, eq=False)
class Call(Expr):
    """A function or method applied to its complete positional arguments, defaults filled in.

    `c_entry` is ``op_sum_dim`` in family module `family`, or a helper in module ``formulas``. It is
    "" for a function of the C emitter that is no op (family ``intrinsic``, in pointwise forwards).
    """

    function: str  # as the formula says: "sum"
    c_entry: str
    family: str
    arguments: tuple[Expr, ...]


def is_call_of(expr: Expr, c_entry: str, names: tuple[str, ...]) -> bool:
    """Does a step, however it is written, apply the op behind a C entry to the values of these names."""
    match expr:
        case Call(c_entry=called, arguments=arguments) | Operator(resolved=called, resolved_arguments=arguments):
            given = tuple(argument.name if isinstance(argument, Name) else "" for argument in arguments)
            return called == c_entry and given == names
    return False


@dataclass(frozen=True, eq=False)
class Conditional(Expr):
    """``body if test else orelse``.

    With a tensor as test (pointwise forwards only) it selects element by element, and `resolved` /
    `resolved_arguments` say how to do so with the op `where`.
    """

    test: Expr
    body: Expr
    orelse: Expr
    resolved: str = ""
    family: str = ""
    resolved_arguments: tuple[Expr, ...] = field(default=(), compare=False)  # these follow from the rest

    @property
    def is_elementwise(self) -> bool:
        return self.test.type.is_tensor


@dataclass(frozen=True, eq=False)
class Subscript(Expr):
    """``shape[dim]``, ``tensors[0]``, ``shape[1:]`` (index is then a `Slice`)."""

    value: Expr
    index: Expr


@dataclass(frozen=True, eq=False)
class Slice(Expr):
    """``start:stop:step``, only as an index."""

    start: Expr | None
    stop: Expr | None
    step: Expr | None = None


@dataclass(frozen=True, eq=False)
class Index(Expr):
    """The index of a tensor, ``x[0, ..., None, 1:]``: ints, slices, None and Ellipsis."""

    items: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class TupleExpr(Expr):
    items: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class Variable(Expr):
    """The variable of a comprehension, as its parts see it: ``g`` in ``[2 * g for g in grads]``."""

    name: str


@dataclass(frozen=True, eq=False)
class Loop(Expr):
    """``for target in source if test``: `target` is a `Variable`, or a tuple of targets."""

    target: Expr
    source: Expr
    tests: tuple[Expr, ...]


@dataclass(frozen=True, eq=False)
class Comprehension(Expr):
    """``[item for ... in ...]``: a list, whose length is known when it is made."""

    item: Expr
    loops: tuple[Loop, ...]


@dataclass(frozen=True)
class Formula:
    """A checked formula of one variant."""

    text: str
    line: int
    column: int
    expr: Expr
    is_pointwise: bool  # every step is elementwise over the op's own shape: can become one loop
    is_derived: bool = False  # not written by the author
    lets: tuple[tuple[str, Expr], ...] = ()  # parts of `expr` that the entry names, each after those that it reads

    @cached_property
    def uses(self) -> frozenset[str]:
        """Arguments and outputs whose value is read (an attribute alone does not count)."""
        return self.expr.names

    @cached_property
    def attributes(self) -> frozenset[tuple[str, str]]:
        """(owner, attribute) pairs that are read."""
        return frozenset((e.owner, e.attribute) for e in self.expr.walk() if isinstance(e, Attribute))

    @cached_property
    def gradients(self) -> frozenset[int]:
        """Outputs whose gradient it reads, or asks for."""
        return frozenset(e.index for e in self.expr.walk() if isinstance(e, Gradient | IsUndefined))

    @property
    def is_identity(self) -> bool:
        """The gradient passes unchanged: ``grad``."""
        return isinstance(self.expr, Gradient)

    @property
    def uses_all_gradients(self) -> bool:
        return any(isinstance(e, Gradients) for e in self.expr.walk())
