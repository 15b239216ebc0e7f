"""The system's C compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

FLAGS = ("-std=c11", "-O2", "-ffp-contract=off", "-fPIC", "-shared")


def compile_shared(source: Path) -> Path:
    """The shared library of a C file, beside it."""
    library = source.with_suffix(".dylib" if sys.platform == "darwin" else ".so")
    command = [*_compiler(), *FLAGS, "-o", str(library), str(source), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"export_c(): the C compiler failed ({' '.join(command)}):\n{done.stderr}")
    return library


def _compiler() -> list[str]:
    given = os.environ.get("CC", "").split()
    for command in (given, ["cc"], ["gcc"], ["clang"]):
        if command and shutil.which(command[0]):
            return command
    raise RuntimeError(
        "export_c(): no C compiler was found (cc, gcc, clang, or what the variable CC names); install one, or leave "
        "out shared=True and compile the file elsewhere"
    )
