"""The error shown, in one line, when compiled modules of the package are missing."""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder
from pathlib import Path

PACKAGE = Path(__file__).absolute().parent


def unbuilt_error(error: ModuleNotFoundError) -> ImportError:
    """The error to raise for one of the import of gradsmith: `error` itself when it is about something else."""
    missing = error.name or ""
    if not missing.startswith("gradsmith."):
        return error
    _forget_what_was_imported()
    return ImportError(f"{_problem(missing)}: {_remedy()}", name=missing, path=str(PACKAGE))


def _forget_what_was_imported() -> None:
    """Another gradsmith, imported later in this process, must not find parts of this one."""
    for name in [name for name in sys.modules if name.startswith("gradsmith.")]:
        del sys.modules[name]


def _problem(missing: str) -> str:
    if not _is_checkout():
        return f"the installation of gradsmith in {PACKAGE} is incomplete, {missing} is missing"
    return f"gradsmith is not built in {PACKAGE.parent}, there is no {missing}{_other_build(missing)}"


def _is_checkout() -> bool:
    return (PACKAGE.parent / "derivatives.yaml").exists() and (PACKAGE.parent / "Makefile").exists()


def _other_build(missing: str) -> str:
    """Was the module compiled for another Python?"""
    *folders, module = missing.split(".")[1:]
    built = [path.name for path in PACKAGE.joinpath(*folders).glob(f"{module}.*") if path.suffix in (".so", ".pyd")]
    return f" for this Python ({EXTENSION_SUFFIXES[0]}), only {', '.join(sorted(built))}" if built else ""


def _remedy() -> str:
    if not _is_checkout():
        return "install it again"
    other = _installed_elsewhere()
    instead = f", or start Python elsewhere to import the gradsmith in {other}" if other else ""
    return f"run `make` in that folder{instead}"


def _installed_elsewhere() -> Path | None:
    """The folder of another gradsmith that Python would find if this one were not in its way."""
    others = [folder for folder in sys.path if Path(folder or ".").resolve() != PACKAGE.parent.resolve()]
    found = PathFinder.find_spec("gradsmith", others)
    return None if found is None or found.origin is None else Path(found.origin).parent
