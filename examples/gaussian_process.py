"""Fit the kernel of a Gaussian process to data, and predict between the data.

    python examples/gaussian_process.py

The likelihood of some noisy measurements depends on the length over which the unknown function varies, on its size, and
on the noise. It is a plain function of NumPy's, and `gs.optimize` finds the three by its gradient; SciPy is needed.
The exit code is 0 when the prediction is closer to the truth than the noise, and 95 % intervals hold as they say.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import gradsmith as gs

NOISE = 0.15
INTERVAL = 1.96  # standard deviations around the mean that hold 95 %
Parameters = dict[str, float]


def truth(x: np.ndarray) -> np.ndarray:
    return np.sin(3 * x) + 0.5 * x


def measurements(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Places from 0 to 5, and what was measured there."""
    random = np.random.default_rng(seed)
    x = np.sort(random.uniform(0, 5, count))
    return x, truth(x) + NOISE * random.standard_normal(count)


# ---- the model


def kernel(logs: Parameters, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Covariance of the function at two sets of places: near ones are alike."""
    distance = (x[:, None] - y[None, :]) / np.exp(logs["length"])
    return np.exp(2 * logs["size"] - 0.5 * distance**2)


def noisy(logs: Parameters, x: np.ndarray) -> np.ndarray:
    """Covariance of measurements."""
    return kernel(logs, x, x) + np.exp(2 * logs["noise"]) * np.eye(len(x))


def surprise(logs: Parameters, x: np.ndarray, y: np.ndarray) -> float:
    """Negative logarithm of the likelihood of measurements `y`."""
    factor = np.linalg.cholesky(noisy(logs, x))
    white = np.linalg.solve(factor, y)
    return 0.5 * np.sum(white**2) + np.sum(np.log(np.diagonal(factor))) + 0.5 * len(x) * np.log(2 * np.pi)


def prediction(logs: Parameters, x: np.ndarray, y: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of the function at other places."""
    across = kernel(logs, places, x)
    weights = np.linalg.solve(noisy(logs, x), across.T)
    variance = np.diagonal(kernel(logs, places, places)) - np.sum(across * weights.T, axis=1)
    return weights.T @ y, np.sqrt(variance)


# ---- the program


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Fit a Gaussian process.")
    parser.add_argument("--count", type=int, default=60, help="measurements")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)

    x, y = measurements(options.count, options.seed)
    start = {"length": 0.0, "size": 0.0, "noise": -1.0}
    fitted = gs.optimize.minimize(surprise, start, args=(x, y))
    print(f"{options.count} measurements, {fitted.nit} steps of BFGS:")
    for name, value in fitted.x.items():
        print(f"   {name:7} {np.exp(value):6.3f}")

    places = np.linspace(0.2, 4.8, 200)
    mean, deviation = prediction(fitted.x, x, y, places)
    error = np.sqrt(np.mean((mean - truth(places)) ** 2))
    inside = np.mean(np.abs(mean - truth(places)) < INTERVAL * deviation)
    print(
        f"Error of the mean {error:.3f}, of one measurement {NOISE}; {inside:.0%} of the truth is in the 95 % interval."
    )
    return 0 if error < NOISE and inside > 0.8 and fitted.success else 1


if __name__ == "__main__":
    sys.exit(main())
