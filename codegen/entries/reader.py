"""YAML text -> raw entries whose every key and value knows its line and column.

Here ends everything YAML: later stages see texts with positions. PyYAML's own loaders build plain
values, forget positions and accept duplicate keys, so the reader takes YAML's node tree instead.
"""

from __future__ import annotations

import itertools
import keyword
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import yaml

from ..spec.errors import Collector, Position, SpecError, SpecErrors, did_you_mean, hint_from
from ..spec.foreign_words import PYTHON_WORDS
from ..spec.scanner import NAMES, is_name
from ..spec.vocabulary import FAMILIES, TAKEN_MODULES

# Keys of an entry. Every other key must be an input of the op, or inputs joined by commas.
TEXT_KEYS = (
    "name", "function", "forward", "variadic", "doc", "complex", "nondifferentiable", "subgradient", "latex",
    "reference", "resets_accumulator", "out_of_place", "depends_on_layout", "stops_gradient", "takes_numbers",
    "takes_inplace", "assignable", "surrogate", "cancellation", "batch", "core",
)  # fmt: skip
LIST_KEYS = ("variants", "aliases", "output_differentiability", "saves")
SCALAR_LISTS = ("variants", "aliases")  # of which one text needs no brackets
PAIR_KEYS = ("operators", "domain", "prepare", "require", "let")
KEYS = (*TEXT_KEYS, *LIST_KEYS, *PAIR_KEYS, "samples", "points")

_COLON_HINT = "A text that has ': ' in it needs quotes around all of it."
_BRACKET_HINT = "A text that begins with a bracket needs quotes around all of it."
_TOKEN = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|;""")  # a quoted text, or what separates two samples
_STRANGE = yaml.reader.Reader.NON_PRINTABLE
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class RawText:
    """A text of the table and its position."""

    text: str
    position: Position
    source: str = field(repr=False, compare=False)  # as written: may have quotes and line breaks

    def position_of(self, offset: int) -> Position:
        """Location of character `offset` of the text in the file.

        YAML folds line breaks and drops quotes, so both texts are walked side by side.
        """
        return _advance(self.position, self.source, _source_offset(self, offset))


Pairs = tuple[tuple[RawText, RawText], ...]


@dataclass(frozen=True)
class RawEntry:
    """One entry: its keys sorted by kind, nothing understood yet."""

    family: str
    position: Position
    name: RawText
    texts: dict[str, RawText]
    lists: dict[str, tuple[RawText, ...]]
    pairs: dict[str, Pairs]
    samples: tuple[RawText, ...]
    points: tuple[RawText, ...]
    formulas: Pairs  # input(s), formula
    keys: frozenset[str]  # all that the entry has
    is_function: bool = False  # begins with `function:`, for formulas alone

    @property
    def operators(self) -> Pairs:
        """Kind and special method of each."""
        return self.pairs.get("operators", ())

    @property
    def base(self) -> str:
        """The op's name as far as it can be told: for messages about entries that do not parse."""
        return _base(self.name.text)

    def expect_text(self, key: str) -> str | None:
        found = self.texts.get(key)
        return found.text if found else None


def expect_truth(text: RawText, key: str, op: str, errors: Collector) -> bool | None:
    """The truth that a text says; None after an error, which has been reported."""
    if text.text not in ("true", "false"):
        meant = PYTHON_WORDS.get(text.text, text.text).lower()
        hint = f"Write {meant}." if meant in ("true", "false") else "Write true or false."
        errors.add(text.position, op, f"{key} is '{text.text}', which is neither true nor false", hint)
        return None
    return text.text == "true"


def read_file(path: Path, file: str = "") -> str:
    """The text of a file that should be UTF-8.

    Raises
    ------
    SpecErrors
        With the place where it is not; `file` is its name there.
    """
    content = path.read_bytes()
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        position = _advance(Position(1, 1), before, len(before))
        raise SpecErrors([SpecError(file or str(path), position, "", "is not UTF-8")]) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read(text: str, errors: Collector, families: Sequence[str] | None = FAMILIES) -> tuple[RawEntry, ...]:
    """All entries that have the shape of an entry; what has not is reported to `errors`.

    `families` is None where their names are the author's to choose.
    """
    text = text.removeprefix("\ufeff")  # with which some editors begin
    strange = _STRANGE.search(text)
    if strange is not None:
        position = _advance(Position(1, 1), text, strange.start())
        errors.add(position, "", f"has the character U+{ord(strange[0]):04X}, which no table may have")
        return ()
    root = _compose(text, errors)
    if root is None:
        return ()
    reader = _Reader(text, errors, families)
    entries: list[RawEntry] = []
    for family, node in reader.pairs(root, "", "the table", "a mapping of families"):
        entries.extend(reader.entries(family, node))
    return tuple(entries)


