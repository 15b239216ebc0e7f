"""Distributions under SciPy's names and with its parameters, differentiable in values and parameters.

>>> import gradsmith as gs
>>> loc = gs.tensor(0.5, requires_grad=True)
>>> gs.stats.norm.logpdf(2.0, loc, 1.0).backward()
>>> loc.grad
tensor(1.5000)

Arguments are tensors, arrays and numbers, results are tensors. Functions that are no functions of the op table, as the
quantiles of the gamma distribution, are not there.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradsmith.stats.continuous.exponentials import cauchy as cauchy
    from gradsmith.stats.continuous.exponentials import expon as expon
    from gradsmith.stats.continuous.exponentials import gumbel_r as gumbel_r
    from gradsmith.stats.continuous.exponentials import halfcauchy as halfcauchy
    from gradsmith.stats.continuous.exponentials import laplace as laplace
    from gradsmith.stats.continuous.exponentials import logistic as logistic
    from gradsmith.stats.continuous.exponentials import pareto as pareto
    from gradsmith.stats.continuous.exponentials import uniform as uniform
    from gradsmith.stats.continuous.exponentials import vonmises as vonmises
    from gradsmith.stats.continuous.exponentials import weibull_min as weibull_min
    from gradsmith.stats.continuous.gammas import beta as beta
    from gradsmith.stats.continuous.gammas import chi2 as chi2
    from gradsmith.stats.continuous.gammas import f as f
    from gradsmith.stats.continuous.gammas import gamma as gamma
    from gradsmith.stats.continuous.gammas import invgamma as invgamma
    from gradsmith.stats.continuous.gammas import t as t
    from gradsmith.stats.continuous.normals import halfnorm as halfnorm
    from gradsmith.stats.continuous.normals import lognorm as lognorm
    from gradsmith.stats.continuous.normals import norm as norm
    from gradsmith.stats.continuous.normals import skewnorm as skewnorm
    from gradsmith.stats.continuous.normals import truncnorm as truncnorm
    from gradsmith.stats.counts import bernoulli as bernoulli
    from gradsmith.stats.counts import binom as binom
    from gradsmith.stats.counts import geom as geom
    from gradsmith.stats.counts import nbinom as nbinom
    from gradsmith.stats.counts import poisson as poisson
    from gradsmith.stats.vectors import dirichlet as dirichlet
    from gradsmith.stats.vectors import multivariate_normal as multivariate_normal

_NAMES = {
    "continuous.exponentials": (
        "cauchy", "expon", "gumbel_r", "halfcauchy", "laplace", "logistic", "pareto", "uniform", "vonmises",
        "weibull_min",
    ),
    "continuous.gammas": ("beta", "chi2", "f", "gamma", "invgamma", "t"),
    "continuous.normals": ("halfnorm", "lognorm", "norm", "skewnorm", "truncnorm"),
    "counts": ("bernoulli", "binom", "geom", "nbinom", "poisson"),
    "vectors": ("dirichlet", "multivariate_normal"),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Import what is asked for on first use."""
    if name in _MODULE_OF:
        value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
