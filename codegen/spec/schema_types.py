"""Types of the signature language: ``Tensor``, ``Tensor|Scalar``, ``int[2]``, ``dim[]``, ``Tensor(a!)``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .errors import Problem, hint_from
from .scanner import Scanner

# Types of a schema. Expressions have one more, that of `None`.
SCHEMA_TYPES = ("Tensor", "Scalar", "int", "float", "bool", "str", "dtype", "device", "Generator", "object")
EXPRESSION_TYPES = (*SCHEMA_TYPES, "None")

LIST_TYPES = ("Tensor", "Scalar", "int", "float", "bool", "str")
SIZED_TYPES = ("Scalar", "int", "float", "bool", "str")  # of a list of them the schema may say how many there are
OPTIONAL_TYPES = ("Tensor", "Scalar", "int", "float", "bool", "str", "dtype", "device", "Generator")

# Ints that say something of a tensor's dimensions, and whether they are several. To formulas they are ints like others;
# the batching rule of the op follows from them.
ROLES = {
    "dim": False,  # one that the first tensor has
    "new_dim": False,  # the place of one that the result has
    "order": True,  # all of them, in another order
    "shape": True,  # sizes of the result, one of which may be -1, to be worked out
    "sizes": True,  # sizes to which the tensor is broadcast
}

# Python values a default of each type may have; an optional one may also be None.
_DEFAULT_VALUES: dict[str, tuple[type, ...]] = {
    "Scalar": (bool, int, float, complex),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
    "object": (object,),
}


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
    role: str = field(default="", compare=False)  # dim: see ROLES

    def __post_init__(self) -> None:
        assert self.name in EXPRESSION_TYPES, self.name
        assert not (self.written and not self.alias), self
        assert not (self.union_scalar and (self.name != "Tensor" or self.is_list)), self
        assert not ((self.optional_items or self.length) and not self.is_list), self

    @staticmethod
    def parse(text: str) -> Type:
        scanner = Scanner(text)
        parsed = scan_type(scanner)
        scanner.expect_end()
        return parsed

    def __str__(self) -> str:
        if self.role and ROLES[self.role]:
            return f"{self.role}{'?' if self.optional else ''}"
        union = "|Scalar" if self.union_scalar else ""
        alias = f"({self.alias}{'!' if self.written else ''})" if self.alias else ""
        items = "?" if self.optional_items else ""
        brackets = f"{items}[{self.length or ''}]" if self.is_list else ""
        return f"{self.role or self.name}{union}{alias}{brackets}{'?' if self.optional else ''}"

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
        """The same type without its memory annotation, and without what an int says of dimensions."""
        return replace(self, alias="", written=False, role="")

    @property
    def required(self) -> Type:
        """The same type, None excluded."""
        return replace(self, optional=False)

    def accepts(self, value: object) -> bool:
        """Can a default be this Python value."""
        if value is None:
            return self.optional or self.name == "object"
        if self.is_list and not (self.length and self.item.accepts(value)):  # int[2] x=1: both are 1
            if not isinstance(value, (list, tuple)) or self.length not in (0, len(value)):
                return False
            return all(self.item.accepts(v) for v in value)
        if isinstance(value, bool) and self.name in ("int", "float"):
            return False
        allowed = (
            _DEFAULT_VALUES["Scalar" if self.union_scalar else self.name]
            if (self.union_scalar or self.name in _DEFAULT_VALUES)
            else ()
        )
        return isinstance(value, allowed)

    def expanded(self, to_scalar: bool) -> Type:
        """The union ``Tensor|Scalar`` made one of its two sides."""
        assert self.union_scalar
        return Type("Scalar") if to_scalar else replace(self, union_scalar=False)


# Types of PyTorch's schemas -> what is meant here.
FOREIGN_TYPES = {
    "SymInt": "int", "ScalarType": "dtype", "Device": "device", "double": "float", "complex": "Scalar",
    "Number": "Scalar", "string": "str", "List": "int[] or another type with brackets", "number": "Scalar",
    "TensorList": "Tensor[]", "IntArrayRef": "int[]", "Layout": "object",
    "MemoryFormat": "object", "Dimname": "int", "Storage": "Tensor", "const": "Tensor", "int64_t": "int",
}  # fmt: skip

_NESTED_HINT = "Take one list, and an int[] that says how many of its items belong together; or an 'object'."

# ---- parsing: each function leaves the scanner behind what it read


def scan_type(scanner: Scanner) -> Type:
    scanner.skip_space()
    start = scanner.at
    name = scanner.word("a type")
    if name in ROLES:
        return _scan_role(scanner, name, start)
    if name not in SCHEMA_TYPES:
        meant = FOREIGN_TYPES.get(name)
        hint = f"Write {meant}." if meant else hint_from("Types", name, (*SCHEMA_TYPES, *ROLES))
        raise Problem(f"unknown type '{name}'", start, hint)
    union = scanner.accept("|")
    if union and (name != "Tensor" or scanner.word("a type") != "Scalar"):
        raise Problem("the only union of types is Tensor|Scalar", start)
    alias, written = _scan_alias(scanner)
    optional = scanner.accept("?")
    is_list = scanner.accept("[")
    length = _scan_length(scanner) if is_list else 0
    optional_items = optional and is_list
    optional = scanner.accept("?") if is_list else optional
    if is_list and scanner.peek("["):
        raise Problem(f"there is no list of lists {name}[][]", start, _NESTED_HINT)
    declared = _Declared(name, union, alias, is_list, length, optional_items, optional)
    declared.verify(start)
    return Type(name, union, optional, is_list, optional_items, length, alias, written)


def _scan_role(scanner: Scanner, role: str, start: int) -> Type:
    """``dim``, ``dim[]?``, ``shape``."""
    is_list = ROLES[role]
    if role == "dim" and scanner.accept("["):
        scanner.expect("]", "'dim['")
        is_list = True
    if scanner.accept("["):
        raise Problem(f"there is no list type {role}[]", start, f"Write {role}.")
    return Type("int", is_list=is_list, optional=scanner.accept("?"), role=role)


def _scan_length(scanner: Scanner) -> int:
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


def _scan_alias(scanner: Scanner) -> tuple[str, bool]:
    if not scanner.accept("("):
        return "", False
    alias = scanner.word("a letter that names shared memory")
    written = scanner.accept("!")
    start = scanner.at
    scanner.skip_space()
    if scanner.accept("-"):
        hint = f"Write Tensor({alias}), and -> Tensor({alias})[] for a list of views."
        raise Problem(f"'({alias} -> ...' says where views go, which the results say themselves", start, hint)
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
