"""Distributions made of two parameters: log densities, samples, divergences, and the way back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...cases import Builders, Case, Run
from ...contestants.eager import eager, uncompared
from ..data import pair


def log_density(name: str, n: int) -> Builders:
    """A distribution is made, and its log density at n values differentiated in two parameters."""
    values = np.random.default_rng(1).uniform(0.1, 0.9, n).astype(np.float32)

    def build(lib: Any, a: Any, b: Any) -> Run:
        x, kind = lib.tensor(values), getattr(lib.distributions, name)
        return lambda: kind(a, b, validate_args=False).log_prob(x).sum().backward()

    return eager(build, *pair(n))


def drawn_with_gradients(name: str, n: int) -> Builders:
    """n reparameterised samples, and the way back to two parameters."""

    def build(lib: Any, a: Any, b: Any) -> Run:
        kind = getattr(lib.distributions, name)
        return lambda: kind(a, b, validate_args=False).rsample().sum().backward()

    return uncompared(build, *pair(n))


def variational_step(n: int) -> Builders:
    """A sample and a divergence from the prior, as in an autoencoder, and the way back."""

    def build(lib: Any, a: Any, b: Any) -> Run:
        normal = lib.distributions.Normal
        prior = normal(lib.zeros(n), lib.ones(n))

        def step() -> None:
            found = normal(a, b, validate_args=False)
            divergence = lib.distributions.kl_divergence(found, prior)
            (found.rsample().sum() + divergence.sum()).backward()

        return step

    return uncompared(build, *pair(n))


def rows() -> Iterator[Case]:
    yield Case("Normal, log_prob fwd+bwd, 10", log_density, ("Normal", 10), must="torch 1/8")
    yield Case("Normal, log_prob fwd+bwd, 1e5", log_density, ("Normal", 10**5), ("Normal", 20), must="torch 0.50")
    yield Case("Beta, log_prob fwd+bwd, 10", log_density, ("Beta", 10), must="torch 1")
    yield Case("Normal, sample and divergence, 10", variational_step, (10,), must="torch 1/4")
    yield Case("Normal, sample and divergence, 1e5", variational_step, (10**5,), (20,))
    yield Case("Gamma, rsample fwd+bwd, 1e5", drawn_with_gradients, ("Gamma", 10**5), ("Gamma", 20))
