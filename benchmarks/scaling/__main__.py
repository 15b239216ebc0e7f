"""Measure and predict: mpiexec -n 2 python -m benchmarks.scaling

Prints what was measured with these ranks, the latency and bandwidth that fit it, and what the model says of 8, 64 and
512 ranks, over a network with the measured parameters and over assumed ones. Each rank has one thread.
"""

from __future__ import annotations

import argparse
import os

# BLAS reads it when it is loaded.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import gradsmith.distributed as dist
from benchmarks.measure.machine import processor
from benchmarks.scaling import measure, tables
from benchmarks.scaling.model import Network, Prediction, fitted

SHARED = "these ranks, in shared memory"
ASSUMED = ("Ethernet of 25 Gbit/s", "20", "2.5"), ("InfiniBand of 200 Gbit/s", "2", "20")


def main() -> None:
    options = arguments()
    dist.init_process_group(threads=1)
    ranks = dist.get_world_size()
    sizes, times = measure.all_reduces(options.rounds)
    step = measure.step(options.rounds, options.clock)
    if dist.get_rank() != 0:
        return
    network = fitted(SHARED, ranks, sizes, times)
    overlap = step.overlap(network, ranks) if options.overlap is None else options.overlap
    found = Prediction(step, overlap, step.rest(network, ranks))
    assumed = options.network or ASSUMED
    networks = [network, *(Network(name, 1e-6 * float(lat), 1e9 * float(width)) for name, lat, width in assumed)]
    made = [
        tables.of_messages(sizes, times, network, ranks),
        tables.of_steps(found, processor(), ranks),
        tables.of_networks(networks, network),
        tables.of_predictions(found, networks),
    ]
    print("\n\n".join("\n".join(one) for one in made))
    if options.page:
        tables.PAGE.write_text(tables.refreshed(tables.PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument(
        "--network", nargs=3, action="append", metavar=("NAME", "MICROSECONDS", "GB_PER_S"),
        help="a network to predict for, in place of those that are assumed; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--clock", choices=measure.CLOCKS, default="wall",
        help="of steps; on a machine that is never idle, the time on the processor",
    )  # fmt: skip
    parser.add_argument("--overlap", type=float, help="the part of the communication that is hidden, if not measured")
    parser.add_argument("--page", action="store_true", help="write the tables into docs/performance/scaling.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
