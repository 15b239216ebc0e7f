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
import functools
import hashlib
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent
PACKAGE = "gradsmith"
LINKED_FOLDERS = ("runtime", "generated", "codegen")
STATE_FILE = "build/state.json"

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

DEFINES = {
    "NPY_NO_DEPRECATED_API": "NPY_1_7_API_VERSION",
    "NPY_TARGET_VERSION": "NPY_2_0_API_VERSION",
}


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")  # one write: lines of parallel steps do not mix
    sys.stdout.flush()


# Errors from GCC 14 and Clang 16 on; older compilers only warn.
MODERN_ERRORS = [
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
    "-Werror=implicit-function-declaration",
]


class BuildError(Exception):
    """Something the user has to mend; the message is printed without a traceback."""


# ---- what there is to build


class Extension(NamedTuple):
    """One extension module: its Cython source and the C files linked into it."""

    name: str  # gradsmith.runtime.node
    source: str  # gradsmith/runtime/node.pyx
    kernels: tuple[str, ...]  # C files, compiled apart with full optimisation

    @property
    def c_source(self) -> str:
        return f"build/cython/{self.source.removesuffix('.pyx')}.c"

    @property
    def is_generated(self) -> bool:
        return self.name.startswith(f"{PACKAGE}.generated.")

    @property
    def is_for_tests(self) -> bool:
        """Shows kernels to the tests; no part of what is installed."""
        return self.name.endswith("_testing")


def discover() -> list[Extension]:
    """Every extension module of the source tree, in a stable order."""
    sources = []
    for pattern in ("runtime/*.pyx", "runtime/functions/*.pyx", "generated/*.pyx"):
        sources += sorted((ROOT / PACKAGE).glob(pattern))
    return [_extension(source.relative_to(ROOT)) for source in sources]


def _extension(source: Path) -> Extension:
    name = ".".join(source.with_suffix("").parts)
    return Extension(name, source.as_posix(), tuple(_kernels_of(name, source)))


def _kernels_of(name: str, source: Path) -> Iterator[str]:
    """C files linked into an extension: runtime/kernels has one door, each family its own file."""
    if name == f"{PACKAGE}.runtime.array":
        for kernel in sorted((ROOT / source.parent / "kernels").glob("*.c")):
            yield kernel.relative_to(ROOT).as_posix()
    fused = source.with_name(source.stem + "_kernels.c")
    if (ROOT / fused).exists():
        yield fused.as_posix()


def link_packages() -> None:
    """Make ``gradsmith/runtime`` and its siblings lead to the top-level folders.

    A checkout has them as symbolic links.  An sdist leaves them out, and git on
    Windows writes a text file instead of a link: both are mended here.
    """
    for folder in LINKED_FOLDERS:
        link = ROOT / PACKAGE / folder
        if link.is_dir() or not (ROOT / folder).is_dir():
            continue
        link.unlink(missing_ok=True)
        if os.name == "nt":
            import _winapi  # a junction needs no privilege, a symbolic link does

            _winapi.CreateJunction(str(ROOT / folder), str(link))
        else:
            link.symlink_to(Path("..") / folder, target_is_directory=True)


# ---- what a step read, and whether it has changed


# The generator notes each entry's line in a comment.  A line added to the YAML
# file moves all of them; that alone must not compile anything anew.
_ENTRY_LINE = re.compile(rb"(?m)derivatives\.yaml:\d+")
_INCLUDE = re.compile(rb'(?m)^[ \t]*#[ \t]*include[ \t]+"([^"]+)"')
_DECLARED_FUNCTION = re.compile(rb"(?m)^cp?def [^\n]*?(\w+)\([^\n]*[^:\s][ \t]*\n")
_WORD = re.compile(rb"\w+")


class Declarations(NamedTuple):
    """A .pxd file taken apart: its one-line functions by name, and all the rest."""

    functions: list[tuple[bytes, bytes]]
    rest: bytes
    words: frozenset[bytes]  # of the rest


