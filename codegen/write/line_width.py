"""Lines within 120 columns: one pass over the rendered text of a module.

Templates write each statement in one line. Here a long one is broken at its brackets, as a formatter of Python would do
it; a comment behind it moves to the line before; text of comments and docstrings is broken between words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from textwrap import wrap

WIDTH = 120
STEP = "    "
_OPENING = dict(zip("([{", ")]}", strict=True))
# A string, a word, a bracket, a comma, a comment, or any other character.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|#.*|\w+|.')
# Words behind which a comma separates no items: ``[a * b for a, b in pairs]``.
_ONE_ITEM = ("for", "lambda")
_CALL = re.compile(r"[\w\])]\($")
_LIST_OR_DICT = re.compile(r"(?<![\w\])])[\[{]$")
_QUOTES = '"""'


def within_width(text: str) -> str:
    """The text of a module, its long lines broken."""
    return "\n".join(_broken(text.split("\n")))


def _broken(lines: list[str]) -> Iterator[str]:
    in_docstring = False
    for line in lines:
        is_text = in_docstring or line.lstrip().startswith(_QUOTES)
        in_docstring ^= line.count(_QUOTES) % 2 == 1
        if len(line) <= WIDTH:
            yield line
        elif is_text:
            yield from _filled(line, "")
        elif line.lstrip().startswith("#"):
            yield from _filled(line, "# ")
        else:
            yield from _statement(line)


def _filled(line: str, mark: str) -> list[str]:
    """A line of words; what follows the first line starts with `mark`."""
    indent = _indent_of(line)
    return wrap(
        line.strip(),
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + mark,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _statement(line: str) -> Iterator[str]:
    code, comment = _without_comment(line)
    if comment:
        yield from _filled(f"{_indent_of(line)}{comment}", "# ")
    yield from _code(code)


def _without_comment(line: str) -> tuple[str, str]:
    for match in _TOKEN.finditer(line):
        if match[0].startswith("#"):
            return line[: match.start()].rstrip(), match[0]
    return line, ""


# ---- code


@dataclass(frozen=True)
class Brackets:
    """An outermost pair of brackets: the places of both, and of the commas between its items."""

    start: int
    end: int
    commas: tuple[int, ...]
    is_one_item: bool  # a comprehension, or what has a lambda in it
    may_end_in_comma: bool  # ``f(a)`` and ``[a]`` mean the same with one; ``(a)`` and ``x[a]`` do not

    @classmethod
    def of(cls, code: str, start: int, end: int, commas: list[int], is_one_item: bool) -> Brackets:
        if is_one_item:
            return cls(start, end, (), True, False)
        return cls(start, end, tuple(commas), False, bool(commas) or _holds_items(code[: start + 1]))

    def items(self, code: str) -> list[str]:
        starts = (self.start, *self.commas)
        ends = (*self.commas, self.end)
        return [code[a + 1 : b].strip() for a, b in zip(starts, ends, strict=True)]


def _code(code: str, end: str = "") -> list[str]:
    """A line of code, and what follows it in its last line; in several lines when it is too long for one."""
    if len(code) + len(end) <= WIDTH:
        return [code + end]
    brackets = _last_brackets(code)
    if brackets is None:
        return _conditional(code, end)
    indent = f"{_indent_of(code)}{STEP}"
    items = [item for item in brackets.items(code) if item]
    is_tuple_of_one = len(items) == 1 and brackets.commas
    together = f"{indent}{', '.join(items)}{',' if is_tuple_of_one else ''}"
    is_declaration = code.lstrip().startswith(("cdef", "def"))
    if len(together) <= WIDTH:
        body = [together]
    else:
        last = "," if brackets.may_end_in_comma and not (is_declaration and _is_signature(code)) else ""
        body = [part for item in items[:-1] for part in _code(indent + item, ",")]
        body += _code(indent + items[-1], last)
    return [code[: brackets.start + 1], *body, *_rest(_indent_of(code), code[brackets.end :], end)]


def _conditional(code: str, end: str) -> list[str]:
    """An item that nests too deeply for a bracket within the width: its branches have a line each."""
    indent = _indent_of(code)
    *first, last = _branches(code.strip())
    if not first:
        return _message(code, end)
    return [*(line for part in first for line in _code(indent + part)), *_code(indent + last, end)]


def _message(code: str, end: str) -> list[str]:
    """A text that is longer than a line goes on in literals of its own, which Python joins."""
    indent = _indent_of(code)
    literal = _TOKEN.match(code, len(indent))
    if literal is None or not literal[0].startswith('"'):
        return [code + end]
    room = WIDTH - len(indent) - len('""')
    # Its characters stay as they are: lines end at spaces alone, which they keep.
    *parts, last = wrap(
        literal[0][1:-1],
        room,
        drop_whitespace=False,
        expand_tabs=False,
        replace_whitespace=False,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [""]
    if not parts:
        return [code + end]
    return [*(f'{indent}"{part}"' for part in parts), *_code(f'{indent}"{last}"{code[literal.end() :]}', end)]


def _branches(code: str) -> list[str]:
    """``a``, ``if b`` and ``else c`` of a conditional; what is none stays whole."""
    depth, starts = 0, [0]
    for match in _TOKEN.finditer(code):
        depth += (match[0] in _OPENING) - (match[0] in _OPENING.values())
        if depth == 0 and match.start() and match[0] in ("if", "else"):
            starts.append(match.start())
    return [code[a:b].strip() for a, b in pairwise([*starts, len(code)])]


def _rest(indent: str, code: str, end: str) -> list[str]:
    """The line that starts with a closing bracket, which belongs to none that opens in it."""
    first, *others = _code(f"{indent}_{code[1:]}", end)
    return [f"{indent}{code[0]}{first[len(indent) + 1 :]}", *others]


def _is_signature(code: str) -> bool:
    """Has the statement parameters in its brackets, and no values?"""
    return " = " not in code.partition("(")[0]


def _holds_items(code: str) -> bool:
    """Opens the last character a call, a list or a dict? Those take a comma behind the last item.

    Parentheses around an expression would become a tuple with one, and so would an index.
    """
    return bool(_CALL.search(code) or _LIST_OR_DICT.search(code))


def _last_brackets(code: str) -> Brackets | None:
    """The last brackets with something in them, such that what precedes them fits in a line."""
    found = [b for b in _outer_brackets(code) if b.end > b.start + 1]
    return next((b for b in reversed(found) if b.start < WIDTH), None)


def _outer_brackets(code: str) -> Iterator[Brackets]:
    depth = start = 0
    commas: list[int] = []
    is_one_item = False
    for match in _TOKEN.finditer(code):
        if match[0] in _OPENING:
            if depth == 0:
                start, commas, is_one_item = match.start(), [], False
            depth += 1
        elif match[0] in _OPENING.values():
            depth -= 1
            if depth == 0:
                yield Brackets.of(code, start, match.start(), commas, is_one_item)
        elif match[0] in _ONE_ITEM and depth == 1:
            is_one_item = True
        elif match[0] == "," and depth == 1:
            commas.append(match.start())
