"""A cursor over the text of a schema."""

from __future__ import annotations

from .errors import Problem

NAMES = "Names consist of letters of ASCII, digits and underscores, and do not begin with two of these."


def is_name(text: str) -> bool:
    """Is it a name of Python and of C, and none that either has for itself."""
    return text.isidentifier() and text.isascii() and not text.startswith("__")


class Scanner:
    """The text being parsed, and the position in it."""

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
        if not is_name(found):
            raise Problem(f"'{found}' is no name", start, NAMES)
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
