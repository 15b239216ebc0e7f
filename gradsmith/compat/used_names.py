"""The names of libraries that the source of a program uses, found without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Use:
    """Where a program uses a name of a library, ``torch.nn.Linear``, or an attribute of something, ``.cuda``."""

    name: str
    line: int
    column: int


def uses_in(source: str, libraries: tuple[str, ...]) -> list[Use]:
    """All uses of names of these libraries, in the order of the source.

    Parameters
    ----------
    source : str
        Python.
    libraries : tuple of str
        ``("torch", "numpy")``; what is imported of them is followed through its names in the program.

    Raises
    ------
    SyntaxError
        When the source is not Python.
    """
    tree = ast.parse(source)
    finder = _Finder(libraries)
    finder.visit_imports(tree)
    finder.visit(tree)
    return sorted(set(finder.found), key=lambda use: (use.line, use.column, use.name))


class _Finder(ast.NodeVisitor):
    """Imports are read first: a function may use what is imported below it."""

    def __init__(self, libraries: tuple[str, ...]) -> None:
        self.libraries = libraries
        self.meaning: dict[str, str] = {}  # name in the program -> name of a library
        self.found: list[Use] = []

    def visit_imports(self, tree: ast.AST) -> None:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                self._import(node)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self._import_from(node)

    def _import(self, node: ast.Import) -> None:
        for alias in node.names:
            if self._is_of_library(alias.name):
                top = alias.name.partition(".")[0]
                self.meaning[alias.asname or top] = alias.name if alias.asname else top
                self._note(alias.name, alias)

    def _import_from(self, node: ast.ImportFrom) -> None:
        if not self._is_of_library(node.module or ""):
            return
        for alias in node.names:
            if alias.name == "*":
                self._note(node.module or "", node)
                continue
            name = f"{node.module}.{alias.name}"
            self.meaning[alias.asname or alias.name] = name
            self._note(name, alias)

    def _is_of_library(self, name: str) -> bool:
        return name.partition(".")[0] in self.libraries

    def _note(self, name: str, node: ast.AST) -> None:
        self.found.append(Use(name, getattr(node, "lineno", 1), getattr(node, "col_offset", 0) + 1))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """The whole of ``torch.nn.Linear`` at once; of anything else, the last attribute."""
        parts = _dotted(node)
        if parts and parts[0] in self.meaning:
            self._note(".".join([self.meaning[parts[0]], *parts[1:]]), node)
            return
        self._note(f".{node.attr}", node)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """``x.to("cuda")`` and ``device="cuda"`` too."""
        for value in [*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "device")]:
            if isinstance(value, ast.Constant) and isinstance(value.value, str) and _may_take_device(node):
                self._note(f'"{value.value}"', value)
        self.generic_visit(node)


def _may_take_device(node: ast.Call) -> bool:
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name in ("to", "device", "set_default_device") or any(keyword.arg == "device" for keyword in node.keywords)


def _dotted(node: ast.expr) -> list[str]:
    """``["torch", "nn", "Linear"]``; empty when the chain does not begin with a name."""
    parts: Iterator[str] | list[str] = []
    while isinstance(node, ast.Attribute):
        parts = [node.attr, *parts]
        node = node.value
    return [node.id, *parts] if isinstance(node, ast.Name) else []
