"""The distribution `dirichlet`."""

from typing import Any

from gradsmith.compat.hips.scipy.stats.distributions import function_of


def __getattr__(name: str) -> Any:
    return function_of("dirichlet", name)
