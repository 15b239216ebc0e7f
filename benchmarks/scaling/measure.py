"""Times that the model is fitted to; all ranks call these functions."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradsmith as gs
import gradsmith.distributed as dist

from ..ranks import Contestant, idle, network, step_of, timed
from .model import Step

SIZES = (1, 1 << 7, 1 << 10, 1 << 12, 1 << 14, 1 << 15, 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 21)


def all_reduces(rounds: int) -> tuple[list[int], list[float]]:
    """Bytes, and the least seconds of an `all_reduce` of so many."""
    nbytes, seconds = [], []
    for size in SIZES:
        x = gs.zeros(size)  # of zeros, so that sums of sums stay finite
        times = timed({"it": partial(dist.all_reduce, x)}, rounds, max(3, 20000 // (size + 100)))
        nbytes.append(4 * size)
        seconds.append(min(times["it"]))
    return nbytes, seconds


def step(rounds: int) -> Step:
    """The least seconds of a step of the network of `benchmarks.ranks`."""
    alone = step_of(network())
    parallel = gs.nn.parallel.DistributedDataParallel(network())
    contestants: dict[str, Contestant] = {
        "alone": alone if dist.get_rank() == 0 else idle,
        "silent": step_of(_silent()),
        "parallel": step_of(parallel),
    }
    least = {name: _largest(min(times)) for name, times in timed(contestants, rounds, 1).items()}
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
