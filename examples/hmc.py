"""Sample the weights of a linear model by Hamiltonian Monte Carlo, and compare with the posterior that is known.

    python examples/hmc.py

The logarithm of the posterior is a plain function of NumPy's of one vector of weights; `gs.vmap` of its `gs.grad` moves
many chains at once. Weights are Gaussian here, so that the true mean and covariance have a formula. The exit code is 0
when those of the samples agree with it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np

import gradsmith as gs

NOISE = 0.5  # of the data; the prior of each weight has deviation 1
STEP, LEAPS = 0.06, 12
CHAINS = 64
Gradient = Callable[[np.ndarray], np.ndarray]


# ---- the posterior


def data() -> tuple[np.ndarray, np.ndarray]:
    """Inputs of a cubic polynomial, and its values with noise."""
    random = np.random.default_rng(1)
    x = random.uniform(-1, 1, 40)
    powers = np.stack([x**0, x, x**2, x**3], axis=1)
    return powers, powers @ [0.5, -1.0, 0.3, 0.8] + NOISE * random.standard_normal(40)


def log_posterior(weights: np.ndarray, inputs: np.ndarray, outputs: np.ndarray) -> float:
    """Up to a constant."""
    misfit = (outputs - inputs @ weights) / NOISE
    return -0.5 * np.sum(misfit**2) - 0.5 * np.sum(weights**2)


def exact(inputs: np.ndarray, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviations of the posterior, by its formula."""
    covariance = np.linalg.inv(inputs.T @ inputs / NOISE**2 + np.eye(inputs.shape[1]))
    return covariance @ inputs.T @ outputs / NOISE**2, np.sqrt(np.diag(covariance))


# ---- the sampler


def leapfrog(place: np.ndarray, momentum: np.ndarray, slope: Gradient, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Follow Hamilton's equations for a while: half a step of the momenta, steps of both in turn, half a step."""
    momentum = momentum + 0.5 * step * slope(place)
    for leap in range(LEAPS):
        place = place + step * momentum
        momentum = momentum + (step if leap < LEAPS - 1 else 0.5 * step) * slope(place)
    return place, momentum


def sample(
    density: Callable[[np.ndarray], float], start: np.ndarray, count: int, random: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Samples of all chains, (count, chains, weights), and which part of the proposals was accepted."""
    slope, height = gs.vmap(gs.grad(density)), gs.vmap(density)
    place, kept, accepted = start, [], 0.0
    for _ in range(count):
        momentum = random.standard_normal(place.shape)
        step = STEP * random.uniform(0.7, 1.3)  # with one length, what swings once in it would never move
        there, arrived = leapfrog(place, momentum, slope, step)
        gain = height(there) - height(place) - 0.5 * np.sum(arrived**2 - momentum**2, axis=1)
        is_taken = np.log(random.random(len(place))) < gain
        place = np.where(is_taken[:, None], there, place)
        kept.append(place)
        accepted += is_taken.mean() / count
    return np.stack(kept), accepted


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Sample a posterior by Hamiltonian Monte Carlo.")
    parser.add_argument("--count", type=int, default=300, help="samples of each chain")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)

    inputs, outputs = data()
    start, random = np.zeros((CHAINS, inputs.shape[1])), np.random.default_rng(options.seed)
    samples, accepted = sample(lambda weights: log_posterior(weights, inputs, outputs), start, options.count, random)
    drawn = samples[options.count // 5 :].reshape(-1, inputs.shape[1])
    mean, deviation = exact(inputs, outputs)

    print(f"{CHAINS} chains of {options.count} samples, {accepted:.0%} accepted")
    print("   weight   sampled mean     exact   sampled deviation     exact")
    for n, (m, d) in enumerate(zip(drawn.mean(0), drawn.std(0))):
        print(f"   {n:6}   {m:12.3f} {mean[n]:9.3f}   {d:17.3f} {deviation[n]:9.3f}")
    error = max(np.abs(drawn.mean(0) - mean).max(), np.abs(drawn.std(0) - deviation).max())
    print(f"They differ by {error:.3f} at most.")
    return 0 if error < 0.03 and accepted > 0.8 else 1


if __name__ == "__main__":
    sys.exit(main())
