"""Compile gradsmith's extension modules: only what changed, on all cores.

    python build_extensions.py                    everything, beside the sources
    python build_extensions.py runtime.node       one extension module
    python build_extensions.py --debug            with the internal checks compiled in

This file knows what there is to build; how is in ``compiling``, which also builds
tables outside the tree.  ``setup.py`` drives the same code for wheels and editable installs.  The C
compiler is reached through setuptools, which knows every platform's; it is
imported only when there is something to compile.

Environment: ``CC`` and ``CFLAGS`` as usual; ``GRADSMITH_NO_LIBMVEC=1`` and
``GRADSMITH_NO_CLONES=1`` turn off the vector library and the per-CPU clones of
kernels, which are otherwise used where a trial compilation finds them.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from compiling.extensions import Build, Extension, Layout, only_build, say
from compiling.toolchain import BuildError, require_tools

PACKAGE = "gradsmith"
LINKED_FOLDERS = ("runtime", "generated", "codegen", "compiling")
LAYOUT = Layout(
    headers=("gradsmith", "gradsmith/runtime/kernels", "gradsmith/generated"),
    packages=(".",),
    watched=(*((folder, f"{PACKAGE}/{folder}") for folder in LINKED_FOLDERS), (".", ".")),
)


# ---- what there is to build


def discover() -> list[Extension]:
    """Every extension module of the source tree, in a stable order."""
    sources = []
    for pattern in ("runtime/*.pyx", "runtime/functions/*.pyx", "generated/*.pyx"):
        sources += sorted(Path(PACKAGE).glob(pattern))
    return [_extension(source) for source in sources]


def _extension(source: Path) -> Extension:
    name = ".".join(source.with_suffix("").parts)
    return Extension(name, source.as_posix(), tuple(_kernels_of(name, source)))


def _kernels_of(name: str, source: Path) -> Iterator[str]:
    """C files linked into an extension: runtime/kernels has one door, each family its own file."""
    if name == f"{PACKAGE}.runtime.array":
        for kernel in sorted((source.parent / "kernels").glob("*.c")):
            yield kernel.as_posix()
    fused = source.with_name(source.stem + "_kernels.c")
    if fused.exists():
        yield fused.as_posix()


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
    """Where an extension goes in a development tree."""
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
    for folder in ("runtime", "runtime/functions", "generated"):
        found = Path(PACKAGE, folder).glob("*" + sysconfig.get_config_var("EXT_SUFFIX"))
        for path in set(found) - wanted:
            path.unlink()


def _select(extensions: list[Extension], names: list[str]) -> list[Extension]:
    if not names:
        return extensions
    by_name = {extension.name: extension for extension in extensions}
    chosen = []
    for name in names:
        full = name if name.startswith(PACKAGE + ".") else f"{PACKAGE}.{name}"
        if full not in by_name:
            raise BuildError(f"no extension '{full}'; there are: {', '.join(sorted(by_name))}")
        chosen.append(by_name[full])
    return chosen


def main() -> int:
    import argparse

    parser = argparse.ArgumentParser(description="Compile gradsmith's extension modules in place.")
    parser.add_argument("names", nargs="*", help="extensions, as runtime.node (default: all)")
    parser.add_argument("--debug", action="store_true", help="compile the internal checks in")
    parser.add_argument("-j", "--jobs", type=int, default=0, help="parallel jobs (default: all cores)")
    parser.add_argument("--check-tools", action="store_true", help="only see whether there is a C compiler")
    options = parser.parse_args()
    os.chdir(Path(__file__).resolve().parent)
    try:
        require_tools()
        if options.check_tools:
            return 0
        build(options.names, debug=options.debug, jobs=options.jobs)
    except BuildError as error:
        print(f"build failed:\n{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
