"""The C compiler: how it is called, what it can do, and plain words when it is missing.

It is reached through setuptools, which knows every platform's.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .changes import State, digest_of

DEFINES = {
    "NPY_NO_DEPRECATED_API": "NPY_1_7_API_VERSION",
    "NPY_TARGET_VERSION": "NPY_2_0_API_VERSION",
    # A tensor is made by its tp_new: from Cython 3.3 on that would be a call of another form of it.
    "CYTHON_VECTORCALL_TPNEW": "0",
    # Cython packs the strings of each module, and importing some hundred modules takes longer for unpacking them.
    "CYTHON_COMPRESS_STRINGS": "0",
}

# Code that runs per element is made fast.  Code that runs per call is made small: a wrapper is as fast
# at -O1 as at -O3 and compiles in a third of the time.  The warnings that are turned off are
# those that Cython's text is full of, and those that Clang gives for kernels that are right.
KERNEL, RUNTIME, WRAPPER = "kernel", "runtime", "wrapper"
_CYTHON = ["-Wno-unused-function", "-Wno-unused-const-variable", "-Wno-array-bounds"]
# A recorded op and its backward call some dozens of short functions. With each at the beginning of a cache line they
# take a tenth less time, in one per cent more space.
_ALIGNED = ["-falign-functions=64"]
FLAGS = {
    KERNEL: [
        "-O3", "-fno-math-errno", "-fno-trapping-math",
        "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Wno-pass-failed",
    ],
    RUNTIME: ["-O2", *_ALIGNED, *_CYTHON],
    WRAPPER: ["-O1", *_ALIGNED, *_CYTHON],
}  # fmt: skip

# Every wrong access to memory ends the process with a report; so does what C leaves undefined.
SANITIZERS = ["-fsanitize=address,undefined"]

# Errors from GCC 14 and Clang 16 on; older compilers only warn.
MODERN_ERRORS = [
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
    "-Werror=implicit-function-declaration",
]


class BuildError(Exception):
    """Something the user has to mend; the message is printed without a traceback."""


# Small programs that are compiled, linked and run to see whether a feature is there.

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

    def __init__(self, headers: tuple[str, ...] = (), debug: bool = False, sanitize: bool = False) -> None:
        self.headers = headers
        self.debug = debug
        self.sanitize = sanitize
        self.command = _compiler_command()
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
        return digest_of(
            self.command, str(program), size_and_time, sys.version, _numpy_version(), *environment
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
            key = digest_of(self.identity, program)
            if state.note(output) is None or state.key(output) != key:
                state.record(output, key, note=self._try(feature.lower(), program, libraries))
            self.features[feature] = bool(state.note(output))

    def _try(self, name: str, program: str, libraries: tuple[str, ...]) -> bool:
        """Whether a small program compiles, links and runs."""
        source = f"build/probe/{name}.c"
        Path(source).parent.mkdir(parents=True, exist_ok=True)
        Path(source).write_text(program)
        compiler = self.compiler
        flags = [] if self.is_msvc else ["-O3", "-fno-math-errno", "-Werror"]
        try:
            objects = compiler.compile([source], extra_postargs=flags)
            target = source.removesuffix(".c")
            compiler.link_executable(objects, target, libraries=list(libraries))
            executable = compiler.executable_filename(target)
            return subprocess.run([executable], capture_output=True, timeout=20).returncode == 0
        except Exception:  # any failure means "not usable here"
            return False

    @property
    def is_msvc(self) -> bool:
        return os.name == "nt" and "MSC" in sys.version

    def start(self) -> None:
        """Import setuptools; to be called before there are other threads.

        setuptools provides distutils by an import hook that itself imports modules. Python calls hooks while it holds
        the lock of all imports, so another thread that is importing something and this one would wait for each other.
        """
        _ = self.compiler

    @functools.cached_property
    def compiler(self) -> Any:
        require_tools()
        if os.name != "nt" and self.command != sysconfig.get_config_var("CC"):
            os.environ["CC"] = self.command  # setuptools takes it from there
        importlib.import_module("setuptools")  # provides distutils where Python has none
        from distutils.ccompiler import new_compiler
        from distutils.sysconfig import customize_compiler

        compiler = new_compiler()
        customize_compiler(compiler)
        if hasattr(compiler, "initialize"):
            compiler.initialize()  # MSVC sets up its environment here, not safely from two threads
        if os.name != "nt":  # where the compiler's programs need more than a path, setuptools runs them
            for name in ("spawn", "call"):  # its older and its newer name
                setattr(compiler, name, run)
        return compiler

    def flags(self, kind: str) -> list[str]:
        """Flags for a C file of this kind, one of `KERNEL`, `RUNTIME` and `WRAPPER`."""
        if self.is_msvc:
            return ["/Od", "/UNDEBUG"] if self.debug else ["/O2"]
        flags = [*FLAGS[kind], *MODERN_ERRORS, *(["-g", "-UNDEBUG"] if self.debug else ["-g0"])]
        return [*flags, "-O1", "-fno-omit-frame-pointer", *SANITIZERS] if self.sanitize else flags

    def macros(self) -> list[tuple[str, str]]:
        switches = {f"GRADSMITH_NO_{name}": "1" for name, usable in self.features.items() if not usable}
        if self.debug:
            switches["GRADSMITH_DEBUG"] = "1"
        if self.sanitize:
            switches["GRADSMITH_SANITIZE"] = "1"
        return sorted({**DEFINES, **switches}.items())

    def compile(self, source: str, kind: str, folder: str) -> None:
        """Make the object file of a C file, at the same path below `folder`."""
        import numpy

        includes = [*self.headers, numpy.get_include(), sysconfig.get_path("include")]
        compiler = self.compiler
        with _build_errors():
            compiler.compile(
                [source], output_dir=folder, macros=self.macros(), include_dirs=includes,
                extra_postargs=self.flags(kind),
            )  # fmt: skip

    def link(self, objects: list[str], module: str, output: str) -> None:
        """Make an extension module of object files."""
        import numpy

        folders = [os.path.join(os.path.dirname(numpy.__file__), "random", "lib")]
        if os.name == "nt":
            folders.append(os.path.join(sys.base_exec_prefix, "libs"))
        compiler = self.compiler
        with _build_errors():
            compiler.link_shared_object(
                objects, output, libraries=self.libraries(objects), library_dirs=folders,
                export_symbols=[f"PyInit_{module}"], extra_postargs=SANITIZERS if self.sanitize else [],
            )  # fmt: skip

    def libraries(self, objects: list[str]) -> list[str]:
        """Kernels need the mathematical libraries and NumPy's; what Cython wrote, alone in its module, does not."""
        if len(objects) == 1:
            return []
        if os.name == "nt":
            return ["npyrandom"]
        return ["npyrandom", "mvec", "m"] if self.features["LIBMVEC"] else ["npyrandom", "m"]