class Sources:
    """Reads source files once per run and tells their digests."""

    def __init__(self) -> None:
        self._texts: dict[str, bytes] = {}
        self._declarations: dict[str, Declarations] = {}
        self._included: dict[str, list[str]] = {}

    def text(self, path: str) -> bytes:
        if path not in self._texts:
            try:
                text = (ROOT / path).read_bytes()
            except FileNotFoundError:
                text = b""
            self._texts[path] = _ENTRY_LINE.sub(b"derivatives.yaml", text)
        return self._texts[path]

    def forget(self, path: str) -> None:
        """The file has been written anew."""
        self._texts.pop(path, None)
        self._included.pop(path, None)

    def digest(self, paths: Iterable[str]) -> str:
        return _digest(*(self.text(path) for path in paths))

    def cython_digest(self, source: str, dependencies: list[str]) -> str:
        """Digest of a .pyx and the .pxd files that it cimports.

        The .pxd of a family grows with each op.  A function declared there in
        one line matters only to a module that mentions its name, so the others
        do not count: adding an op compiles its own family alone.
        """
        text = self.text(source)
        declared = [self._declarations_of(path) for path in dependencies]
        words = frozenset(_WORD.findall(text)).union(*(file.words for file in declared))
        used = (line for file in declared for name, line in file.functions if name in words)
        return _digest(text, *(file.rest for file in declared), *used)

    def _declarations_of(self, path: str) -> Declarations:
        if path not in self._declarations:
            text = self.text(path)
            rest = _DECLARED_FUNCTION.sub(b"", text)
            functions = [(match.group(1), match.group()) for match in _DECLARED_FUNCTION.finditer(text)]
            self._declarations[path] = Declarations(functions, rest, frozenset(_WORD.findall(rest)))
        return self._declarations[path]

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
            if (ROOT / path).is_file():
                return Path(path).as_posix()
        return None


class State:
    """For each output, the digest of all that went into it and the files it was read from."""

    def __init__(self) -> None:
        try:
            self._entries = json.loads((ROOT / STATE_FILE).read_text())
        except (FileNotFoundError, ValueError):
            self._entries = {}

    def is_current(self, output: str, key: str) -> bool:
        return self._entries.get(output, {}).get("key") == key and (ROOT / output).exists()

    def inputs(self, output: str) -> list[str]:
        return list(self._entries.get(output, {}).get("inputs", []))

    def note(self, output: str) -> Any:
        return self._entries.get(output, {}).get("note")

    def record(self, output: str, key: str, inputs: list[str] | None = None, note: Any = None) -> None:
        self._entries[output] = {"key": key, "inputs": inputs or [], "note": note}

    def discard(self, output: str) -> None:
        """The output is about to be made anew; should that fail, no earlier state of it may be believed."""
        self._entries.pop(output, None)
        (ROOT / output).unlink(missing_ok=True)

    def key(self, output: str) -> str:
        return str(self._entries[output]["key"])

    def save(self) -> None:
        path = ROOT / STATE_FILE
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(json.dumps(self._entries, indent=1, sort_keys=True))
        new.replace(path)


def _digest(*parts: bytes | str) -> str:
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(b"%d:" % len(data))  # so that two parts never read as one
        digest.update(data)
    return digest.hexdigest()[:24]


# ---- the C compiler


LIBMVEC_PROBE = """
#include <math.h>
__attribute__((simd("notinbranch"))) float expf(float);
__attribute__((simd("notinbranch"))) double exp(double);
__attribute__((simd("notinbranch"))) float tanhf(float);
__attribute__((simd("notinbranch"))) float erff(float);
static float x[64];
static double y[64];
int main(int argc, char **argv)
{
    for (int i = 0; i < 64; i++) { x[i] = argc * 0.1f * i; y[i] = argc * 0.1 * i; }
    for (int i = 0; i < 64; i++) x[i] = expf(x[i]) + tanhf(x[i]) + erff(x[i]);
    for (int i = 0; i < 64; i++) y[i] = exp(y[i]);
    (void)argv;
    return !(x[0] == 1.0f && y[0] == 1.0);
}
"""

CLONES_PROBE = """
static float x[64];
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
void twice(float *v, int n) { for (int i = 0; i < n; i++) v[i] *= 2.0f; }
int main(int argc, char **argv)
{
    x[1] = (float)argc; twice(x, 64); (void)argv;
    return x[1] != 2.0f;
}
"""


