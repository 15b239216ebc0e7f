"""Find the rates of predators and prey from what was counted, through a solver of their differential equations.

    python examples/ode_fit.py

Numbers of prey and predators follow Lotka and Volterra's equations, which the method of Runge and Kutta solves. Its
result is differentiated by the four rates in forward mode, and the method of Levenberg and Marquardt fits them. The
exit code is 0 when they are within 3 % of those that made the data.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np

from gradsmith import func

RATES = np.array([1.1, 0.4, 0.4, 0.1])  # births of prey, hunting, deaths of predators, their births by hunting
START = np.array([10.0, 5.0])
SECONDS, STEPS = 20.0, 200
NOISE = 0.02  # relative to the numbers
TOLERANCE = 0.03


def change(state: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Lotka and Volterra's equations."""
    prey, predators = state[0], state[1]
    births, hunting, deaths, growth = rates[0], rates[1], rates[2], rates[3]
    return np.stack([births * prey - hunting * prey * predators, growth * prey * predators - deaths * predators])


def step(state: np.ndarray, rates: np.ndarray, dt: float) -> np.ndarray:
    """One step of the classical method of Runge and Kutta."""
    first = change(state, rates)
    second = change(state + dt / 2 * first, rates)
    third = change(state + dt / 2 * second, rates)
    fourth = change(state + dt * third, rates)
    return state + dt / 6 * (first + 2 * second + 2 * third + fourth)


def counts(rates: np.ndarray) -> np.ndarray:
    """Prey and predators at ten times in each second, (STEPS, 2)."""
    state, found = START, []
    for _ in range(STEPS):
        state = step(state, rates, SECONDS / STEPS)
        found.append(state)
    return np.stack(found)


def fitted(residuals: Callable[[np.ndarray], np.ndarray], x: np.ndarray, rounds: int) -> np.ndarray:
    """Levenberg's and Marquardt's method: steps of least squares, shortened as long as they lead upwards."""
    jacobian, damping = func.jacfwd(residuals), 1e-2
    misfit = residuals(x)
    for number in range(rounds):
        slope = jacobian(x)
        normal = slope.T @ slope
        while True:
            move = np.linalg.solve(normal + damping * np.diag(np.diagonal(normal)), slope.T @ misfit)
            tried = residuals(x - move)
            if np.sum(tried**2) < np.sum(misfit**2) or damping > 1e6:
                break
            damping *= 10
        x, misfit, damping = x - move, tried, damping / 10
        print(f"   step {number + 1:2}   misfit {np.sum(misfit**2):12.4f}   rates {np.round(x, 4)}")
        if np.linalg.norm(move) < 1e-6 * np.linalg.norm(x):
            break
    return x


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Fit the rates of Lotka's and Volterra's equations.")
    parser.add_argument("--rounds", type=int, default=20, help="most steps of the fit")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)

    random = np.random.default_rng(options.seed)
    true = counts(RATES)
    seen = true * (1 + NOISE * random.standard_normal(true.shape))

    print(f"{STEPS} counts of prey and predators, {NOISE:.0%} noise:")
    start = RATES * [1.15, 0.9, 1.1, 0.95]
    rates = fitted(lambda rates: np.ravel(counts(rates) - seen), start, options.rounds)
    error = np.abs(rates / RATES - 1).max()
    print(f"Fitted {np.round(rates, 3)}, true {RATES}: at most {error:.1%} apart.")
    return 0 if error < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