@contextlib.contextmanager
def _build_errors() -> Iterator[None]:
    """Convert errors of setuptools' compilers to `BuildError`. Entered only after setuptools was imported."""
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
    return next(filter(shutil.which, ("cc", "gcc", "clang")), wanted)


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


def _numpy_version() -> str:
    """From NumPy itself when it is loaded: looking it up takes longer than all the rest of `identity`."""
    loaded = sys.modules.get("numpy")
    return str(loaded.__version__) if loaded else version_of("numpy")


@functools.cache
def version_of(distribution: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(distribution)
    except PackageNotFoundError:
        raise BuildError(
            f"building needs {distribution}, which {sys.executable} does not have. "
            "Use `make`, or install the requirements that pyproject.toml lists under [build-system]."
        ) from None


def run(command: Iterable[Any], **options: Any) -> None:
    """Run one compiler command; what it prints comes in one piece, and only when there is something."""
    words = list(map(str, command))
    environment = dict(options.get("env") or os.environ)
    if sys.platform == "darwin":  # build for what this Python was built for, not for this machine's system
        environment.setdefault("MACOSX_DEPLOYMENT_TARGET", str(sysconfig.get_config_var("MACOSX_DEPLOYMENT_TARGET")))
    done = subprocess.run(
        words, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )  # fmt: skip
    finish(words, done.returncode, done.stdout)


def finish(words: list[str], status: int, printed: str) -> None:
    """Raise what a command that failed has printed; print it when the command succeeded."""
    if status:
        raise BuildError(f"{' '.join(words)}\n{printed}")
    if printed.strip():
        sys.stderr.write(printed)
