"""Choose the strength of a ridge regression by the gradient of the error on other data.

    python examples/least_squares.py

The weights of a ridge regression minimize a sum of squares; how strongly they are held back is chosen by their error on
data that was left out. The derivative of that error by the strength goes through the solution: once through the solver
of linear equations, and once by the implicit function theorem, which needs only the equations. The exit code is 0 when
both agree with differences, and descent finds the strength that a search over a grid finds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

import gradsmith as gs
from gradsmith import func

FEATURES, TRAIN, LEFT_OUT = 30, 40, 200
NOISE = 1.0
STEPS, RATE = 60, 0.5


def data(count: int, random: np.random.Generator, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    inputs = random.standard_normal((count, FEATURES))
    return inputs, inputs @ weights + NOISE * random.standard_normal(count)


def equations(weights: np.ndarray, log_strength: float, inputs: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """Gradient of the sum of squares by the weights, which is zero at the solution."""
    return inputs.T @ (inputs @ weights - outputs) + np.exp(log_strength) * weights


def solved(log_strength: float, inputs: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """The weights, by a solver of linear equations that is differentiated."""
    matrix = inputs.T @ inputs + np.exp(log_strength) * np.eye(FEATURES)
    return np.linalg.solve(matrix, inputs.T @ outputs)


def implicit(log_strength: float, inputs: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """The weights, by any means: the derivative follows from the equations."""
    start = gs.zeros(FEATURES, dtype=inputs.dtype)
    return func.custom_root(equations)(start, log_strength, inputs, outputs)


def main(arguments: list[str] | None = None) -> int:
    random = np.random.default_rng(3)
    weights = random.standard_normal(FEATURES) * (random.random(FEATURES) < 0.3)
    train, (inputs, outputs) = data(TRAIN, random, weights), data(LEFT_OUT, random, weights)

    def error(log_strength: float, solution: Callable[..., np.ndarray] = solved) -> float:
        """Mean square on the data that was left out."""
        return np.mean((inputs @ solution(log_strength, *train) - outputs) ** 2)

    start, small = 0.0, 1e-5
    slopes = {
        "through the solver": gs.grad(error)(start),
        "by implicit differentiation": gs.grad(lambda x: error(x, implicit))(start),
        "by differences": (error(start + small) - error(start - small)) / (2 * small),
    }
    print("Derivative of the error by the logarithm of the strength, at 0:")
    for name, slope in slopes.items():
        print(f"   {name:28} {slope:.8f}")

    log_strength, slope = start, gs.grad(error)
    for _ in range(STEPS):
        log_strength = log_strength - RATE * slope(log_strength)
    grid = np.linspace(-4, 6, 401)
    best = grid[np.argmin(gs.vmap(error)(grid))]
    print(f"Strength by descent {np.exp(log_strength):.3f}, by search {np.exp(best):.3f};", end=" ")
    print(f"error {error(log_strength):.4f}, without ridge {error(-20.0):.4f}")
    agree = max(slopes.values()) - min(slopes.values()) < 1e-7
    return 0 if agree and abs(log_strength - best) < 0.05 else 1


if __name__ == "__main__":
    sys.exit(main())
