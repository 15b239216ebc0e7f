"""Resident memory, each contestant in a process of its own: of a million small ops, and the peak of large ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from ...cases import Probe, Probes
from ...contestants import library, set_threads
from ...contestants.eager import NAMES
from ...measure.fresh import in_fresh_process

PROCESS = Path("/proc/self")
LENGTH, ELEMENTS, OPS = 10**6, 10**6, 50


def resident() -> int:
    return int((PROCESS / "statm").read_text().split()[1]) * 4096


def peak_resident() -> int:
    lines = (PROCESS / "status").read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) * 1024


def long_chain(name: str, length: int) -> dict[str, float]:
    """Seconds on the processor and bytes of an op in a long chain: recorded, walked backward, freed."""
    lib = library(name)
    x, b = (lib.ones(1, requires_grad=True) for _ in range(2))
    (x * b).backward()  # the first of all loads what is needed
    before, start = resident(), time.process_time()
    y = x
    for _ in range(length):
        y = y * b
    built, used = time.process_time(), resident() - before
    y.backward()
    ran = time.process_time()
    del y
    freed = time.process_time()
    found = {"recording": built - start, "backward": ran - built, "freeing": freed - ran, "bytes": float(used)}
    return {quantity: number / length for quantity, number in found.items()}


def peak(name: str, elements: int, ops: int) -> float:
    """The most that a chain of `sin` of many elements, forward and backward, takes beyond what was there before."""
    set_threads(1)
    lib = library(name)
    lib.ones(1, requires_grad=True).sin().sum().backward()
    x = lib.ones(elements, requires_grad=True)
    (PROCESS / "clear_refs").write_text("5")  # the peak is counted from here
    before, y = resident(), x
    for _ in range(ops):
        y = y.sin()
    y.sum().backward()
    return float(peak_resident() - before)


@cache
def measured_chain(name: str, length: int) -> dict[str, float]:
    found: dict[str, float] = in_fresh_process(f"{__name__}:long_chain", name, length)
    return found


def of_chain(quantity: str, length: int) -> Probes:
    return {name: _reader(name, quantity, length) for name in NAMES}


def _reader(name: str, quantity: str, length: int) -> Callable[[], float]:
    return lambda: measured_chain(name, length)[quantity]


def peaks(elements: int, ops: int) -> Probes:
    call: Callable[..., Any] = in_fresh_process
    return {name: partial(call, f"{__name__}:peak", name, elements, ops) for name in NAMES}


def rows() -> Iterator[Probe]:
    for quantity in ("recording", "backward", "freeing"):
        name = f"chain of 1,000,000 ops: {quantity}, per op"
        yield Probe(name, of_chain, (quantity, LENGTH), (quantity, 100), must="torch 1/10", rounds=1)
    name = "chain of 1,000,000 ops: resident, per op"
    yield Probe(name, of_chain, ("bytes", LENGTH), ("bytes", 1000), unit="bytes", rounds=1)
    name = f"chain of {OPS} ops of 1e6 elements: peak resident"
    yield Probe(name, peaks, (ELEMENTS, OPS), (100, 3), unit="bytes", must="torch 1", rounds=2)
