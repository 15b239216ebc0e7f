"""Distributions of integers, with NumPy's names and arguments. They have no derivative."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradsmith.generated.tensor import Tensor
from gradsmith.random.noise import counts, require

if TYPE_CHECKING:
    from gradsmith.random.noise import Parameter, Size
    from gradsmith.runtime.tensors.factories.random import Generator

__all__ = ["binomial", "geometric", "hypergeometric", "logseries", "negative_binomial", "poisson", "zipf"]


def poisson(lam: Parameter = 1.0, size: Size = None, *, generator: Generator | None = None) -> Tensor:
    """How many events there are where `lam` are expected, as int64.

    Parameters
    ----------
    lam : float or Tensor
        Not negative.
    size : int or tuple of int, optional
        Shape of the result; that of the parameter by default.
    generator : Generator, optional
        The source of the numbers; the default one if not given.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        A parameter is negative.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.random.poisson(3.0, (2, 4)).shape
    (2, 4)
    """
    require("poisson", lam >= 0, "lam < 0")
    return counts("poisson", "poisson", size, lam, generator=generator)


def binomial(n: Parameter, p: Parameter, size: Size = None, *, generator: Generator | None = None) -> Tensor:
    """How many of `n` trials succeed with probability `p`."""
    require("binomial", n >= 0, "n < 0")
    _require_probability("binomial", p)
    return counts("binomial", "binomial", size, n, p, generator=generator)


def negative_binomial(n: Parameter, p: Parameter, size: Size = None, *, generator: Generator | None = None) -> Tensor:
    """How many trials of probability `p` fail before `n` have succeeded."""
    require("negative_binomial", n > 0, "n <= 0")
    _require_probability("negative_binomial", p)
    return counts("negative_binomial", "negative_binomial", size, n, p, generator=generator)


def geometric(p: Parameter, size: Size = None, *, generator: Generator | None = None) -> Tensor:
    """How many trials of probability `p` it takes until one succeeds."""
    require("geometric", p > 0, "p <= 0")
    _require_probability("geometric", p)
    return counts("geometric", "geometric", size, p, generator=generator)


def hypergeometric(
    ngood: Parameter, nbad: Parameter, nsample: Parameter, size: Size = None, *, generator: Generator | None = None
) -> Tensor:
    """How many of `nsample` things are good that are taken out of `ngood` good and `nbad` bad ones."""
    return counts("hypergeometric", "hypergeometric", size, ngood, nbad, nsample, generator=generator)


def logseries(p: Parameter, size: Size = None, *, generator: Generator | None = None) -> Tensor:
    """Positive integers k with probabilities in proportion to ``p^k / k``."""
    require("logseries", p < 1, "p >= 1")
    require("logseries", p >= 0, "p < 0")
    return counts("logseries", "logseries", size, p, generator=generator)


def zipf(a: Parameter, size: Size = None, *, generator: Generator | None = None) -> Tensor:
    """Positive integers k with probabilities in proportion to ``k^-a``."""
    require("zipf", a > 1, "a <= 1")
    return counts("zipf", "zipf", size, a, generator=generator)


def _require_probability(op: str, p: Parameter) -> None:
    require(op, p >= 0, "p < 0")
    require(op, p <= 1, "p > 1")
