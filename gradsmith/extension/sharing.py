"""Compiled modules that several versions of a table share.

Samples, points and references of a table are data of its `op_table`, its documentation that of `_docstrings`: a version
that differs in them alone is a package with these modules of its own, and with the compiled ones of another version.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradsmith.codegen.extension import Package

DIGEST, OWNER = "modules.digest", "modules.owner"  # in the folder of a package: of its modules, or who has them
DATA = ("op_table", "_docstrings")  # modules that each version has for itself
_OF_ITS_OWN = frozenset({"__init__.py", *(f"{module}.py" for module in DATA)})


def owner_folder(folder: Path) -> Path:
    """The folder of the package that has the compiled modules of the one in `folder`."""
    owner = folder / OWNER
    return folder.with_name(owner.read_text(encoding="utf-8")) if owner.is_file() else folder


def digest_of_modules(package: Package, name: str) -> str:
    """Of all that is compiled, whatever the package is called."""
    from .cache import key_of

    files = sorted((file, text) for file, text in package.files.items() if file.removesuffix(".py") not in DATA)
    return key_of(*(f"{file}\n{text.replace(name, '')}" for file, text in files))


def expect_owner(kept: Path, digest: str, is_complete: Callable[[Path], bool]) -> str | None:
    """The package in the folder `kept` that has these modules."""
    for found in sorted(kept.glob(f"*/{DIGEST}")):
        with contextlib.suppress(OSError):  # another process has taken it away
            if found.read_text(encoding="utf-8") == digest and is_complete(found.parent):
                return found.parent.name
    return None


def leave_modules_to(owner: str, folder: Path) -> None:
    """Turn a generated package into one with the modules of another."""
    for path in folder.iterdir():
        if path.name not in _OF_ITS_OWN:
            path.unlink()
    (folder / OWNER).write_text(owner, encoding="utf-8")


def give_modules(name: str, owner: ModuleType) -> None:
    """Make the modules of one package, which is imported, those of the package `name` too, before that is."""
    for full_name, module in list(sys.modules.items()):
        package, _, own = full_name.rpartition(".")
        if package == owner.__name__ and own not in DATA:
            sys.modules[f"{name}.{own}"] = module
