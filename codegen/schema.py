"""The signature language: ``base.overload(Type name=default, *, Type name) -> Type name``.

Every class parses its own text and prints it back: ``str(X.parse(text)) == text`` for text in the
canonical spacing, and parsing checks this on its own result. The words are those of the table,
never those of Cython or C.
"""

from __future__ import annotations

import ast
import keyword
from dataclasses import dataclass, field, replace

from .errors import Problem, hint_from

# What a schema may say. Expressions know three more: what `None`, a tuple of mixed things and the
# shapes of a list of tensors are, see EXPRESSION_TYPES.
SCHEMA_TYPES = ("Tensor", "Scalar", "int", "float", "bool", "str", "dtype", "device", "object")
EXPRESSION_TYPES = (*SCHEMA_TYPES, "None")

LIST_TYPES = ("Tensor", "Scalar", "int", "float", "bool", "str")
SIZED_TYPES = ("Scalar", "int", "float", "bool", "str")  # of a list of them the schema may say how many there are
OPTIONAL_TYPES = ("Tensor", "Scalar", "int", "float", "bool", "str", "dtype", "device")

# Python values a default of each type may have; an optional one may also be None.
_DEFAULT_VALUES: dict[str, tuple[type, ...]] = {
    "Scalar": (bool, int, float, complex),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
    "object": (object,),
}

# Names that mean something else inside a formula or in generated code.
RESERVED_NAMES = frozenset(
    {"grad", "grads", "result", "retain_variables", "np", "node", "walk", "out", "pi", "inf", "nan"}
)


@dataclass(frozen=True)
class Type:
    """Type of an argument, a return or an expression."""

    name: str
    union_scalar: bool = False  # Tensor|Scalar
    optional: bool = False  # Tensor?
    is_list: bool = False  # int[]
    optional_items: bool = False  # Tensor?[]
    # int[2]; 0 when any number will do. A fact about the values, not another type: equal without it.
    length: int = field(default=0, compare=False)
    alias: str = ""  # Tensor(a): shares memory with the argument of the same letter
    written: bool = False  # Tensor(a!): changed in place

    def __post_init__(self) -> None:
        assert self.name in EXPRESSION_TYPES, self.name
        assert not (self.written and not self.alias), self
        assert not (self.union_scalar and (self.name != "Tensor" or self.is_list)), self
        assert not ((self.optional_items or self.length) and not self.is_list), self

    @staticmethod
    def parse(text: str) -> Type:
        scanner = _Scanner(text)
        parsed = _scan_type(scanner)
        scanner.expect_end()
        return parsed

    def __str__(self) -> str:
        union = "|Scalar" if self.union_scalar else ""
        alias = f"({self.alias}{'!' if self.written else ''})" if self.alias else ""
        items = "?" if self.optional_items else ""
        brackets = f"{items}[{self.length or ''}]" if self.is_list else ""
        return f"{self.name}{union}{alias}{brackets}{'?' if self.optional else ''}"

    @property
    def is_tensor(self) -> bool:
        """One tensor, optional or not, also ``Tensor|Scalar``."""
        return self.name == "Tensor" and not self.is_list

    @property
    def is_tensor_list(self) -> bool:
        return self.name == "Tensor" and self.is_list

    @property
    def is_differentiable(self) -> bool:
        """Can a gradient flow through a value of this type at all."""
        return self.name == "Tensor"

    @property
    def is_number(self) -> bool:
        """One Python number, never None."""
        return self.name in ("Scalar", "int", "float", "bool") and not (self.is_list or self.optional)

    @property
    def item(self) -> Type:
        """Type of the items of a list."""
        return Type(self.name, optional=self.optional_items)

    @property
    def plain(self) -> Type:
        """The same type without its memory annotation."""
        return replace(self, alias="", written=False)

    @property
    def required(self) -> Type:
        """The same type, None excluded."""
        return replace(self, optional=False)

    def expanded(self, to_scalar: bool) -> Type:
        """The union ``Tensor|Scalar`` made one of its two sides."""
        assert self.union_scalar
        return Type("Scalar") if to_scalar else replace(self, union_scalar=False)


