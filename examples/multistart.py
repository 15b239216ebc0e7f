"""Fit two tones to a noisy signal, from many starts at once.

    python examples/multistart.py --backend processes

How far a signal is from the measured one has a local minimum for every wrong frequency, so that most descents end in
one. Each start is a task of its own; they share nothing but the data. The exit code is 0 when the best of them has
found both frequencies, and every backend the same numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import gradsmith as gs

TIMES = gs.linspace(0, 0.5, 200, dtype=gs.float64)
TRUTH = (3.0, 7.5)  # frequencies
NOISE = 0.05
STEPS = 60


def signal(frequencies: gs.Tensor, sizes: gs.Tensor) -> gs.Tensor:
    return (sizes[:, None] * gs.sin(2 * gs.pi * frequencies[:, None] * TIMES)).sum(0)


def measured() -> gs.Tensor:
    noise = NOISE * gs.randn(len(TIMES), dtype=gs.float64)
    return signal(gs.tensor(TRUTH, dtype=gs.float64), gs.tensor([1.0, 0.6], dtype=gs.float64)) + noise


def misfit(parameters: dict[str, gs.Tensor], data: gs.Tensor) -> gs.Tensor:
    return ((signal(parameters["frequencies"], parameters["sizes"]) - data) ** 2).mean()


def descent(data: gs.Tensor) -> tuple[float, list[float]]:
    """From a start that is drawn here: each task has random numbers of its own. Gives the misfit and frequencies."""
    parameters = {"frequencies": 10 * gs.rand(2, dtype=gs.float64), "sizes": gs.ones(2, dtype=gs.float64)}
    for leaf in parameters.values():
        leaf.requires_grad_()
    optimizer = gs.optim.LBFGS(list(parameters.values()), max_iter=STEPS, line_search_fn="strong_wolfe")

    def closure() -> gs.Tensor:
        optimizer.zero_grad()
        loss = misfit(parameters, data)
        loss.backward()
        return loss

    optimizer.step(closure)
    return misfit(parameters, data).item(), sorted(parameters["frequencies"].tolist())


def slopes(data: gs.Tensor, starts: Sequence[dict[str, gs.Tensor]], backend: str) -> list[gs.Tensor]:
    """Transforms are mapped as they are: the gradients at some starts."""

    def at(start: dict[str, gs.Tensor]) -> gs.Tensor:
        return misfit(start, data)

    return [gradient["frequencies"] for gradient in gs.parallel.map(gs.grad(at), starts, backend=backend)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backend", default="threads", choices=["threads", "processes", "serial", "ray", "dask"])
    parser.add_argument("--starts", type=int, default=40)
    options = parser.parse_args(arguments)

    gs.manual_seed(0)
    data = measured()
    found = gs.parallel.map(descent, [data] * options.starts, backend=options.backend, seed=1)
    best, frequencies = min(found)
    n_good = sum(loss < 2 * NOISE**2 for loss, _ in found)
    same = found[:3] == gs.parallel.map(descent, [data] * 3, backend="serial", seed=1)

    starts = [{"frequencies": gs.tensor(pair, dtype=gs.float64), "sizes": gs.ones(2)} for _, pair in found[:4]]
    here, there = (slopes(data, starts, backend) for backend in ("serial", options.backend))
    same = same and all(gs.equal(one, other) for one, other in zip(here, there))

    print(f"{n_good} of {options.starts} descents find both tones")
    print(f"The best has {frequencies[0]:.2f} and {frequencies[1]:.2f}, the truth is {TRUTH[0]:.2f} and {TRUTH[1]:.2f}")
    right = all(abs(one - other) < 0.05 for one, other in zip(frequencies, TRUTH))
    return 0 if right and same and best < 2 * NOISE**2 else 1


if __name__ == "__main__":
    raise SystemExit(main())
