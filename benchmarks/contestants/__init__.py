"""The contestants: which of them are here, and how each is given its program.

`eager` has the programs that gradsmith and PyTorch share, `functional` those that JAX and HIPS autograd share. NumPy by
hand is written out in the workloads. A library is imported when its first program is built.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Sequence
from functools import cache
from typing import Any

# The module of each contestant. Other names in a row ("by hand", "eager") stand for programs of gradsmith's.
MODULES = {name: name for name in ("gradsmith", "numpy", "torch", "jax", "autograd", "scipy")}
TITLES = {
    "gradsmith": "gradsmith", "numpy": "NumPy", "torch": "PyTorch", "jax": "JAX (jit)", "autograd": "HIPS autograd",
    "scipy": "SciPy",
}  # fmt: skip


@cache
def is_here(name: str) -> bool:
    """Whether the contestant can take part: its library is installed, or it needs none."""
    if name not in MODULES:
        return True
    spec = importlib.util.find_spec(MODULES[name])
    return spec is not None and spec.origin is not None  # a folder of that name is no library


@cache
def library(name: str) -> Any:
    """The module of a contestant, set up for comparison: JAX keeps the float64 that it is given."""
    module = importlib.import_module(MODULES[name])
    if name == "jax":
        module.config.update("jax_enable_x64", True)
        module.config.update("jax_platforms", "cpu")
    return module


def submodule(name: str, path: str) -> Any:
    """A module below that of a contestant, after the contestant has been set up."""
    return importlib.import_module(f"{library(name).__name__}.{path}")


def missing(names: Sequence[str]) -> list[str]:
    return [name for name in names if not is_here(name)]


def set_threads(count: int) -> None:
    """Of gradsmith and PyTorch; BLAS and JAX have read theirs from the environment when they were loaded."""
    for name in ("gradsmith", "torch"):
        if is_here(name):
            library(name).set_num_threads(count)


def version(name: str) -> str:
    """That of an installed library, "" of one that is not."""
    if not is_here(name):
        return ""
    found = getattr(library(name), "__version__", None)
    return str(found or importlib.metadata.version(MODULES[name]))
