"""What this gradsmith is, how it was compiled, and what it finds on this machine.

>>> from gradsmith import environment
>>> sorted(environment.facts())
['blas', 'build', 'extras', 'gradsmith', 'kernels', 'numpy', 'python', 'threads']
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gradsmith.runtime.arrays.array import get_num_threads
from gradsmith.runtime.graph.node import has_internal_checks
from gradsmith.runtime.switches import build_facts
from gradsmith.version import OWN_VERSION

__all__ = ["facts"]


class Extra(NamedTuple):
    """Something optional: what it is for, and how it is installed."""

    name: str
    purpose: str
    install: str
    program: bool = False


EXTRAS = (
    Extra("scipy", "special functions, sparse matrices, gradsmith.optimize", "pip install 'gradsmith[scipy]'"),
    Extra("matplotlib", "pictures of the examples", "pip install 'gradsmith[plot]'"),
    Extra("cython", "operators of your own", "pip install 'gradsmith[build]'"),
    Extra("jinja2", "operators of your own", "pip install 'gradsmith[build]'"),
    Extra("pyyaml", "operators of your own", "pip install 'gradsmith[build]'"),
    Extra("setuptools", "operators of your own", "pip install 'gradsmith[build]'"),
    Extra("cloudpickle", "functions of scripts in other processes", "pip install 'gradsmith[parallel]'"),
    Extra("dask", "gradsmith.parallel on a cluster of Dask", "pip install 'gradsmith[dask]'"),
    Extra("ray", "gradsmith.parallel on a cluster of Ray", "pip install 'gradsmith[ray]'"),
    Extra("dot", "drawings of graphs as SVG", "install Graphviz", program=True),
)


def facts() -> dict[str, Any]:
    """Versions, the build, the machine, and the optional extras.

    Returns
    -------
    dict
        ``gradsmith``, ``build``, ``python``, ``numpy``, ``blas``, ``kernels`` and ``threads`` are texts; ``extras`` is
        a list of dicts with ``name``, ``purpose``, ``install``, and ``found``: a version, a path, or None.

    Examples
    --------
    >>> import gradsmith as gs
    >>> facts()["gradsmith"].split()[0] == gs.__version__
    True
    """
    return {
        "gradsmith": f"{OWN_VERSION} in {Path(__file__).resolve().parent}",
        "build": f"{'debug' if has_internal_checks() else 'release'}, by {build_facts.compiler()}",
        "python": f"{platform.python_version()} ({platform.python_implementation()}, {platform.platform()})",
        "numpy": np.__version__,
        "blas": _blas(),
        "kernels": _kernels(),
        "threads": f"{get_num_threads()} of {os.cpu_count() or 'unknown'} processors; set_num_threads() changes it",
        "extras": [_extra(extra) for extra in EXTRAS],
    }


def _blas() -> str:
    """The library of NumPy's matrix products, as NumPy was built."""
    built: Any = np.show_config(mode="dicts") or {}
    blas = built.get("Build Dependencies", {}).get("blas", {})
    return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()


def _kernels() -> str:
    chosen = "chosen for this processor" if build_facts.has_clones() else "compiled for one instruction set"
    return f"{build_facts.instruction_set()}, {chosen}"


def _extra(extra: Extra) -> dict[str, Any]:
    found = shutil.which(extra.name) if extra.program else _version_of(extra.name)
    return {"name": extra.name, "purpose": extra.purpose, "install": extra.install, "found": found}


def _version_of(distribution: str) -> str | None:
    """The version of an installed distribution, which is not imported."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        module = sys.modules.get(distribution)
        return getattr(module, "__version__", None)