class Toolchain:
    """The platform's C compiler with gradsmith's flags."""

    INCLUDE_FOLDERS = (PACKAGE, f"{PACKAGE}/runtime/kernels", f"{PACKAGE}/generated")

    def __init__(self, debug: bool) -> None:
        self.debug = debug
        self.command = _compiler_command()
        self._compiler: Any = None
        self._starting = threading.Lock()
        self.features: dict[str, bool] = {}

    @property
    def program(self) -> str | None:
        return shutil.which(self.command.split()[0])

    @functools.cached_property
    def identity(self) -> str:
        """Changes when another compiler, Python, NumPy or set of flags is used."""
        program = self.program
        stamp = os.stat(program) if program else None
        size_and_time = f"{stamp.st_size} {stamp.st_mtime_ns}" if stamp else ""
        environment = [os.environ.get(name, "") for name in ("CFLAGS", "CPPFLAGS", "LDFLAGS")]
        return _digest(
            self.command, str(program), size_and_time, sys.version, _version_of("numpy"), *environment
        )  # fmt: skip

    def probe(self, state: State) -> None:
        """Find out by trial which optional features the compiler and the C library have."""
        for feature, program, libraries in (
            ("LIBMVEC", LIBMVEC_PROBE, ("mvec", "m")),
            ("CLONES", CLONES_PROBE, ()),
        ):
            if os.environ.get(f"GRADSMITH_NO_{feature}", "0") not in ("", "0"):
                self.features[feature] = False
                continue
            output = f"probe:{feature}"
            key = _digest(self.identity, program)
            if state.note(output) is None or state.key(output) != key:
                state.record(output, key, note=self._try(feature.lower(), program, libraries))
            self.features[feature] = bool(state.note(output))

    def _try(self, name: str, program: str, libraries: tuple[str, ...]) -> bool:
        """Whether a small program compiles, links and runs."""
        source = f"build/probe/{name}.c"
        (ROOT / source).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / source).write_text(program)
        compiler = self.compiler
        flags = [] if self.is_msvc else ["-O3", "-fno-math-errno", "-Werror"]
        try:
            objects = compiler.compile([source], extra_postargs=flags)
            target = source.removesuffix(".c")
            compiler.link_executable(objects, target, libraries=list(libraries))
            executable = compiler.executable_filename(target)
            return subprocess.run([executable], capture_output=True, timeout=20).returncode == 0
        except Exception:  # whatever goes wrong, the answer is "not usable here"
            return False

    @property
    def is_msvc(self) -> bool:
        return os.name == "nt" and "MSC" in sys.version

    @property
    def compiler(self) -> Any:
        with self._starting:
            if self._compiler is None:
                self._compiler = self._start()
        return self._compiler

    def _start(self) -> Any:
        require_tools()
        importlib.import_module("setuptools")  # provides distutils where Python has none
        from distutils.ccompiler import new_compiler
        from distutils.sysconfig import customize_compiler

        compiler = new_compiler()
        customize_compiler(compiler)
        if hasattr(compiler, "initialize"):
            compiler.initialize()  # MSVC sets up its environment here, not safely from two threads
        if os.name != "nt":  # where the compiler's programs need more than a path, setuptools runs them
            compiler.spawn = compiler.call = _run  # the older and the newer name
        return compiler

    def flags(self, source: str, extension: Extension) -> list[str]:
        """Optimisation flags of one C file: what runs per call is small, what runs per element is fast."""
        is_kernel = source in extension.kernels
        if self.is_msvc:
            return ["/O2"] if not self.debug else ["/Od", "/UNDEBUG"]
        if is_kernel:
            level = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-Wall", "-Wextra"]
        else:
            # A wrapper is as fast at -O1 as at -O3 and compiles in a third of the time.
            level = ["-O1" if extension.is_generated else "-O2", "-Wno-unused-function", "-Wno-array-bounds"]
        return [*level, *MODERN_ERRORS, *(["-g", "-UNDEBUG"] if self.debug else ["-g0"])]

    def macros(self) -> list[tuple[str, str]]:
        switches = {f"GRADSMITH_NO_{name}": "1" for name, usable in self.features.items() if not usable}
        if self.debug:
            switches["GRADSMITH_DEBUG"] = "1"
        return sorted({**DEFINES, **switches}.items())

    def libraries(self, extension: Extension) -> list[str]:
        if os.name == "nt" or not extension.kernels:
            return []
        return ["mvec", "m"] if self.features["LIBMVEC"] else ["m"]

    def compile(self, source: str, extension: Extension, folder: str) -> None:
        import numpy

        includes = [*self.INCLUDE_FOLDERS, numpy.get_include(), sysconfig.get_path("include")]
        compiler = self.compiler
        with _build_errors():
            compiler.compile(
                [source], output_dir=folder, macros=self.macros(), include_dirs=includes,
                extra_postargs=self.flags(source, extension),
            )  # fmt: skip

    def link(self, objects: list[str], extension: Extension, output: str) -> None:
        folders = []
        if os.name == "nt":
            folders = [os.path.join(sys.base_exec_prefix, "libs")]
        compiler = self.compiler
        with _build_errors():
            compiler.link_shared_object(
                objects, output, libraries=self.libraries(extension), library_dirs=folders,
                export_symbols=[f"PyInit_{extension.name.rpartition('.')[2]}"],
            )  # fmt: skip


