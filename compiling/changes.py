"""Inputs of each build step, and whether they have changed since its output was made.

"Changed" goes by content, never by time.  `Sources` reads files and digests them;
`State` remembers, from run to run, the digest that each output was made from.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

STATE_FILE = Path("build/state.json")

# A header may also be the value of a macro, which another header includes for each type.
_INCLUDE = re.compile(rb'(?m)^[ \t]*#[ \t]*(?:include|define[ \t]+\w+)[ \t]+"([^"]+)"')
_DECLARED_FUNCTION = re.compile(rb"(?m)^cp?def [^\n(]*?(\w+)\([^()]*\)[^\n:#]*(?:#[^\n]*)?\n")
_CIMPORT = re.compile(r"(?m)^from[ \t]+([\w.]+)[ \t]+cimport[ \t]+(\([^)]*\)|[^\n#]*)")
_WORD = re.compile(rb"\w+")


class Declarations(NamedTuple):
    """A .pxd file taken apart: its functions without a body by name, and all the rest."""

    functions: list[tuple[bytes, bytes]]
    rest: bytes
    words: frozenset[bytes]  # of the rest


class Sources:
    """Reads source files once per run and tells their digests."""

    def __init__(self) -> None:
        self._texts: dict[str, bytes] = {}
        self._modules: dict[str, list[str]] = {}
        self._declarations: dict[str, Declarations] = {}
        self._included: dict[str, list[str]] = {}

    def text(self, path: str) -> bytes:
        if path not in self._texts:
            try:
                text = Path(path).read_bytes()
            except FileNotFoundError:
                text = b""
            self._texts[path] = text
        return self._texts[path]

    def forget(self, path: str) -> None:
        """The file has been rewritten."""
        self._texts.pop(path, None)
        self._included.pop(path, None)
        self._modules.pop(path, None)

    def digest(self, paths: Iterable[str]) -> str:
        return digest_of(*(self.text(path) for path in paths))

    def cython_digest(self, source: str, dependencies: list[str]) -> str:
        """Digest of a .pyx and the .pxd files that it cimports.

        The .pxd of a family grows with each op.  A function declared there
        matters only to a module that mentions its name, so the others do not
        count: adding an op compiles its own family alone.
        """
        text = self.text(source)
        declared = [self._declarations_of(path) for path in dependencies]
        words = frozenset(_WORD.findall(text)).union(*(file.words for file in declared))
        used = (line for file in declared for name, line in file.functions if name in words)
        return digest_of(text, *(file.rest for file in declared), *used)

    def _declarations_of(self, path: str) -> Declarations:
        if path not in self._declarations:
            text = self.text(path)
            rest = _DECLARED_FUNCTION.sub(b"", text)
            functions = [(match.group(1), match.group()) for match in _DECLARED_FUNCTION.finditer(text)]
            self._declarations[path] = Declarations(functions, rest, frozenset(_WORD.findall(rest)))
        return self._declarations[path]

    def whole_modules(self, sources: Iterable[str], folders: tuple[str, ...]) -> set[str]:
        """The .pxd files of modules that are cimported as a whole, which Cython's list of what it read leaves out."""
        found: set[str] = set()
        waiting = list(sources)
        while waiting:
            new = set(self._cimported(waiting.pop(), folders)) - found
            found |= new
            waiting += new
        return found

    def _cimported(self, path: str, folders: tuple[str, ...]) -> list[str]:
        if path not in self._modules:
            statements = _CIMPORT.findall(self.text(path).decode())
            modules = [f"{package}.{name}" for package, names in statements for name in re.findall(r"\w+", names)]
            self._modules[path] = [found for name in modules for found in _declarations_of(name, folders)]
        return self._modules[path]

    def headers(self, source: str, folders: tuple[str, ...]) -> list[str]:
        """The project's own headers that a C file includes, directly or not."""
        found: set[str] = set()
        waiting = [source]
        while waiting:
            new = set(self._includes(waiting.pop(), folders)) - found
            found |= new
            waiting += new
        return sorted(found)

    def _includes(self, path: str, folders: tuple[str, ...]) -> list[str]:
        if path not in self._included:
            names = {name.decode() for name in _INCLUDE.findall(self.text(path))}
            headers = (self._resolve(name, path, folders) for name in names)
            self._included[path] = [header for header in headers if header]
        return self._included[path]

    @staticmethod
    def _resolve(name: str, including: str, folders: tuple[str, ...]) -> str | None:
        for folder in (os.path.dirname(including), *folders):
            path = os.path.normpath(os.path.join(folder, name))
            if os.path.isfile(path):
                return Path(path).as_posix()
        return None


def _declarations_of(module: str, folders: tuple[str, ...]) -> Iterator[str]:
    for folder in folders:
        path = Path(folder, *module.split(".")).with_suffix(".pxd")
        if path.is_file():
            yield path.as_posix()


class State:
    """For each output, the digest of all that went into it and the files it was read from."""

    def __init__(self) -> None:
        try:
            self._entries = json.loads(STATE_FILE.read_text())
        except (FileNotFoundError, ValueError):
            self._entries = {}

    def is_current(self, output: str, key: str) -> bool:
        return self._entries.get(output, {}).get("key") == key and os.path.exists(output)

    def inputs(self, output: str) -> list[str]:
        return list(self._entries.get(output, {}).get("inputs", []))

    def note(self, output: str) -> Any:
        return self._entries.get(output, {}).get("note")

    def record(self, output: str, key: str, inputs: list[str] | None = None, note: Any = None) -> None:
        self._entries[output] = {"key": key, "inputs": inputs or [], "note": note}

    def discard(self, output: str) -> None:
        """The output is about to be rebuilt; if that fails, its earlier state is no longer valid."""
        self._entries.pop(output, None)
        Path(output).unlink(missing_ok=True)

    def key(self, output: str) -> str:
        return str(self._entries[output]["key"])

    def save(self) -> None:
        STATE_FILE.parent.mkdir(parents=True, exist_ok=True)
        new = STATE_FILE.with_suffix(".new")
        new.write_text(json.dumps(self._entries, indent=1, sort_keys=True))
        new.replace(STATE_FILE)


def digest_of(*parts: bytes | str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(b"%d:" % len(data))  # so that two parts never read as one
        digest.update(data)
    return digest.hexdigest()[:24]
