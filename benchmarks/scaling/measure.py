"""Times that the model is fitted to; all ranks call these functions."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import gradsmith as gs
import gradsmith.distributed as dist

from ..ranks import Contestant, idle, network, step_of, timed
from .model import Step

SIZES = (1, 1 << 7, 1 << 10, 1 << 12, 1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 21)


CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def all_reduces(rounds: int) -> tuple[list[int], list[float]]:
    """Bytes, and the least seconds of an `all_reduce` of so many. Sizes take turns: a machine is quiet now and then."""
    tensors = [gs.zeros(size) for size in SIZES]  # zeros, so that sums of sums stay finite
    times: dict[int, list[float]] = {x.nbytes: [] for x in tensors}
    for _ in range(rounds):
        for x in tensors:
            repeats = max(3, 5000 // (x.numel() + 100))
            times[x.nbytes] += timed({"it": partial(dist.all_reduce, x)}, 1, repeats)["it"]
    return list(times), [min(of_one) for of_one in times.values()]


def step(rounds: int, clock: str) -> Step:
    """The least seconds of a step of the network of `benchmarks.ranks`."""
    alone = step_of(network())
    parallel = gs.nn.parallel.DistributedDataParallel(network())
    contestants: dict[str, Contestant] = {
        "alone": alone if dist.get_rank() == 0 else idle,
        "silent": step_of(_silent()),
        "parallel": step_of(parallel),
    }
    least = {name: _largest(min(times)) for name, times in timed(contestants, rounds, 1, CLOCKS[clock]).items()}
    return Step(**least, buckets=tuple(bucket.flat.nbytes for bucket in parallel.reducer.buckets))


def _silent() -> Any:
    model = gs.nn.parallel.DistributedDataParallel(network())
    model.register_comm_hook(None, dist.algorithms.ddp_comm_hooks.debugging_hooks.noop_hook)
    return model


def _largest(seconds: float) -> float:
    """Of all ranks: a step has ended when the last of them has."""
    x = gs.tensor(seconds, dtype=gs.float64)
    dist.all_reduce(x, dist.ReduceOp.MAX)
    return float(x.item())