def _compose(text: str, errors: Collector) -> yaml.Node | None:
    try:
        root: yaml.Node | None = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = Position(mark.line + 1, mark.column + 1) if mark else Position(1, 1)
        problem = error.problem or error.context or ""
        hint = _COLON_HINT if problem.startswith("mapping values") else ""
        hint = _BRACKET_HINT if problem.endswith("',' or ']'") else hint
        errors.add(position, "", f"does not parse as YAML: {problem}", hint)
        return None
    except yaml.YAMLError as error:
        errors.add(Position(1, 1), "", f"does not parse as YAML: {str(error).splitlines()[0]}")
        return None
    if root is None:
        errors.add(Position(1, 1), "", "the table is empty")
    return root


class _Reader:
    """Turns YAML nodes into raw texts; remembers the file and the op it is in, for its messages."""

    def __init__(self, text: str, errors: Collector, families: Sequence[str] | None) -> None:
        self.file_text = text
        self.errors = errors
        self.families = families

    def entries(self, family: RawText, node: yaml.Node) -> list[RawEntry]:
        self.verify_family(family)
        items = self.items(node, "", f"family '{family.text}'", "a list of entries")
        found = [self.entry(family.text, item) for item in items]
        return [entry for entry in found if entry is not None]

    def verify_family(self, family: RawText) -> None:
        if self.families is not None and family.text not in self.families:
            hint = hint_from("Families", family.text, self.families)
            hint += " A new family is a word in FAMILIES of codegen/spec/vocabulary.py."
            self.errors.add(family.position, "", f"unknown family '{family.text}'", hint)
        elif not is_name(family.text) or keyword.iskeyword(family.text):
            problem = f"family '{family.text}' becomes a module, and that is no name for one"
            self.errors.add(family.position, "", problem, NAMES)
        elif family.text in TAKEN_MODULES or family.text.endswith("_kernels"):
            self.errors.add(
                family.position, "", f"family '{family.text}' has the name of another module of the package"
            )

    def entry(self, family: str, node: yaml.Node) -> RawEntry | None:
        op = self.op_of(node)
        pairs = self.pairs(node, op, "an entry", "a mapping that begins with 'name:'")
        keys = {key.text: value for key, value in pairs}
        if "<<" in keys:
            self.errors.add(_start(node), op, "merges another entry into it by '<<'", "Write the entry out.")
            return None
        heads = [key for key in ("name", "function") if key in keys]
        if len(heads) == 2:
            self.errors.add(_start(node), op, "an entry with 'name' and 'function'", "It is an op or a function.")
            return None
        if not heads:
            if isinstance(node, yaml.MappingNode):
                near = [key for key in keys if key == "func" or did_you_mean(key, ["name"])]
                hint = f"'{near[0]}' should be 'name'." if near else ""
                self.errors.add(_start(node), op, "an entry without 'name'", hint)
            return None
        name = self.expect_text(keys[heads[0]], op, heads[0])
        if name is None:
            return None
        return RawEntry(
            family=family,
            position=_start(node),
            name=name,
            texts=self.texts(keys, op),
            lists={key: self.text_list(keys[key], op, key) for key in LIST_KEYS if key in keys},
            pairs={key: self.text_pairs(keys[key], op, key) for key in PAIR_KEYS if key in keys},
            samples=self.calls(keys["samples"], op, "samples") if "samples" in keys else (),
            points=self.calls(keys["points"], op, "points") if "points" in keys else (),
            formulas=self.formulas(pairs, op),
            keys=frozenset(keys),
            is_function=heads == ["function"],
        )

    def op_of(self, node: yaml.Node) -> str:
        """Name of the op for messages, before anything is known to be right."""
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value in ("name", "function") and isinstance(value, yaml.ScalarNode):
                    return _base(value.value)
        return ""

    def texts(self, keys: dict[str, yaml.Node], op: str) -> dict[str, RawText]:
        found = {key: self.expect_text(keys[key], op, key) for key in TEXT_KEYS if key in keys}
        return {key: text for key, text in found.items() if text is not None}

    def formulas(self, pairs: list[tuple[RawText, yaml.Node]], op: str) -> Pairs:
        found: list[tuple[RawText, RawText]] = []
        for key, value in pairs:
            if key.text in KEYS:
                continue
            near = did_you_mean(key.text, KEYS)
            if near and not isinstance(value, yaml.ScalarNode):
                self.errors.add(key.position, op, f"unknown key '{key.text}'", near)
                continue
            text = self.expect_text(value, op, key.text)
            if text is not None:
                found.append((key, text))
        return tuple(found)

    def calls(self, node: yaml.Node, op: str, key: str) -> tuple[RawText, ...]:
        """One text, or a list of them; each reads like the arguments of a call."""
        if isinstance(node, yaml.ScalarNode) and (node.value or node.style):
            return _parts(self.call(node))
        items = self.items(node, op, key, "a text like 'real(3, 4), other=2.5', or a list of them")
        return tuple(part for item in items for part in self.parts(item, op, key))

    def parts(self, node: yaml.Node, op: str, key: str) -> tuple[RawText, ...]:
        if isinstance(node, yaml.ScalarNode):
            return _parts(self.call(node))
        hint = "Write it like the arguments of a call: real(3, 4), other=2.5. A list needs a name."
        self.errors.add(_start(node), op, f"one of the {key} should be a text", hint)
        return ()

    def call(self, node: yaml.ScalarNode) -> RawText:
        raw = self.raw(node)
        return replace(raw, text=_joined_lines(raw.text))

    def text_list(self, node: yaml.Node, op: str, key: str) -> tuple[RawText, ...]:
        """A list of texts; a single one needs no list."""
        if isinstance(node, yaml.ScalarNode) and key in SCALAR_LISTS:
            text = self.expect_text(node, op, key)
            if text is not None and text.text.startswith("["):
                self.errors.add(text.position, op, f"'{key}' should be a list, not a text", _quotes_hint(node))
                return ()
            return () if text is None else (text,)
        found = [self.expect_text(item, op, key) for item in self.items(node, op, key, "a list")]
        return tuple(text for text in found if text is not None)

    def text_pairs(self, node: yaml.Node, op: str, key: str) -> Pairs:
        pairs = self.pairs(node, op, key, "a mapping")
        found = [(name, self.expect_text(value, op, name.text)) for name, value in pairs]
        return tuple((name, text) for name, text in found if text is not None)

    # -- YAML nodes, one step at a time

    def pairs(self, node: yaml.Node, op: str, what: str, wanted: str) -> list[tuple[RawText, yaml.Node]]:
        """Keys and values of a mapping, each key once."""
        if not isinstance(node, yaml.MappingNode):
            self.errors.add(_start(node), op, f"{what} should be {wanted}", _quotes_hint(node))
            return []
        found: dict[str, tuple[RawText, yaml.Node]] = {}
        for key_node, value in node.value:
            key = self.expect_text(key_node, op, "a key")
            if key is None:
                continue
            if key.text in found:
                first = found[key.text][0].position.line
                problem = f"duplicate key '{key.text}', first at line {first}"
                self.errors.add(key.position, op, problem)
            else:
                found[key.text] = (key, value)
        return list(found.values())

    def items(self, node: yaml.Node, op: str, what: str, wanted: str) -> list[yaml.Node]:
        if isinstance(node, yaml.SequenceNode):
            return list(node.value)
        self.errors.add(_start(node), op, f"{what} should be {wanted}", _quotes_hint(node))
        return []

    def expect_text(self, node: yaml.Node, op: str, what: str) -> RawText | None:
        if isinstance(node, yaml.ScalarNode) and node.value:
            raw = self.raw(node)
            return raw if what == "doc" else replace(raw, text=_joined_lines(raw.text))
        wanted = "has no value" if isinstance(node, yaml.ScalarNode) else "should be a text"
        hint = _BRACKET_HINT if isinstance(node, yaml.SequenceNode) and node.flow_style else ""
        self.errors.add(_start(node), op, f"'{what}' {wanted}", hint)
        return None

    def raw(self, node: yaml.ScalarNode) -> RawText:
        return RawText(node.value.strip(), _start(node), self.source(node))

    def source(self, node: yaml.Node) -> str:
        return self.file_text[node.start_mark.index : node.end_mark.index]