@dataclass(frozen=True)
class Argument:
    name: str
    type: Type
    default: str | None = None  # Python text
    keyword_only: bool = False

    def __str__(self) -> str:
        return f"{self.type} {self.name}" + ("" if self.default is None else f"={self.default}")


@dataclass(frozen=True)
class Return:
    name: str  # "" when the schema names none; formulas then say `result`, or `result0`, `result1`
    type: Type

    def __str__(self) -> str:
        return f"{self.type} {self.name}".rstrip()


@dataclass(frozen=True)
class Signature:
    base: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Return, ...]

    @staticmethod
    def parse(text: str) -> Signature:
        """Read a schema.

        Raises
        ------
        Problem
            With the offset of the first character that is wrong.
        """
        scanner = _Scanner(text)
        signature = _scan_signature(scanner)
        scanner.expect_end()
        return signature

    def __str__(self) -> str:
        texts: list[str] = []
        for argument in self.arguments:
            if argument.keyword_only and "*" not in texts:
                texts.append("*")
            texts.append(str(argument))
        returns = ", ".join(map(str, self.returns))
        if len(self.returns) != 1 or self.returns[0].name:
            returns = f"({returns})"
        return f"{self.full_name}({', '.join(texts)}) -> {returns}"

    @property
    def full_name(self) -> str:
        return f"{self.base}.{self.overload}" if self.overload else self.base

    @property
    def output_names(self) -> tuple[str, ...]:
        """What formulas call the outputs: their own names, else ``result``, ``result0``, ..."""
        if len(self.returns) == 1:
            return (self.returns[0].name or "result",)
        return tuple(r.name or f"result{i}" for i, r in enumerate(self.returns))

    @property
    def tensor_arguments(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if a.type.is_differentiable)

    def argument(self, name: str) -> Argument:
        """The argument of that name, which must exist."""
        return next(a for a in self.arguments if a.name == name)

    def expect_argument(self, name: str) -> Argument | None:
        return next((a for a in self.arguments if a.name == name), None)


# ---- parsing: one function per rule of the grammar, each leaves the scanner behind what it read


