"""What it costs to be several processes: mpiexec -n 2 python -m benchmarks.ranks

Prints a Markdown table: an `all_reduce` beside the bare one of mpi4py, and a step of data-parallel training beside
that of one rank alone and, where PyTorch is installed, beside its own `DistributedDataParallel` with gloo.
Contestants take turns in one run. Each rank has one thread.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import gradsmith as gs
import gradsmith.distributed as dist
import gradsmith.nn.functional as F
from benchmarks.measure.machine import processor

BATCH = 256  # of each rank
LAYERS = (784, 1024, 1024, 10)
SIZES = (1, 1 << 10, 1 << 14, 1 << 17, 1 << 20)  # numbers of eight bytes

Contestant = Callable[[], Any]


def timed(
    contestants: dict[str, Contestant], rounds: int, repeats: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, list[float]]:
    """Seconds of each call, in turns; all ranks begin each at once."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for number in range(rounds + 1):
        for name, call in contestants.items():
            dist.barrier()
            start = clock()
            for _ in range(repeats):
                call()
            if number:  # the first round warms up
                times[name].append((clock() - start) / repeats)
    return times


def all_reduces(rounds: int) -> list[dict[str, Any]]:
    """Minima and medians for tensors of several sizes."""
    from mpi4py import MPI

    rows = []
    for size in SIZES:
        array = np.zeros(size)
        x = gs.from_numpy(array)  # the same memory, which is as much in the caches for both
        comm = MPI.COMM_WORLD

        def bare(array: Any = array, comm: Any = comm) -> None:
            comm.Allreduce(MPI.IN_PLACE, array)

        def ours(x: Any = x) -> None:
            dist.all_reduce(x)

        times = timed({"mpi4py": bare, "gradsmith": ours}, rounds, max(3, 20000 // (size + 100)))
        rows.append({"bytes": 8 * size, **{name: (min(one), statistics.median(one)) for name, one in times.items()}})
    return rows


def network() -> gs.nn.Module:
    gs.manual_seed(0)
    a, b, c, d = LAYERS
    return gs.nn.Sequential(gs.nn.Linear(a, b), gs.nn.ReLU(), gs.nn.Linear(b, c), gs.nn.ReLU(), gs.nn.Linear(c, d))


def batch() -> tuple[Any, Any]:
    generator = np.random.default_rng(dist.get_rank())
    images = generator.standard_normal((BATCH, LAYERS[0])).astype(np.float32)
    return images, generator.integers(0, LAYERS[-1], BATCH)


def step_of(model: gs.nn.Module) -> Contestant:
    optimizer = gs.optim.SGD(model.parameters(), lr=0.01)
    images, labels = map(gs.from_numpy, batch())

    def step() -> None:
        optimizer.zero_grad()
        F.cross_entropy(model(images), labels).backward()
        optimizer.step()

    return step


def step_of_pytorch() -> Contestant:
    """The same with PyTorch's DistributedDataParallel over gloo."""
    torch: Any = importlib.import_module("torch")
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29511")
    torch.distributed.init_process_group("gloo", rank=dist.get_rank(), world_size=dist.get_world_size())
    a, b, c, d = LAYERS
    nn = torch.nn
    layers = nn.Sequential(nn.Linear(a, b), nn.ReLU(), nn.Linear(b, c), nn.ReLU(), nn.Linear(c, d))
    model = nn.parallel.DistributedDataParallel(layers)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images, labels = map(torch.from_numpy, batch())

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()

    return step


def steps(rounds: int) -> dict[str, tuple[float, float]]:
    """Minima and medians of one step, of which each rank has a batch of its own."""
    alone = step_of(network())
    contestants = {
        "one rank alone": alone if dist.get_rank() == 0 else idle,
        "all at once, each by itself": step_of(network()),
        "DistributedDataParallel": step_of(gs.nn.parallel.DistributedDataParallel(network())),
        "with gradients as views": step_of(
            gs.nn.parallel.DistributedDataParallel(network(), gradient_as_bucket_view=True)
        ),
    }
    if importlib.util.find_spec("torch"):
        contestants["PyTorch's with gloo"] = step_of_pytorch()
    times = timed(contestants, rounds, 1)
    if "PyTorch's with gloo" in contestants:
        importlib.import_module("torch.distributed").destroy_process_group()  # its threads end no process otherwise
    return {name: (min(one), statistics.median(one)) for name, one in times.items()}


def idle() -> None:
    """What the other ranks do meanwhile."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ranks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    dist.init_process_group(threads=1)
    reduced, stepped = all_reduces(rounds), steps(rounds)
    if dist.get_rank() == 0:
        print(f"{dist.get_world_size()} ranks on {processor()}: minimum (median)\n")
        print("| all_reduce of | mpi4py | gradsmith | more |\n| ---: | ---: | ---: | ---: |")
        for row in reduced:
            own, bare = row["gradsmith"], row["mpi4py"]
            cells = [f"{t[0] * 1e6:.1f} ({t[1] * 1e6:.1f}) µs" for t in (bare, own)]
            print(f"| {row['bytes']} bytes | {' | '.join(cells)} | {(own[0] - bare[0]) * 1e6:.1f} µs |")
        print("\n| step of 784-1024-1024-10, 256 rows a rank | time |\n| --- | ---: |")
        for name, (least, middle) in stepped.items():
            print(f"| {name} | {least * 1e3:.2f} ({middle * 1e3:.2f}) ms |")
        least, middle = (
            dist.get_world_size() * alone / parallel
            for alone, parallel in zip(stepped["one rank alone"], stepped["DistributedDataParallel"])
        )
        print(f"\nthroughput of one rank times {least:.2f} ({middle:.2f})")
        print(json.dumps({"all_reduce": reduced, "steps": stepped}))


if __name__ == "__main__":
    main()
