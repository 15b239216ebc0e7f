"""Exported functions, compiled and called."""

import ctypes
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import gradsmith as gs

STRICT = ("-std=c11", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-pedantic")


def library_of(files: Sequence[Path], path: Path) -> ctypes.CDLL:
    """One library of many files, compiled without a warning."""
    subprocess.run(["cc", *STRICT, "-fPIC", "-shared", "-o", str(path), *map(str, files), "-lm"], check=True)
    return ctypes.CDLL(str(path))


def joined(files: Sequence[Path], path: Path) -> Path:
    """A file that includes all others: compiling each by itself takes four times as long.

    They include the same headers, so that none has only what another asks for. What is static in them gets a name for
    each file.
    """
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    assert len({tuple(re.findall(r"^#include <.*>$", text, re.MULTILINE)) for text in texts.values()}) == 1
    lines = []
    for file, text in texts.items():
        own = re.findall(r"^static [^;{}()=\[]*?(\w+)(?=[(\[])", text, re.MULTILINE)
        lines += [f"#define {name} {file.stem}_{name}" for name in own]
        lines += [f'#include "{file}"', *(f"#undef {name}" for name in own)]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def called(library: ctypes.CDLL, name: str, args: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    """What the C function gives for tensors; `results` say how large the results are."""
    size = getattr(library, f"{name}_work_size")
    size.restype = ctypes.c_size_t
    memory = np.empty(size() // 8 + 1)
    given = [np.ascontiguousarray(arg.detach().numpy()).reshape(arg.shape) for arg in args]
    found = [np.empty(tuple(one.shape), one.dtype) for one in results]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*given, *found, memory)]
    assert getattr(library, name)(*pointers) == 0
    return found


def exported(f: Callable[..., Any], args: Sequence[Any], folder: Path) -> list[Any]:
    """The results of the exported function, as arrays."""
    files = gs.graph.export_c(f, args, "exported", folder)
    expected = f(*args)
    expected = expected if isinstance(expected, (tuple, list)) else [expected]
    return called(library_of(files[:1], folder / "exported.so"), "exported", args, expected)