class _Scanner:
    """A cursor over the text of a schema."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def skip_space(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def peek(self, symbol: str) -> bool:
        self.skip_space()
        return self.text.startswith(symbol, self.at)

    def accept(self, symbol: str) -> bool:
        found = self.peek(symbol)
        if found:
            self.at += len(symbol)
        return found

    def expect(self, symbol: str, after: str) -> None:
        if not self.accept(symbol):
            raise Problem(f"expected '{symbol}' after {after}, found {self.rest()}", self.at)

    def word(self, what: str) -> str:
        """The identifier under the cursor."""
        self.skip_space()
        start = self.at
        while self.at < len(self.text) and (self.text[self.at].isalnum() or self.text[self.at] == "_"):
            self.at += 1
        found = self.text[start : self.at]
        if not found.isidentifier():
            self.at = start
            raise Problem(f"expected {what}, found {self.rest()}", start)
        return found

    def digits(self) -> str:
        start = self.at
        while self.at < len(self.text) and self.text[self.at].isdigit():
            self.at += 1
        return self.text[start : self.at]

    def rest(self) -> str:
        shown = self.text[self.at : self.at + 12].strip()
        return f"'{shown}'" if shown else "the end"

    def expect_end(self) -> None:
        self.skip_space()
        if self.at < len(self.text):
            raise Problem(f"{self.rest()} follows the end of the schema", self.at)


def _scan_signature(scanner: _Scanner) -> Signature:
    base = _scan_name(scanner, "the name of an op", frozenset())
    overload = scanner.word("the name of an overload") if scanner.accept(".") else ""
    scanner.expect("(", "the name of the op")
    arguments = _scan_arguments(scanner)
    scanner.expect("->", "the arguments")
    returns = _scan_returns(scanner)
    signature = Signature(base, overload, arguments, returns)
    _verify_aliases(signature)
    return signature


def _scan_arguments(scanner: _Scanner) -> tuple[Argument, ...]:
    arguments: list[Argument] = []
    keyword_only = False
    while not scanner.accept(")"):
        if arguments or keyword_only:
            scanner.expect(",", f"argument '{arguments[-1].name}'" if arguments else "'*'")
        if not keyword_only and scanner.accept("*"):
            keyword_only = True
            continue
        start = scanner.at
        argument = _scan_argument(scanner, keyword_only)
        _verify_follows(argument, arguments, start)
        arguments.append(argument)
    return tuple(arguments)


def _verify_follows(argument: Argument, before: list[Argument], offset: int) -> None:
    if any(a.name == argument.name for a in before):
        raise Problem(f"two arguments are called '{argument.name}'", offset)
    optional_first = next((a.name for a in before if a.default is not None), None)
    if argument.default is None and optional_first and not argument.keyword_only:
        raise Problem(f"argument '{argument.name}' without default follows '{optional_first}' with one", offset)


def _scan_argument(scanner: _Scanner, keyword_only: bool) -> Argument:
    declared = _scan_type(scanner)
    name = _scan_name(scanner, f"the name of the {declared} argument", RESERVED_NAMES)
    default = None
    if scanner.accept("="):
        scanner.skip_space()
        start = scanner.at
        default = _scan_default(scanner)
        _verify_default(name, declared, default, start)
    return Argument(name, declared, default, keyword_only)


def _scan_name(scanner: _Scanner, what: str, reserved: frozenset[str]) -> str:
    scanner.skip_space()
    start = scanner.at
    name = scanner.word(what)
    if keyword.iskeyword(name):
        raise Problem(f"'{name}' is a keyword of Python", start)
    if name in reserved or (reserved and name.startswith("grad_")):
        raise Problem(f"'{name}' is reserved: formulas give it a meaning of their own", start)
    return name


def _scan_type(scanner: _Scanner) -> Type:
    scanner.skip_space()
    start = scanner.at
    name = scanner.word("a type")
    if name not in SCHEMA_TYPES:
        raise Problem(f"unknown type '{name}'", start, hint_from("Types", name, SCHEMA_TYPES))
    union = scanner.accept("|")
    if union and (name != "Tensor" or scanner.word("a type") != "Scalar"):
        raise Problem("the only union of types is Tensor|Scalar", start)
    alias, written = _scan_alias(scanner)
    optional = scanner.accept("?")
    is_list = scanner.accept("[")
    length = _scan_length(scanner) if is_list else 0
    optional_items = optional and is_list
    optional = scanner.accept("?") if is_list else optional
    declared = _Declared(name, union, alias, is_list, length, optional_items, optional)
    declared.verify(start)
    return Type(name, union, optional, is_list, optional_items, length, alias, written)


def _scan_length(scanner: _Scanner) -> int:
    """``[2]`` or ``[]``, after the first bracket."""
    scanner.skip_space()
    if scanner.accept("]"):
        return 0
    start = scanner.at
    text = scanner.digits()
    if not text or int(text) == 0:
        scanner.at = start
        raise Problem(f"expected ']' or how many items the list has, found {scanner.rest()}", start)
    scanner.expect("]", f"'[{text}'")
    return int(text)


def _scan_alias(scanner: _Scanner) -> tuple[str, bool]:
    if not scanner.accept("("):
        return "", False
    alias = scanner.word("a letter that names shared memory")
    written = scanner.accept("!")
    scanner.expect(")", f"'({alias}'")
    return alias, written


@dataclass(frozen=True)
class _Declared:
    """The parts of a type, which may not fit together."""

    name: str
    union: bool
    alias: str
    is_list: bool
    length: int
    optional_items: bool
    optional: bool

    def verify(self, offset: int) -> None:
        if self.union and (self.is_list or self.optional):
            raise Problem("Tensor|Scalar is neither a list nor optional", offset)
        if self.alias and self.name != "Tensor":
            raise Problem(f"only tensors share memory, not {self.name}", offset)
        if self.is_list and self.name not in LIST_TYPES:
            lists = ", ".join(f"{name}[]" for name in LIST_TYPES)
            raise Problem(f"there is no list type {self.name}[]", offset, f"Lists: {lists}.")
        if self.length and self.name not in SIZED_TYPES:
            raise Problem(f"a list of {self.name} has no fixed length", offset, f"Write {self.name}[].")
        if self.optional_items and self.name != "Tensor":
            raise Problem(f"the items of {self.name}[] cannot be optional", offset, f"Write {self.name}[]?.")
        if self.optional and self.name not in OPTIONAL_TYPES:
            raise Problem(f"{self.name} cannot be optional: it takes None as it is", offset)


def _scan_default(scanner: _Scanner) -> str:
    """Text up to the comma or parenthesis that ends this argument."""
    start, depth, quote = scanner.at, 0, ""
    while scanner.at < len(scanner.text):
        character = scanner.text[scanner.at]
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([{":
            depth += 1
        elif depth == 0 and character in ",)":
            break
        elif character in ")]}":
            depth -= 1
        scanner.at += 1
    return scanner.text[start : scanner.at].strip()


def _verify_default(name: str, declared: Type, default: str, offset: int) -> None:
    try:
        value: object = ast.literal_eval(default)
    except (ValueError, SyntaxError):
        raise Problem(f"default of '{name}' is not a Python literal: {default}", offset) from None
    if not _fits(declared, value):
        raise Problem(f"default of '{name}' is {default}, which is no {declared}", offset)


def _fits(declared: Type, value: object) -> bool:
    if value is None:
        return declared.optional or declared.name == "object"
    if declared.is_list and not (declared.length and _fits(declared.item, value)):  # int[2] x=1: both are 1
        if not isinstance(value, (list, tuple)) or declared.length not in (0, len(value)):
            return False
        return all(_fits(declared.item, v) for v in value)
    if isinstance(value, bool) and declared.name in ("int", "float"):
        return False
    allowed = (
        _DEFAULT_VALUES["Scalar" if declared.union_scalar else declared.name]
        if (declared.union_scalar or declared.name in _DEFAULT_VALUES)
        else ()
    )
    return isinstance(value, allowed)


def _scan_returns(scanner: _Scanner) -> tuple[Return, ...]:
    if not scanner.accept("("):
        return (Return("", _scan_type(scanner)),)
    returns: list[Return] = []
    while not scanner.accept(")"):
        if returns:
            scanner.expect(",", "a return")
        returns.append(_scan_return(scanner, returns))
    if not returns:
        raise Problem("an op returns something", scanner.at)
    return tuple(returns)


def _scan_return(scanner: _Scanner, before: list[Return]) -> Return:
    declared = _scan_type(scanner)
    if scanner.peek(",") or scanner.peek(")"):
        return Return("", declared)
    start = scanner.at
    name = _scan_name(scanner, "the name of a return", RESERVED_NAMES - {"result"})
    if any(r.name == name for r in before):
        raise Problem(f"two returns are called '{name}'", start)
    return Return(name, declared)


def _verify_aliases(signature: Signature) -> None:
    """A return shares memory with an argument of the same letter, written exactly as that one."""
    letters = {a.type.alias: a.type.written for a in signature.arguments if a.type.alias}
    for returned in signature.returns:
        alias = returned.type.alias
        if alias and letters.get(alias) is not returned.type.written:
            raise Problem(
                f"return {returned.type} shares memory with no argument",
                hint=f"Write Tensor({alias}{'!' if returned.type.written else ''}) at the argument.",
            )
    names = {a.name for a in signature.arguments}
    for returned in signature.returns:
        if returned.name in names:
            raise Problem(f"'{returned.name}' names both an argument and a return")
