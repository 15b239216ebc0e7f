"""Compile gradsmith's extension modules: only what changed, on all cores.

    python build_extensions.py                    everything, beside the sources
    python build_extensions.py runtime.node       one extension module
    python build_extensions.py --debug            with the internal checks compiled in

An extension is made in three steps, and each step is skipped when nothing that
it reads has changed since its output was made::

    runtime/node.pyx --cython--> build/cython/.../node.c --cc--> node.o --link--> node.so

"Changed" goes by content, never by time, so a checkout of another branch and
back costs nothing.  What was read is remembered in ``build/state.json``.

``setup.py`` drives the same code for wheels and editable installs.  The C
compiler is reached through setuptools, which knows every platform's; it is
imported only when there is something to compile.

Environment: ``CC`` and ``CFLAGS`` as usual; ``GRADSMITH_NO_LIBMVEC=1`` and
``GRADSMITH_NO_CLONES=1`` turn off the vector library and the per-CPU clones of
kernels, which are otherwise used where a trial compilation finds them.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from build_changes import Sources, State, digest_of
from build_toolchain import KERNEL, RUNTIME, WRAPPER, BuildError, Toolchain, require_tools, run, version_of

PACKAGE = "gradsmith"
LINKED_FOLDERS = ("runtime", "generated", "codegen")

# Stated here once for every module; no .pyx sets its own.
DIRECTIVES = {
    "language_level": "3",
    "binding": "False",
    "boundscheck": "False",
    "wraparound": "False",
    "cdivision": "True",
    "initializedcheck": "False",
    "embedsignature": "True",
    "auto_pickle": "False",
    "emit_code_comments": "False",  # so that a comment's change does not reach the C compiler
}


# ---- what there is to build


class Extension(NamedTuple):
    """One extension module: its Cython source and the C files linked into it."""

    name: str  # gradsmith.runtime.node
    source: str  # gradsmith/runtime/node.pyx
    kernels: tuple[str, ...]  # C files, compiled apart with full optimisation

    @property
    def c_source(self) -> str:
        return f"build/cython/{self.source.removesuffix('.pyx')}.c"

    def kind_of(self, c_file: str) -> str:
        """What the compiler has to know of one of the module's C files."""
        if c_file in self.kernels:
            return KERNEL
        return WRAPPER if self.name.startswith(f"{PACKAGE}.generated.") else RUNTIME

    @property
    def is_for_tests(self) -> bool:
        """Shows kernels to the tests; no part of what is installed."""
        return self.name.endswith("_testing")


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


