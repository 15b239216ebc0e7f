"""The signature language: ``base.overload(Type name=default, *, Type name) -> Type name``.

Every class parses its own text and prints it back: ``str(X.parse(text)) == text`` for text in the
canonical spacing, and parsing checks this on its own result. The words are those of the table,
never those of Cython or C.
"""

from __future__ import annotations

import ast
import keyword
from dataclasses import dataclass, replace

from .errors import Problem
from .foreign_words import PYTHON_WORDS
from .scanner import Scanner
from .schema_types import Type, scan_type
from .syntax import parse_python

# Names that mean something else inside a formula or in generated code. An argument may be called `nan`, as that of
# nan_to_num is; in its entry the name is the argument.
RESERVED_NAMES = frozenset(
    {"grad", "grads", "grad_input_mask", "result", "retain_variables", "np", "node", "walk", "out", "pi", "inf"}
)


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
        scanner = Scanner(text)
        signature = _scan_signature(scanner)
        scanner.expect_end()
        return signature

    @property
    def arguments_text(self) -> str:
        texts: list[str] = []
        for argument in self.arguments:
            if argument.keyword_only and "*" not in texts:
                texts.append("*")
            texts.append(str(argument))
        return ", ".join(texts)

    def __str__(self) -> str:
        returns = ", ".join(map(str, self.returns))
        if len(self.returns) != 1 or self.returns[0].name:
            returns = f"({returns})"
        return f"{self.full_name}({self.arguments_text}) -> {returns}"

    @property
    def full_name(self) -> str:
        return f"{self.base}.{self.overload}" if self.overload else self.base

    @property
    def output_names(self) -> tuple[str, ...]:
        """Names of the outputs in formulas: their own, else ``result``, ``result0``, ..."""
        if len(self.returns) == 1:
            return (self.returns[0].name or "result",)
        return tuple(r.name or f"result{i}" for i, r in enumerate(self.returns))

    @property
    def tensor_arguments(self) -> tuple[Argument, ...]:
        return tuple(a for a in self.arguments if a.type.is_differentiable)

    @property
    def returns_list(self) -> bool:
        """Is the one result a list of tensors."""
        return len(self.returns) == 1 and self.returns[0].type.is_tensor_list

    @property
    def without_writes(self) -> Signature:
        """That of the op which computes what this one writes."""
        arguments = tuple(replace(a, type=a.type.plain) for a in self.arguments)
        return replace(self, arguments=arguments, returns=tuple(replace(r, type=r.type.plain) for r in self.returns))

    @property
    def has_plain_returns(self) -> bool:
        """Are all results tensors, which are always there, and is none of several a view."""
        has_view = any(r.type.alias and not r.type.written for r in self.returns) and len(self.returns) > 1
        return not has_view and all(r.type.plain == Type("Tensor") for r in self.returns)

    @property
    def gradient_numbers(self) -> tuple[int, ...]:
        """The number of each result's gradient. A list comes last, with a gradient for each of its tensors."""
        single = [i for i, r in enumerate(self.returns) if not r.type.is_list]
        order = [*single, *(i for i, r in enumerate(self.returns) if r.type.is_list)]
        return tuple(order.index(i) for i in range(len(self.returns)))

    @property
    def in_gradient_order(self) -> tuple[tuple[str, Return], ...]:
        """Names and results as the node numbers them."""
        named = list(zip(self.output_names, self.returns, strict=True))
        return tuple(sorted(named, key=lambda pair: pair[1].type.is_list))

    @property
    def generators(self) -> frozenset[str]:
        """Names of the arguments that random numbers come from."""
        return frozenset(a.name for a in self.arguments if a.type.name == "Generator")

    def argument(self, name: str) -> Argument:
        """The argument of that name, which must exist."""
        return next(a for a in self.arguments if a.name == name)

    def expect_argument(self, name: str) -> Argument | None:
        return next((a for a in self.arguments if a.name == name), None)


# ---- parsing: one function per rule of the grammar, each leaves the scanner behind what it read


def _scan_signature(scanner: Scanner) -> Signature:
    base = _scan_name(scanner, "the name of an op", frozenset())
    overload = scanner.word("the name of an overload") if scanner.accept(".") else ""
    scanner.expect("(", "the name of the op")
    arguments = _scan_arguments(scanner)
    scanner.expect("->", "the arguments")
    returns = _scan_returns(scanner)
    signature = Signature(base, overload, arguments, returns)
    _verify_aliases(signature)
    _verify_gradients(signature)
    return signature


def _scan_arguments(scanner: Scanner) -> tuple[Argument, ...]:
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


def _scan_argument(scanner: Scanner, keyword_only: bool) -> Argument:
    declared = scan_type(scanner)
    name = _scan_name(scanner, f"the name of the {declared} argument", RESERVED_NAMES)
    default = None
    if scanner.accept("="):
        scanner.skip_space()
        start = scanner.at
        default = _scan_default(scanner)
        _verify_default(name, declared, default, start)
    return Argument(name, declared, default, keyword_only)


def _scan_name(scanner: Scanner, what: str, reserved: frozenset[str]) -> str:
    scanner.skip_space()
    start = scanner.at
    name = scanner.word(what)
    if keyword.iskeyword(name):
        raise Problem(f"'{name}' is a keyword of Python", start)
    if name in reserved:
        raise Problem(f"'{name}' is reserved: formulas give it a meaning of their own", start)
    return name


def _scan_default(scanner: Scanner) -> str:
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
        value: object = ast.literal_eval(parse_python(default))
    except Problem as problem:
        raise Problem(f"default of '{name}' {problem.problem}", offset) from None
    except (ValueError, TypeError):
        hint = f"Write {PYTHON_WORDS[default]}." if default in PYTHON_WORDS else ""
        raise Problem(f"default of '{name}' is not a Python literal: {default}", offset, hint) from None
    if not declared.accepts(value):
        raise Problem(f"default of '{name}' is {default}, which is no {declared}", offset)


def _scan_returns(scanner: Scanner) -> tuple[Return, ...]:
    if not scanner.accept("("):
        return (Return("", scan_type(scanner)),)
    returns: list[Return] = []
    while not scanner.accept(")"):
        if returns:
            scanner.expect(",", "a return")
        returns.append(_scan_return(scanner, returns))
    if not returns:
        raise Problem("an op returns something", scanner.at)
    return tuple(returns)


def _scan_return(scanner: Scanner, before: list[Return]) -> Return:
    declared = scan_type(scanner)
    if scanner.peek(",") or scanner.peek(")"):
        return Return("", declared)
    start = scanner.at
    name = _scan_name(scanner, "the name of a return", RESERVED_NAMES - {"result"})
    if any(r.name == name for r in before):
        raise Problem(f"two returns are called '{name}'", start)
    return Return(name, declared)


def _verify_gradients(signature: Signature) -> None:
    """``grad_low`` is the gradient of a result `low`: where there is one, nothing else is called so."""
    gradients = {f"grad_{name}": name for name in signature.output_names}
    for name in (*(a.name for a in signature.arguments), *(r.name for r in signature.returns)):
        if name in gradients:
            problem = f"'{name}' is what formulas call the gradient of '{gradients[name]}'"
            raise Problem(problem, hint="Choose another name for one of the two.")


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