def _quotes_hint(node: yaml.Node) -> str:
    """For a list or a mapping that quotes make a text."""
    is_quoted = isinstance(node, yaml.ScalarNode) and bool(node.style) and node.value.startswith(("[", "{"))
    return f"Take the quotes away: {node.value}." if is_quoted else ""


def _base(schema: str) -> str:
    return "".join(itertools.takewhile(lambda c: c.isalnum() or c == "_", schema.strip()))


def _parts(raw: RawText) -> tuple[RawText, ...]:
    """``a, b=1; c`` holds two texts."""
    ends = [match.start() for match in _TOKEN.finditer(raw.text) if match[0] == ";"]
    starts = [0, *(end + 1 for end in ends)]
    return tuple(_part(raw, start, end) for start, end in zip(starts, [*ends, len(raw.text)]))


def _part(raw: RawText, start: int, end: int) -> RawText:
    text = raw.text[start:end]
    offset = start + len(text) - len(text.lstrip())
    return (
        replace(raw, text=text.strip())
        if (start, end) == (0, len(raw.text))
        else RawText(text.strip(), raw.position_of(offset), text.strip())
    )


def _joined_lines(text: str) -> str:
    """YAML folds most line breaks, but not those before lines that are indented further."""
    return " ".join(line.strip() for line in text.splitlines())


def _start(node: yaml.Node) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)


def _source_offset(raw: RawText, offset: int) -> int:
    """Offset in the text as written of character `offset` of the text as read."""
    at = 0
    for character in raw.text[:offset]:
        at = _skip_to(raw.source, at, character) + 1
    return _skip_to(raw.source, at, raw.text[offset : offset + 1])


def _skip_to(source: str, at: int, character: str) -> int:
    """The next place where `character` may come from: a space may come from a line break."""
    if character.isspace():
        return at
    found = source.find(character, at) if character else -1
    return found if found >= 0 else at


def _advance(start: Position, source: str, offset: int) -> Position:
    before = source[:offset]
    lines = before.count("\n")
    if not lines:
        return Position(start.line, start.column + offset)
    return Position(start.line + lines, offset - before.rfind("\n"))