@contextlib.contextmanager
def _build_errors() -> Iterator[None]:
    """What setuptools' compilers raise, as `BuildError`. Entered only once setuptools has been imported."""
    from distutils.errors import CCompilerError, DistutilsError

    try:
        yield
    except (CCompilerError, DistutilsError) as error:
        raise BuildError(str(error)) from None


def _compiler_command() -> str:
    """The C compiler that Python was built with, or ``CC``, or else any that is here."""
    wanted = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cl"
    if shutil.which(wanted.split()[0]) or "CC" in os.environ or os.name == "nt":
        return wanted
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            os.environ["CC"] = name  # setuptools takes it from there
            return name
    return wanted


def require_tools() -> None:
    """Raise unless the C compiler and Python's headers are here."""
    command = _compiler_command()
    if os.name != "nt" and not shutil.which(command.split()[0]):
        raise BuildError(
            f"no C compiler: '{command.split()[0]}' is not on the path. Install GCC or Clang "
            "(Debian: apt install build-essential; Fedora: dnf install gcc; macOS: xcode-select --install), or set CC."
        )
    require_headers()


def require_headers() -> None:
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.exists():
        raise BuildError(
            f"Python's C headers are missing ({header} is not there). "
            "Install them (Debian: apt install python3-dev; Fedora: dnf install python3-devel)."
        )


