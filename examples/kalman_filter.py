"""Estimate a model of a time series by maximum likelihood, through a Kalman filter.

    python examples/kalman_filter.py

A hidden number decays by some factor at each step and is pushed at random; what is seen of it is noisy. A Kalman filter
gives the likelihood of all that was seen. Its gradient and Hessian by the three unknowns find the estimate, and the
Hessian there gives the standard errors; SciPy is needed. The exit code is 0 when the truth is within three of them.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import gradsmith as gs
from gradsmith import func

DECAY, PUSH, NOISE = 0.9, 0.5, 0.8
NAMES = ("decay", "push", "noise")


def series(length: int, seed: int) -> np.ndarray:
    """What is seen of the hidden number."""
    random = np.random.default_rng(seed)
    hidden, seen = 0.0, []
    for push, noise in random.standard_normal((length, 2)):
        hidden = DECAY * hidden + PUSH * push
        seen.append(hidden + NOISE * noise)
    return np.array(seen)


def natural(unknown: np.ndarray) -> np.ndarray:
    """Decay between -1 and 1, and two positive deviations, of three numbers without limits."""
    return np.stack([np.tanh(unknown[0]), np.exp(unknown[1]), np.exp(unknown[2])])


def surprise(parameters: np.ndarray, seen: np.ndarray) -> float:
    """Negative logarithm of the likelihood: the filter predicts each value, and is corrected by it."""
    decay, push, noise = parameters[0], parameters[1], parameters[2]
    mean, variance = 0.0, push**2 / (1 - decay**2)
    total = 0.0
    for value in seen:
        spread = variance + noise**2
        error = value - mean
        total = total + 0.5 * (np.log(2 * np.pi * spread) + error**2 / spread)
        gain = variance / spread
        mean = decay * (mean + gain * error)
        variance = decay**2 * (1 - gain) * variance + push**2
    return total


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Estimate a state-space model by maximum likelihood.")
    parser.add_argument("--length", type=int, default=500, help="steps of the time series")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)

    seen = series(options.length, options.seed)
    found = gs.optimize.minimize(
        lambda unknown: surprise(natural(unknown), seen), [0.5, 0.0, 0.0], method="trust-exact"
    )
    estimate = natural(found.x)
    information = func.hessian(lambda parameters: surprise(parameters, seen))(estimate)
    deviations = np.sqrt(np.diagonal(np.linalg.inv(information)))

    print(f"{options.length} steps, {found.nit} iterations of Newton's method, likelihood {-found.fun:.3f}:")
    away = (estimate - [DECAY, PUSH, NOISE]) / deviations
    for name, value, deviation, true in zip(NAMES, estimate, deviations, (DECAY, PUSH, NOISE)):
        print(f"   {name:6} {value:6.3f} ± {deviation:.3f}   true {true}")
    print(f"The truth is {np.abs(away).max():.1f} standard errors away.")
    return 0 if found.success and np.abs(away).max() < 3 else 1


if __name__ == "__main__":
    sys.exit(main())
