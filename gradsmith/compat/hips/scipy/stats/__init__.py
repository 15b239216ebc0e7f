"""Distributions of `gradsmith.stats` for arrays and boxes: modules of HIPS autograd, and all others as objects."""

from __future__ import annotations

import importlib
from typing import Any

from gradsmith.compat.hips.scipy.stats.distributions import Distribution

MODULES = ("beta", "chi2", "dirichlet", "gamma", "multivariate_normal", "norm", "poisson", "t")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    if name in MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    return Distribution(name)
