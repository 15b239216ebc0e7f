"""Where numbers come from: processor, instruction set, versions and commit."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from ..contestants import MODULES, submodule, version

ROOT = Path(__file__).resolve().parents[2]


def facts() -> dict[str, Any]:
    found = submodule("gradsmith", "environment").facts()
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "kernels": found["kernels"],
        "blas": found["blas"],
        "build": found["build"],
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in MODULES},
        "commit": commit(),
    }


def processor() -> str:
    """The name of the processor, and its family and model where a virtual machine hides the rest."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    name = fields.get("model name", platform.machine())
    numbers = [f"{word} {fields[key]}" for word, key in (("family", "cpu family"), ("model", "model")) if key in fields]
    return f"{name} ({', '.join(numbers)})" if numbers else name


def commit() -> str:
    """The commit of the tree, with "and changes" where files differ from it; "" outside a repository."""
    try:
        head, changes = (
            git(*words) for words in (("rev-parse", "--short=12", "HEAD"), ("status", "--porcelain", "-uno"))
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return f"{head} and changes" if changes else head


def git(*words: str, root: Path = ROOT) -> str:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout.strip()
