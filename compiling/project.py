"""The extensions of gradsmith itself, and where they are built: beside the sources, or where setuptools wants them.

How it is built is in `extensions`, which also builds external tables.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from .extensions import Build, Extension, Layout, only_build, say
from .toolchain import BuildError

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "gradsmith"
COMPILED_FOLDERS = ("runtime", "generated")
TESTS = "tests/compiled"  # modules that show kernels to the tests
LINKED_FOLDERS = ("runtime", "generated", "codegen", "compiling")
ARRAYS = Path("gradsmith/runtime/arrays/array.pyx")  # the door to the kernels
LAYOUT = Layout(
    headers=("gradsmith", "gradsmith/runtime/arrays/kernels", "gradsmith/generated", TESTS),
    packages=(".",),
    watched=(*((folder, f"{PACKAGE}/{folder}") for folder in LINKED_FOLDERS), (".", ".")),
)


# ---- what there is to build


def discover() -> list[Extension]:
    """Every extension module of the source tree, in a stable order."""
    return [
        *map(_extension, _sources_below(*COMPILED_FOLDERS)),
        *map(_test_extension, sorted(Path(TESTS).glob("*.pyx"))),
    ]


def _sources_below(*folders: str) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(Path(PACKAGE, folder).rglob("*.pyx"))


def _extension(source: Path) -> Extension:
    name = ".".join(source.with_suffix("").parts)
    return Extension(name, source.as_posix(), tuple(_kernels_of(source)))


def _test_extension(source: Path) -> Extension:
    return Extension(source.stem, source.as_posix(), tuple(_kernels_of(source)), is_for_tests=True)


def _kernels_of(source: Path) -> Iterator[str]:
    """C files linked into an extension: those of a folder ``kernels`` have one door, each family its own file."""
    if source == ARRAYS:
        for kernel in sorted((source.parent / "kernels").rglob("*.c")):
            yield kernel.as_posix()
    own = source.with_name(source.stem + "_kernels.c")
    if own.exists():
        yield own.as_posix()


def link_packages() -> None:
    """Make ``gradsmith/runtime`` and its siblings lead to the top-level folders.

    A checkout has them as symbolic links.  An sdist leaves them out, and git on
    Windows writes a text file instead of a link: both are mended here.
    """
    for folder in LINKED_FOLDERS:
        link = Path(PACKAGE, folder)
        if link.is_dir() or not os.path.isdir(folder):
            continue
        link.unlink(missing_ok=True)
        if sys.platform == "win32":
            import _winapi  # a junction needs no privilege, a symbolic link does

            _winapi.CreateJunction(os.path.abspath(folder), str(link))
        else:
            link.symlink_to(Path("..") / folder, target_is_directory=True)


# ---- the build


def beside_source(extension: Extension) -> Path:
    """Path of an extension in a development tree."""
    return Path(extension.source.removesuffix(".pyx") + sysconfig.get_config_var("EXT_SUFFIX"))


def build(
    names: Iterable[str] = (),
    *,
    debug: bool = False,
    sanitize: bool = False,
    jobs: int = 0,
    place: Callable[[Extension], Path] = beside_source,
    report: Callable[[str], None] = say,
) -> None:
    """Bring all extensions of the project in the current folder up to date, or only those named."""
    link_packages()
    extensions = _select(discover(), list(names))
    with only_build():
        Build(LAYOUT, debug=debug, sanitize=sanitize, jobs=jobs, report=report).run(extensions, place)
    _remove_orphans()


def _remove_orphans() -> None:
    """Remove extension modules whose source is gone: they would go on being imported."""
    wanted = set(map(beside_source, discover()))
    for folder in COMPILED_FOLDERS:
        found = Path(PACKAGE, folder).rglob("*" + sysconfig.get_config_var("EXT_SUFFIX"))
        for path in set(found) - wanted:
            path.unlink()


def _select(extensions: list[Extension], names: list[str]) -> list[Extension]:
    if not names:
        return extensions
    by_name = {extension.name: extension for extension in extensions}
    chosen = []
    for name in names:
        full = name if name in by_name else f"{PACKAGE}.{name}"
        if full not in by_name:
            raise BuildError(f"no extension '{full}'; there are: {', '.join(sorted(by_name))}")
        chosen.append(by_name[full])
    return chosen
