"""Find where heat comes from, on a plate that is divided among processes.

    mpiexec -n 4 python examples/heat_decomposed.py

Needs `pip install 'gradsmith[mpi]'`; started without mpiexec one process has the whole plate. Each rank has some rows
of the plate and exchanges the outermost with its neighbours at every step; the gradient goes the same way back. It is
compared with that of one process, and then the sources are found by gradient descent. The exit code is 0 when both are
right.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

import gradsmith as gs
import gradsmith.distributed as dist
from gradsmith.distributed.parallel import cg, halo_exchange, part_of

SIZE = 24  # rows and columns of the plate
CONDUCTIVITY = 0.2
STEPS = 20
TOLERANCE = 1e-12

Padding = Callable[[gs.Tensor], gs.Tensor]


def with_neighbours(u: gs.Tensor) -> gs.Tensor:
    """This rank's rows, with those of the ranks before and after it."""
    return halo_exchange(u)


def with_cold_edges(u: gs.Tensor) -> gs.Tensor:
    """All rows, with zeros beyond the ends: for one process."""
    return gs.nn.functional.pad(u, (0, 0, 1, 1))


def laplacian(u: gs.Tensor, padded: Padding) -> gs.Tensor:
    """The sum of what the four neighbours have more; the edges of the plate are cold."""
    rows = padded(u)
    columns = gs.nn.functional.pad(u, (1, 1))
    return rows[:-2] + rows[2:] + columns[:, :-2] + columns[:, 2:] - 4 * u


def heated(sources: gs.Tensor, padded: Padding) -> gs.Tensor:
    """The temperature after some steps."""
    u = gs.zeros_like(sources)
    for _ in range(STEPS):
        u = u + CONDUCTIVITY * laplacian(u, padded) + sources
    return u


def misfit(sources: gs.Tensor, measured: gs.Tensor, padded: Padding) -> gs.Tensor:
    return ((heated(sources, padded) - measured) ** 2).sum()


def true_sources() -> gs.Tensor:
    sources = np.zeros((SIZE, SIZE))
    sources[5, 6], sources[15, 17] = 1.0, 2.0
    return gs.from_numpy(sources)


def difference_of_gradients(measured: gs.Tensor) -> float:
    """The largest difference between the gradient of one process and that of all ranks."""
    guess = gs.full((SIZE, SIZE), 0.1, dtype=gs.float64)
    whole = gs.func.grad(misfit)(guess, measured, with_cold_edges)
    part = gs.func.grad(misfit)(part_of(guess), part_of(measured), with_neighbours)
    difference = (part_of(whole) - part).abs().max() / whole.abs().max()
    dist.all_reduce(difference, dist.ReduceOp.MAX)
    return float(difference)


def found_sources(measured: gs.Tensor) -> gs.Tensor:
    """By conjugate gradients over all ranks: the gradient of the misfit is linear in the sources."""
    gradient = gs.func.grad(lambda s: misfit(s, measured, with_neighbours))
    at_zero = gradient(gs.zeros_like(measured))
    return cg(lambda s: gradient(s) - at_zero, -at_zero, tol=1e-10)


def main() -> int:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    dist.init_process_group()
    sources = true_sources()
    measured = heated(sources, with_cold_edges)
    difference = difference_of_gradients(measured)
    error = (found_sources(part_of(measured)) - part_of(sources)).abs().max()
    dist.all_reduce(error, dist.ReduceOp.MAX)
    if dist.get_rank() == 0:
        print(f"{dist.get_world_size()} ranks: the gradient differs from that of one process by {difference:.1e}")
        print(f"the sources are found to {float(error):.1e}")
    dist.destroy_process_group()
    return 0 if difference < TOLERANCE and float(error) < 1e-3 else 1


if __name__ == "__main__":
    raise SystemExit(main())
