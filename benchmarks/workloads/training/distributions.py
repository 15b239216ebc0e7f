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


SAMPLED: dict[
    str, tuple[str, int, bool]
] = {  # a distribution, how many samples, whether parameters are rows of their own
    "Normal": ("Normal", 2, True),
    "Gamma": ("Gamma", 2, True),
    "Dirichlet": ("Dirichlet", 1, True),
    "Categorical": ("Categorical", 1, True),
    "Categorical, one row": ("Categorical", 1, False),
}


def sampled(name: str, count: int) -> Builders:
    """Samples of parameters that are broadcast to all of them."""
    kind, n_parameters, has_rows = SAMPLED[name]
    shape = (100, 10) if has_rows else (10,)
    parameters = [np.random.default_rng(seed).uniform(0.1, 2, shape).astype(np.float32) for seed in range(n_parameters)]

    def build(lib: Any) -> Run:
        distribution = getattr(lib.distributions, kind)(*(lib.tensor(array) for array in parameters))
        return lambda: distribution.sample((count,))

    return uncompared(build)


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
    for name in SAMPLED:
        yield Case(f"{name}.sample", sampled, (name, 1000), (name, 3), must="torch 1.0", rounds=7)