class Build:
    """One run: brings the asked extensions up to date and puts them where they are wanted."""

    def __init__(self, *, debug: bool = False, jobs: int = 0, report: Callable[[str], None]) -> None:
        self.jobs = jobs or os.cpu_count() or 1
        self.report = report
        self.toolchain = Toolchain(debug)
        kind = "debug" if debug else "release"
        self.folder = f"build/{sys.implementation.cache_tag}-{kind}"
        self.sources = Sources()
        self.state = State()

    def run(self, extensions: list[Extension], place: Callable[[Extension], Path]) -> None:
        """Build and copy each extension to the path that ``place`` names."""
        from concurrent.futures import ThreadPoolExecutor

        try:
            self.toolchain.probe(self.state)
            with ThreadPoolExecutor(self.jobs) as pool:
                work = {extension: self._submit(pool, extension) for extension in extensions}
                self._finish(work, place)
        finally:
            self.state.save()

    def _submit(self, pool: Any, extension: Extension) -> list[Any]:
        """One task per C file: kernels first, since they take the longest."""
        tasks = [pool.submit(self._object, kernel, extension) for kernel in extension.kernels]
        return [*tasks, pool.submit(self._cython_object, extension)]

    def _finish(self, work: dict[Extension, list[Any]], place: Callable[[Extension], Path]) -> None:
        """Link each extension as soon as its objects are there; report all failures together."""
        failures = []
        for extension, tasks in work.items():
            try:
                objects = [task.result() for task in tasks]
                self._install(self._link(extension, objects), place(extension))
            except BuildError as error:
                failures.append(str(error))
        if failures:
            raise BuildError("\n\n".join(failures))

    def _cython_object(self, extension: Extension) -> str:
        self._cythonize(extension)
        return self._object(extension.c_source, extension)

    def _cythonize(self, extension: Extension) -> None:
        source, output = extension.source, extension.c_source
        # Not yet there counts too: a .pxd written beside the .pyx changes its meaning.
        inputs = self.state.inputs(output) or [_beside(source, ".pxd")]
        if self.state.is_current(output, self._cython_key(source, inputs)):
            return
        self.report(f"cython  {source}")
        self.state.discard(output)
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        options = [word for item in DIRECTIVES.items() for word in ("-X", "=".join(item))]
        run([
            sys.executable, "-m", "cython", *options, "--depfile", "--module-name", extension.name,
            "-I", ".", "-o", output, source,
        ])  # fmt: skip
        inputs = self._read_depfile(extension)
        self.sources.forget(output)
        self.state.record(output, self._cython_key(source, inputs), inputs)

    def _cython_key(self, source: str, inputs: list[str]) -> str:
        options = repr(sorted(DIRECTIVES.items()))
        versions = (version_of("cython"), version_of("numpy"))  # both bring .pxd files
        return digest_of(*versions, options, self.sources.cython_digest(source, inputs))

    def _read_depfile(self, extension: Extension) -> list[str]:
        """The project's files that Cython read, from the makefile rule that it writes."""
        depfile = Path(f"{extension.c_source}.dep")
        words = re.findall(r"(?:\\.|[^\s\\])+", depfile.read_text().partition(": ")[2])
        paths = (Path(re.sub(r"\\(.)", r"\1", word)) for word in words)
        read = {_beside(extension.source, ".pxd")}
        for path in paths:
            with contextlib.suppress(ValueError):  # Cython's or NumPy's own: their versions are in the key
                read.add(_inside_package(path))
        return sorted(read - {extension.source})

    def _object(self, source: str, extension: Extension) -> str:
        """Compile one C file and return its object file."""
        kind = extension.kind_of(source)
        folder = f"{self.folder}/{extension.name}"
        output = f"{folder}/{source.removesuffix('.c')}{'.obj' if os.name == 'nt' else '.o'}"
        inputs = [source, *self.sources.headers(source, Toolchain.INCLUDE_FOLDERS)]
        flags = repr((self.toolchain.flags(kind), self.toolchain.macros()))
        key = digest_of(self.toolchain.identity, flags, self.sources.digest(inputs))
        if not self.state.is_current(output, key):
            self.report(f"cc      {source}")
            self.state.discard(output)
            self.toolchain.compile(source, kind, folder)
            self.state.record(output, key, inputs)
        return output

    def _link(self, extension: Extension, objects: list[str]) -> str:
        output = f"{self.folder}/{extension.name}{sysconfig.get_config_var('EXT_SUFFIX')}"
        key = digest_of(*map(self.state.key, objects))
        if not self.state.is_current(output, key):
            self.report(f"link    {extension.name}")
            self.state.discard(output)
            self.toolchain.link(objects, extension.name.rpartition(".")[2], output)
            self.state.record(output, key, objects)
        return output

    def _install(self, built: str, target: Path) -> None:
        """Put a copy in place; whoever has the old file mapped keeps the old file."""
        key = self.state.key(built) + built
        if self.state.is_current(str(target), key):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        new = target.with_name(target.name + ".new")
        shutil.copyfile(built, new)
        new.replace(target)
        self.state.record(str(target), key)


def _beside(source: str, suffix: str) -> str:
    return source.removesuffix(".pyx") + suffix


def _inside_package(path: Path) -> str:
    """A path as ``gradsmith/...``, whichever way through the links it was reached."""
    relative = path.resolve().relative_to(Path.cwd().resolve())
    if relative.parts[0] in LINKED_FOLDERS:
        relative = Path(PACKAGE, relative)
    return relative.as_posix()


def beside_source(extension: Extension) -> Path:
    """Where an extension goes in a development tree."""
    return Path(_beside(extension.source, sysconfig.get_config_var("EXT_SUFFIX")))


@contextlib.contextmanager
def only_build() -> Iterator[None]:
    """Two builds of one tree wait for each other."""
    path = Path("build/lock")
    path.parent.mkdir(exist_ok=True)
    with open(path, "w") as lock:
        with contextlib.suppress(ImportError):  # Windows: builds of one tree are the user's to order
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")  # one write: lines of parallel steps do not mix
    sys.stdout.flush()


def build(
    names: Iterable[str] = (),
    *,
    debug: bool = False,
    jobs: int = 0,
    place: Callable[[Extension], Path] = beside_source,
    report: Callable[[str], None] = _say,
) -> None:
    """Bring all extensions of the project in the current folder up to date, or only those named."""
    link_packages()
    extensions = _select(discover(), list(names))
    with only_build():
        Build(debug=debug, jobs=jobs, report=report).run(extensions, place)
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
