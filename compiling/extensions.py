"""Extension modules out of their sources: only what changed, on all cores.

An extension is made in three steps, and each step is skipped when nothing that
it reads has changed since its output was made::

    runtime/graph/node.pyx --cython--> build/cython/.../node.c --cc--> node.o --link--> node.so

"Changed" goes by content, never by time, so a checkout of another branch and
back costs nothing.  What was read is remembered in ``build/state.json``.  All
paths lead from the current folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .changes import Sources, State, digest_of
from .cython_text import MENDED, mended
from .cython_workers import CythonWorkers
from .toolchain import KERNEL, RUNTIME, WRAPPER, BuildError, Toolchain, version_of

# Stated here once for every module; no .pyx sets its own.
DIRECTIVES = {
    "language_level": "3",
    "binding": "False",
    "boundscheck": "False",
    "wraparound": "False",
    "cdivision": "True",
    "initializedcheck": "False",
    "embedsignature": "True",
    "embedsignature.format": "clinic",  # what `inspect.signature` reads, and `__doc__` leaves out
    "auto_pickle": "False",
    "emit_code_comments": "False",  # so that a comment's change does not reach the C compiler
}

# Modules of the runtime that call kernels and other ops, as wrappers do. Most recorded ops pass through the others.
COMPOSING = re.compile(r"gradsmith\.runtime\.(formulas|arrays\.functions\.\w+)\.")


class Extension(NamedTuple):
    """One extension module: its Cython source and the C files linked into it."""

    name: str  # gradsmith.runtime.graph.node
    source: str  # gradsmith/runtime/graph/node.pyx
    kernels: tuple[str, ...]  # C files, compiled apart with full optimisation
    is_for_tests: bool = False  # shows kernels to the tests; no part of what is installed

    @property
    def c_source(self) -> str:
        return f"build/cython/{self.source.removesuffix('.pyx')}.c"

    def kind_of(self, c_file: str) -> str:
        """Compiler options for one of the module's C files."""
        if c_file in self.kernels:
            return KERNEL
        return RUNTIME if self.name.startswith("gradsmith.runtime.") and not COMPOSING.match(self.name) else WRAPPER


class Layout(NamedTuple):
    """Include folders of a build."""

    headers: tuple[str, ...]  # folders of C headers
    packages: tuple[str, ...]  # folders that hold the packages which sources cimport from
    # Files in these folders may change from build to build; each folder with the path to call it by.
    # Files elsewhere belong to Cython or NumPy, whose versions are known.
    watched: tuple[tuple[str, str], ...]
    cython_options: tuple[str, ...] = ()

    def expect_name(self, path: Path) -> str | None:
        """The path by which a build calls a file, whichever way through links it was reached; None if not watched.

        A virtual environment in a watched folder is not watched: other trees build with the same one.
        """
        found = path.resolve()
        installed = Path(sysconfig.get_path("purelib")).resolve()
        for folder, name in self.watched:
            root = Path(folder).resolve()
            if found.is_relative_to(root) and not (installed.is_relative_to(root) and found.is_relative_to(installed)):
                return Path(name, found.relative_to(root)).as_posix()
        return None