@functools.cache
def _version_of(distribution: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        raise BuildError(
            f"building needs {distribution}, which {sys.executable} does not have. "
            "Use `make`, or install the requirements that pyproject.toml lists under [build-system]."
        ) from None


def _run(command: Iterable[Any], **options: Any) -> None:
    """Run one compiler command; what it prints comes in one piece, and only when there is something."""
    words = list(map(str, command))
    environment = dict(options.get("env") or os.environ)
    if sys.platform == "darwin":  # build for what this Python was built for, not for this machine's system
        environment.setdefault("MACOSX_DEPLOYMENT_TARGET", str(sysconfig.get_config_var("MACOSX_DEPLOYMENT_TARGET")))
    done = subprocess.run(
        words, env=environment, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )  # fmt: skip
    if done.returncode:
        raise BuildError(f"{' '.join(words)}\n{done.stdout}")
    if done.stdout.strip():
        sys.stderr.write(done.stdout)


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
        (ROOT / output).parent.mkdir(parents=True, exist_ok=True)
        options = [word for item in DIRECTIVES.items() for word in ("-X", "=".join(item))]
        _run([
            sys.executable, "-m", "cython", *options, "--depfile", "--module-name", extension.name,
            "-I", ".", "-o", output, source,
        ])  # fmt: skip
        inputs = self._read_depfile(extension)
        self.sources.forget(output)
        self.state.record(output, self._cython_key(source, inputs), inputs)

    def _cython_key(self, source: str, inputs: list[str]) -> str:
        options = repr(sorted(DIRECTIVES.items()))
        versions = (_version_of("cython"), _version_of("numpy"))  # both bring .pxd files
        return _digest(*versions, options, self.sources.cython_digest(source, inputs))

    def _read_depfile(self, extension: Extension) -> list[str]:
        """The project's files that Cython read, from the makefile rule that it writes."""
        depfile = ROOT / f"{extension.c_source}.dep"
        words = re.findall(r"(?:\\.|[^\s\\])+", depfile.read_text().partition(": ")[2])
        paths = (Path(re.sub(r"\\(.)", r"\1", word)) for word in words)
        read = {_beside(extension.source, ".pxd")}
        for path in paths:
            with contextlib.suppress(ValueError):  # Cython's or NumPy's own: their versions are in the key
                read.add(_inside_package(path))
        return sorted(read - {extension.source})

    def _object(self, source: str, extension: Extension) -> str:
        """Compile one C file and return its object file."""
        self.sources.forget(source)
        folder = f"{self.folder}/{extension.name}"
        [output] = self._object_names(source, folder)
        inputs = [source, *self.sources.headers(source, Toolchain.INCLUDE_FOLDERS)]
        flags = repr((self.toolchain.flags(source, extension), self.toolchain.macros()))
        key = _digest(self.toolchain.identity, flags, self.sources.digest(inputs))
        if not self.state.is_current(output, key):
            self.report(f"cc      {source}")
            self.state.discard(output)
            self.toolchain.compile(source, extension, folder)
            self.state.record(output, key, inputs)
        return output

    @staticmethod
    def _object_names(source: str, folder: str) -> list[str]:
        suffix = ".obj" if os.name == "nt" else ".o"
        return [f"{folder}/{source.removesuffix('.c')}{suffix}"]

    def _link(self, extension: Extension, objects: list[str]) -> str:
        output = f"{self.folder}/{extension.name}{sysconfig.get_config_var('EXT_SUFFIX')}"
        key = _digest(*map(self.state.key, objects))
        if not self.state.is_current(output, key):
            self.report(f"link    {extension.name}")
            self.state.discard(output)
            self.toolchain.link(objects, extension, output)
            self.state.record(output, key, objects)
        return output

    def _install(self, built: str, target: Path) -> None:
        """Put a copy in place; whoever has the old file mapped keeps the old file."""
        key = self.state.key(built) + built
        if self.state.is_current(str(target), key):
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        new = target.with_name(target.name + ".new")
        shutil.copyfile(ROOT / built, new)
        new.replace(target)
        self.state.record(str(target), key)


def _beside(source: str, suffix: str) -> str:
    return source.removesuffix(".pyx") + suffix


def _inside_package(path: Path) -> str:
    """A path as ``gradsmith/...``, whichever way through the links it was reached."""
    absolute = path if path.is_absolute() else ROOT / path
    relative = absolute.resolve().relative_to(ROOT)
    if relative.parts[0] in LINKED_FOLDERS:
        relative = Path(PACKAGE, relative)
    return relative.as_posix()


def beside_source(extension: Extension) -> Path:
    """Where an extension goes in a development tree."""
    return ROOT / (extension.source.removesuffix(".pyx") + sysconfig.get_config_var("EXT_SUFFIX"))


@contextlib.contextmanager
def only_build() -> Iterator[None]:
    """Two builds of one tree wait for each other."""
    path = ROOT / "build" / "lock"
    path.parent.mkdir(exist_ok=True)
    with open(path, "w") as lock:
        with contextlib.suppress(ImportError):  # Windows: builds of one tree are the user's to order
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build(
    names: Iterable[str] = (),
    *,
    debug: bool = False,
    jobs: int = 0,
    place: Callable[[Extension], Path] = beside_source,
    report: Callable[[str], None] = _say,
) -> None:
    """Bring all extensions up to date, or only those named."""
    link_packages()
    extensions = _select(discover(), list(names))
    with only_build():
        Build(debug=debug, jobs=jobs, report=report).run(extensions, place)


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
    os.chdir(ROOT)
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
