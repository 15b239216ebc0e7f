"""``gradsmith.load_ops``: the ops of an external table, built when they are first needed."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import re
import sys
import sysconfig
import tempfile
import threading
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from . import sharing
from .pickling import Source, picklable

if TYPE_CHECKING:
    from gradsmith.codegen.extension import Package

_loading = threading.RLock()


def load_ops(
    table: str | os.PathLike[str],
    *,
    functions: str | os.PathLike[str] | None = None,
    methods: bool = False,
    verbose: bool = False,
) -> ModuleType:
    """Import the ops of a table of one's own.

    The table is written in the language of ``derivatives.yaml``; its formulas may call every op of gradsmith and every
    op of the table itself. The first time it is generated and compiled, which takes some seconds, a C compiler, and
    ``pip install 'gradsmith[build]'``. The result is kept in a folder of the user, and serves as long as the table,
    gradsmith, Python and the compiler remain the same.

    A table alone can only compute: its texts may use listed functions of NumPy and SciPy and listed attributes, which
    touch no files. The Python file `functions` is imported like any module, and has to be trusted like one.

    Parameters
    ----------
    table : path
        The YAML file.
    functions : path, optional
        Python file whose functions ``array(...)`` may call. They take and return NumPy arrays.
    methods : bool, default False
        Make the ops methods of Tensor too, those that have ``method`` or ``inplace`` among their variants.
    verbose : bool, default False
        Print the steps of building.

    Returns
    -------
    module
        A package with the ops as functions.

    Raises
    ------
    SpecErrors
        With every error of the table, from ``gradsmith.codegen.spec.errors``.
    BuildError
        If the table cannot be compiled, from ``gradsmith.compiling.toolchain``.
    AttributeError
        If a method has the name of an attribute that Tensor has already.
    ImportError
        If Cython or another part of the extra ``build`` is missing.

    Examples
    --------
    >>> my_ops = gs.load_ops("my_ops.yaml")  # doctest: +SKIP
    >>> my_ops.squareplus(gs.randn(3, requires_grad=True)).sum().backward()  # doctest: +SKIP
    """
    from . import cache

    path = Path(table)
    source = Source.read(path, functions, methods)
    owner = str(path.resolve()) if methods else ""
    texts: list[str | bytes] = [*source.table, owner]
    texts += [source.functions[1]] if source.functions is not None else []
    name = f"{_module_name(path)}_{cache.key_of(*texts)}"
    with _loading:
        if name in sys.modules:
            return sys.modules[name]
        folder = cache.cache_folder() / name
        if not _is_complete(folder):
            _build(table, name, folder, functions, owner, verbose)
        return picklable(_import(name, folder), source)


def load_again(name: str, source: Source) -> ModuleType:
    """The package `name` for another process: the one that is kept, or one built from the texts it was made from."""
    from . import cache

    with _loading:
        if name in sys.modules:
            return sys.modules[name]
        folder = cache.cache_folder() / name
        if _is_complete(folder):
            return picklable(_import(name, folder), source)
    with tempfile.TemporaryDirectory(prefix="gradsmith-table-") as place:
        table, functions = source.written(Path(place))
        return load_ops(table, functions=functions, methods=source.methods)


def _module_name(path: Path) -> str:
    name = re.sub(r"\W", "_", path.stem, flags=re.ASCII)
    return name if name.isidentifier() else f"table_{name}"


def _is_complete(folder: Path) -> bool:
    """Is all of a package there? A tool that tidies caches may have removed a part of it."""
    suffix = str(sysconfig.get_config_var("EXT_SUFFIX"))
    owner = sharing.owner_folder(folder)
    needed = [place / f"{module}.py" for place in (folder, owner) for module in ("__init__", *sharing.DATA)]
    needed += [source.with_name(source.stem + suffix) for source in owner.glob("*.pyx")]
    return all(path.is_file() for path in needed)


def _move_away(folder: Path, aside: Path) -> None:
    if folder.exists():
        os.rename(folder, aside / "incomplete")


def _build(
    table: str | os.PathLike[str],
    name: str,
    folder: Path,
    functions: str | os.PathLike[str] | None,
    owner: str,
    verbose: bool,
) -> None:
    """Build in a temporary folder, then move the complete result into place in one step."""
    from .packages import build_package

    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="building-", dir=folder.parent) as aside:
        report = print if verbose else lambda step: None
        build_package(
            table, name, Path(aside), functions=functions, methods_of=owner, report=report,
            expect_owner=functools.partial(_expect_owner, name, Path(aside, name), folder.parent),
        )  # fmt: skip
        with contextlib.suppress(OSError):  # another process was faster, with the same result
            if not _is_complete(folder):
                _move_away(folder, Path(aside))
            os.rename(Path(aside, name), folder)
    if not folder.is_dir():
        raise OSError(f"cannot keep the package of {os.fspath(table)} as {folder}")


def _expect_owner(name: str, folder: Path, kept: Path, package: Package) -> str | None:
    """The kept package that has the modules of this one; without any, leaves word that this one has them."""
    digest = sharing.digest_of_modules(package, name)
    owner = sharing.expect_owner(kept, digest, _is_complete)
    if owner is None:
        (folder / sharing.DIGEST).write_text(digest, encoding="utf-8")
    return owner


def _import(name: str, folder: Path) -> ModuleType:
    """The package from where it is; its folder is not on Python's path."""
    owner = sharing.owner_folder(folder)
    if owner != folder:
        sharing.give_modules(name, sys.modules.get(owner.name) or _import(owner.name, owner))
    places = [str(folder)]
    spec = importlib.util.spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=places)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        for found in [found for found in sys.modules if found == name or found.startswith(f"{name}.")]:
            del sys.modules[found]
        raise
    return module
