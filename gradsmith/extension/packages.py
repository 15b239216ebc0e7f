"""An external table made into a compiled package."""

from __future__ import annotations

import importlib.util
import keyword
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gradsmith
from gradsmith.compiling.toolchain import BuildError, require_tools
from gradsmith.runtime.calls.methods import check_free

from .sharing import leave_modules_to

if TYPE_CHECKING:
    from gradsmith.codegen.extension import Package

# Import name -> distribution, of what building needs besides a C compiler.
_NEEDED = {"yaml": "PyYAML", "jinja2": "Jinja2", "Cython": "Cython", "setuptools": "setuptools"}


def build_package(
    table: str | os.PathLike[str],
    name: str,
    output: Path,
    *,
    functions: str | os.PathLike[str] | None = None,
    methods_of: str = "",
    report: Callable[[str], Any] = print,
    expect_owner: Callable[[Package], str | None] = lambda package: None,
) -> None:
    """Generate the package of a table in a folder and compile it there, as far as it is not up to date.

    Parameters
    ----------
    table : path
    name : str
        The package, with dots when it is to be part of another.
    output : Path
        Folder that the package is put into.
    functions : path, optional
        Python file whose functions ``array(...)`` may call.
    methods_of : str
        In whose name the package gives the Tensor class methods when it is imported; "" when it does not.
    report : callable
        Is told each step.
    expect_owner : callable
        Gives the name of a package beside this one that has the same modules, which are then not compiled.

    Raises
    ------
    SpecErrors
        With every error of the table.
    BuildError
        When compiling fails, with the entries that it fails at.
    """
    require_builder()
    from gradsmith.codegen.entries.reader import read_file
    from gradsmith.codegen.extension import make_package
    from gradsmith.codegen.saving.explanation import notes
    from gradsmith.codegen.write.write import foreign_files, write

    _verify_name(name, output)
    text = read_file(Path(table), os.fspath(table))
    given = read_file(Path(functions)) if functions is not None else ""
    package = make_package(
        text, os.fspath(table), name, functions=given, functions_file=str(functions), methods_of=methods_of
    )
    check_free(gradsmith.Tensor, package.methods, methods_of)
    for note in notes(package.table):
        report(note)
    folder = output.joinpath(*name.split("."))
    for path in foreign_files(folder, package.files):
        raise FileExistsError(f"{path} was not generated; choose another package or folder, or move it away")
    write(folder, package.files)
    owner = expect_owner(package)
    if owner is None:
        _compile(package, name, output, report)
    else:
        leave_modules_to(owner, folder)


def require_builder() -> None:
    """Raise unless all that building a table needs is here."""
    missing = [name for module, name in _NEEDED.items() if importlib.util.find_spec(module) is None]
    if missing:
        raise ImportError(
            f"building a table of ops needs {', '.join(missing)}, which {sys.executable} does not have. "
            "Install what it takes with: pip install 'gradsmith[build]'"
        )
    require_tools()


def _verify_name(name: str, output: Path) -> None:
    if not all(part.isidentifier() and not keyword.iskeyword(part) for part in name.split(".")):
        raise ValueError(f"'{name}' is no name for a package: parts joined by dots, each a Python name")
    if name.partition(".")[0] == "gradsmith":
        raise ValueError(f"package '{name}' would be inside gradsmith; choose a name of your own")
    hidden = _expect_hidden(name, output)
    if hidden is not None:
        raise ValueError(f"package '{name}' would hide {hidden}, or be hidden by it; choose another name")


def _expect_hidden(name: str, output: Path) -> str | None:
    """The module that the package would hide: every process started in its folder would import the package instead."""
    top, _, rest = name.partition(".")
    if top in sys.stdlib_module_names or top in ("__main__", "numpy"):
        return f"Python's own module '{top}'" if top != "numpy" else "NumPy"
    if rest:  # a part of a package of the author's, wherever that is installed
        return None
    spec = importlib.util.find_spec(top)
    places = [Path(place) for place in (spec.submodule_search_locations or [spec.origin or ""])] if spec else []
    others = [place for place in places if place.resolve() != Path(output, top).resolve()]
    return f"the module at {others[0]}" if others and not Path(others[0], "op_table.py").exists() else None


# ---- compiling


def _compile(package: Package, name: str, folder: Path, report: Callable[[str], Any]) -> None:
    """Let another process do it: its work changes the current folder and the environment."""
    library = str(Path(gradsmith.__file__).parent.parent)
    path = os.pathsep.join(filter(None, [library, os.environ.get("PYTHONPATH", "")]))
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "gradsmith.compiling", "--package", name],
            cwd=folder, env={**os.environ, "PYTHONPATH": path}, text=True, stdout=subprocess.PIPE, stderr=errors,
        )  # fmt: skip
        assert process.stdout is not None
        with process.stdout as steps:
            for line in steps:
                report(line.rstrip())
        if process.wait():
            errors.seek(0)
            raise BuildError(explained(errors.read(), package, folder))


# my_ops/waves.pyx:61:20: message, as Cython writes, or with "error: " before the message, as C compilers do
_COMPLAINT = re.compile(r"(?m)^(\S+\.(?:pyx|pxd|c|h)):(\d+):(?:\d+:)? *(?:fatal error:|error:)? *(.*)$")
_REMARKS = ("note:", "warning:", "required from")


def explained(output: str, package: Package, folder: Path) -> str:
    """Compiler errors, as messages about the entries whose generated text caused them."""
    messages = dict.fromkeys(_explanations(output, package, folder))
    return "\n".join(messages) or output.strip()


def _explanations(output: str, package: Package, folder: Path) -> Iterator[str]:
    ops = {op.signature.full_name: op for op in package.table.ops}
    for file, number, message in _COMPLAINT.findall(output):
        lines = _lines(folder / file)[: int(number)]
        key = _entry_key(lines, package.table.file_name)
        if key not in ops or message.startswith(_REMARKS):
            continue
        generated = f"    {file}:{number}: {lines[-1].strip()}"
        yield f"{package.table.file}:{ops[key].line}: {ops[key].base}: {message}\n{generated}"


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def _entry_key(lines: list[str], file: str) -> str:
    """The entry that generated text is made from: that of the last mark before it."""
    mark = re.compile(rf"(?:^# ---- |^/\* {re.escape(file)}: )([\w.]+)")  # in Cython and in C
    found = (match for line in reversed(lines) if (match := mark.search(line)))
    last = next(found, None)
    return last.group(1) if last else ""
