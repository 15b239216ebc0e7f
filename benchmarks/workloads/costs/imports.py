"""Importing each library, above importing NumPy, in fresh processes and from kept bytecode: time on the processor."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from ...cases import Probe, Probes
from ...measure.fresh import ROOT, environment


def seconds(module: str) -> float:
    program = f"import time; t = time.process_time(); import {module}; print(time.process_time() - t)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=True)
    return float(done.stdout)


def above_numpy(module: str) -> float:
    """The difference of neighbours in time, so that both are slowed down alike."""
    alone = min(seconds("numpy") for _ in range(2))
    return max(min(seconds(f"numpy, {module}") for _ in range(2)) - alone, 0.0)


def imports() -> Probes:
    return {name: partial(above_numpy, name) for name in ("gradsmith", "torch", "jax", "autograd")}


def rows() -> Iterator[Probe]:
    yield Probe("import above NumPy", imports, rounds=5)
