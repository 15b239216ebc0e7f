"""Choose the strength of a ridge regression by the gradient of the error on other data.

    python examples/least_squares.py

The weights of a ridge regression minimize a sum of squares; how strongly they are held back is chosen by their error on
data that was left out. The derivative of that error by the strength goes through the solution: once through the solver
of linear equations, and once by the implicit function theorem, which needs only the equations. The exit code is 0 when
both agree with differences, and descent finds the strength that a search over a grid finds.
"""

from __future__ import annotations

import sys

import numpy as np

import gradsmith as gs
from gradsmith import func

FEATURES, TRAIN, LEFT_OUT = 30, 40, 200
NOISE = 1.0
STEPS, RATE = 60, 0.5


def data(count: int, random: np.random.Generator, weights: np.ndarray) -> tuple[gs.Tensor, gs.Tensor]:
    inputs = random.standard_normal((count, FEATURES))
    return gs.from_numpy(inputs), gs.from_numpy(inputs @ weights + NOISE * random.standard_normal(count))


def equations(weights: gs.Tensor, log_strength: gs.Tensor, inputs: gs.Tensor, outputs: gs.Tensor) -> gs.Tensor:
    """Gradient of the sum of squares by the weights, which is zero at the solution."""
    return inputs.T @ (inputs @ weights - outputs) + gs.exp(log_strength) * weights


def solved(log_strength: gs.Tensor, inputs: gs.Tensor, outputs: gs.Tensor) -> gs.Tensor:
    """The weights, by a solver of linear equations that is differentiated."""
    matrix = inputs.T @ inputs + gs.exp(log_strength) * gs.eye(FEATURES, dtype=inputs.dtype)
    return gs.linalg.solve(matrix, inputs.T @ outputs)


def implicit(log_strength: gs.Tensor, inputs: gs.Tensor, outputs: gs.Tensor) -> gs.Tensor:
    """The weights, by any means: the derivative follows from the equations."""
    start = gs.zeros(FEATURES, dtype=inputs.dtype)
    return func.custom_root(equations)(start, log_strength, inputs, outputs)


def main(arguments: list[str] | None = None) -> int:
    random = np.random.default_rng(3)
    weights = random.standard_normal(FEATURES) * (random.random(FEATURES) < 0.3)
    train, (inputs, outputs) = data(TRAIN, random, weights), data(LEFT_OUT, random, weights)

    def error(log_strength: gs.Tensor, solution: object = solved) -> gs.Tensor:
        """Mean square on the data that was left out."""
        return gs.mean((inputs @ solution(log_strength, *train) - outputs) ** 2)

    start, small = gs.tensor(0.0, dtype=gs.float64), 1e-5
    slopes = {
        "through the solver": gs.grad(error)(start).item(),
        "by implicit differentiation": gs.grad(lambda x: error(x, implicit))(start).item(),
        "by differences": (error(start + small) - error(start - small)).item() / (2 * small),
    }
    print("Derivative of the error by the logarithm of the strength, at 0:")
    for name, slope in slopes.items():
        print(f"   {name:28} {slope:.8f}")

    log_strength, slope = start, gs.grad(error)
    for _ in range(STEPS):
        log_strength = log_strength - RATE * slope(log_strength)
    grid = gs.linspace(-4, 6, 401, dtype=gs.float64)
    best = grid[gs.vmap(error)(grid).argmin()]
    print(f"Strength by descent {log_strength.exp().item():.3f}, by search {best.exp().item():.3f};", end=" ")
    print(
        f"error {error(log_strength).item():.4f}, without ridge {error(gs.tensor(-20.0, dtype=gs.float64)).item():.4f}"
    )
    agree = max(slopes.values()) - min(slopes.values()) < 1e-7
    return 0 if agree and abs((log_strength - best).item()) < 0.05 else 1


if __name__ == "__main__":
    sys.exit(main())