class Build:
    """One run: brings the asked extensions up to date and puts them where they are wanted."""

    def __init__(
        self,
        layout: Layout,
        *,
        debug: bool = False,
        sanitize: bool = False,
        jobs: int = 0,
        report: Callable[[str], None],
    ) -> None:
        self.layout = layout
        self.jobs = jobs or os.cpu_count() or 1
        self.report = report
        self.toolchain = Toolchain(layout.headers, debug, sanitize)
        kind = "sanitized" if sanitize else "debug" if debug else "release"
        self.folder = f"build/{sys.implementation.cache_tag}-{kind}"
        self.sources = Sources()
        self.state = State()
        self.cython = CythonWorkers()

    def run(self, extensions: list[Extension], place: Callable[[Extension], Path]) -> None:
        """Build and copy each extension to the path that ``place`` names."""
        from concurrent.futures import ThreadPoolExecutor

        try:
            self.toolchain.probe(self.state)
            self.toolchain.start()
            with self.cython, ThreadPoolExecutor(self.jobs) as pool:
                try:
                    self._finish(self._submit(pool, extensions), place)
                finally:  # when interrupted, what has not begun yet is left undone
                    pool.shutdown(wait=False, cancel_futures=True)
        finally:
            self.state.save()

    def _submit(self, pool: Any, extensions: list[Extension]) -> dict[Extension, list[Any]]:
        """One task per C file. The long ones come first, so that no core is left with one at the end."""
        work: dict[Extension, list[Any]] = {extension: [] for extension in sorted(extensions, key=_size, reverse=True)}
        for extension, tasks in work.items():
            tasks += [pool.submit(self._object, kernel, extension) for kernel in extension.kernels]
        for extension, tasks in work.items():
            tasks.append(pool.submit(self._cython_object, extension))
        return work

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
        inputs = self._with_whole_modules(source, self.state.inputs(output) or [_beside(source, ".pxd")])
        if self.state.is_current(output, self._cython_key(source, inputs)):
            return
        self.report(f"cython  {source}")
        self.state.discard(output)
        Path(output).parent.mkdir(parents=True, exist_ok=True)
        options = [word for item in DIRECTIVES.items() for word in ("-X", "=".join(item))]
        options += [word for folder in self.layout.packages for word in ("-I", folder)]
        self.cython.run([
            *options, *self.layout.cython_options, "--depfile",
            "--module-name", extension.name, "-o", output, source,
        ])  # fmt: skip
        written = Path(output)
        written.write_text(mended(written.read_text("utf-8")), "utf-8")
        inputs = self._read_depfile(extension)
        self.sources.forget(output)
        self.state.record(output, self._cython_key(source, inputs), inputs)

    def _cython_key(self, source: str, inputs: list[str]) -> str:
        options = "".join([repr(sorted(DIRECTIVES.items())), *self.layout.cython_options, MENDED])
        versions = (version_of("cython"), version_of("numpy"))  # both bring .pxd files
        return digest_of(*versions, options, self.sources.cython_digest(source, inputs))

    def _read_depfile(self, extension: Extension) -> list[str]:
        """The project's files that Cython read, from the makefile rule that it writes."""
        depfile = Path(f"{extension.c_source}.dep")
        words = re.findall(r"(?:\\.|[^\s\\])+", depfile.read_text().partition(": ")[2])
        paths = (Path(re.sub(r"\\(.)", r"\1", word)) for word in words)
        read = {name for name in map(self.layout.expect_name, paths) if name}
        return self._with_whole_modules(extension.source, [*read, _beside(extension.source, ".pxd")])

    def _with_whole_modules(self, source: str, inputs: list[str]) -> list[str]:
        modules = self.sources.whole_modules([source, *inputs], self.layout.packages)
        return sorted({*inputs, *modules} - {source})

    def _object(self, source: str, extension: Extension) -> str:
        """Compile one C file and return its object file."""
        kind = extension.kind_of(source)
        folder = f"{self.folder}/{extension.name}"
        output = f"{folder}/{source.removesuffix('.c')}{'.obj' if os.name == 'nt' else '.o'}"
        inputs = [source, *self.sources.headers(source, self.layout.headers)]
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
        """Replace the file by a copy; processes that have the old file mapped keep it."""
        key = self.state.key(built) + built
        if self.state.is_current(str(target), key):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        new = target.with_name(target.name + ".new")
        shutil.copyfile(built, new)
        new.replace(target)
        self.state.record(str(target), key)


def _size(extension: Extension) -> int:
    return os.path.getsize(extension.source)


def _beside(source: str, suffix: str) -> str:
    return source.removesuffix(".pyx") + suffix


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


def say(text: str) -> None:
    """Print a line, in one piece with others that parallel steps print."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
