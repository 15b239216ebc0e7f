"""Numbers from a process of its own: memory, and whatever is measured once from the start of Python."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def in_fresh_process(function: str, *arguments: Any) -> Any:
    """What ``package.module:function`` gives for the arguments, all of which JSON can carry, in a new Python."""
    command = [sys.executable, "-m", "benchmarks.measure.fresh", function, json.dumps(arguments)]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{function} failed in its process:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def environment(threads: int | None = None) -> dict[str, str]:
    """With bytecode kept, as users have it, and a number of threads, which libraries read when they are loaded."""
    found = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    if threads is not None:
        for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
            found[name] = str(threads)
        if threads == 1:
            found["XLA_FLAGS"] = f"{found.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false".strip()
    return found


def main(function: str, arguments: str) -> None:
    module, _, name = function.partition(":")
    print(json.dumps(getattr(importlib.import_module(module), name)(*json.loads(arguments))))


if __name__ == "__main__":
    main(*sys.argv[1:])
