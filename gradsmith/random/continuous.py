"""Continuous distributions with NumPy's names and arguments; results have gradients in the parameters.

Each is a function of its parameters and of noise that does not depend on them, and so has the derivatives of that
function (Kingma and Welling, Auto-Encoding Variational Bayes, 2014).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gradsmith.generated import exp, expm1, remainder, sqrt, square, where
from gradsmith.generated.tensor import Tensor
from gradsmith.random.noise import noise, numbers, parameters, require

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from gradsmith.random.noise import Parameter, Size
    from gradsmith.runtime.tensors.factories.random import Generator

__all__ = [
    "exponential", "gumbel", "laplace", "logistic", "lognormal", "normal", "pareto", "power", "random", "rayleigh",
    "standard_cauchy", "standard_exponential", "standard_normal", "triangular", "uniform", "vonmises", "wald",
    "weibull",
]  # fmt: skip


def _of_noise(
    op: str, method: str, size: Size, given: tuple[Any, ...], dtype: Any, generator: Any
) -> tuple[list[Any], Tensor]:
    """The parameters, and noise of the shape of the result."""
    values, shape, found = parameters(op, size, *given, dtype=dtype)
    return values, noise(op, method, shape, found, generator=generator)


def random(size: Size = None, *, dtype: DTypeLike | None = None, generator: Generator | None = None) -> Tensor:
    """Numbers drawn evenly from 0 (included) to 1."""
    return _of_noise("random", "random", size, (), dtype, generator)[1]


def standard_normal(size: Size = None, *, dtype: DTypeLike | None = None, generator: Generator | None = None) -> Tensor:
    """Normal numbers of mean 0 and variance 1."""
    return _of_noise("standard_normal", "standard_normal", size, (), dtype, generator)[1]


def standard_exponential(
    size: Size = None, *, dtype: DTypeLike | None = None, generator: Generator | None = None
) -> Tensor:
    """Exponential numbers of mean 1."""
    return _of_noise("standard_exponential", "standard_exponential", size, (), dtype, generator)[1]


def standard_cauchy(size: Size = None, *, dtype: DTypeLike | None = None, generator: Generator | None = None) -> Tensor:
    """Cauchy's distribution around 0 of scale 1."""
    return _of_noise("standard_cauchy", "standard_cauchy", size, (), dtype, generator)[1]


def _located(op: str, method: str, loc: Any, scale: Any, size: Size, dtype: Any, generator: Any) -> Tensor:
    require(op, scale >= 0, "scale < 0")
    (loc, scale), drawn = _of_noise(op, method, size, (loc, scale), dtype, generator)
    found: Tensor = drawn * scale + loc
    return found


def normal(
    loc: Parameter = 0.0, scale: Parameter = 1.0, size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Normal numbers of a mean and a standard deviation; other than `gs.normal` with gradients in both.

    Parameters
    ----------
    loc, scale : float or Tensor
        Mean and standard deviation.
    size : int or tuple of int, optional
        Shape of the result; that to which the parameters broadcast by default.
    dtype : dtype, optional
        A floating one; by default that of the parameters.
    generator : Generator, optional
        The source of the numbers; the default one if not given.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        A standard deviation is negative.

    Examples
    --------
    >>> import gradsmith as gs
    >>> mean = gs.zeros(3, requires_grad=True)
    >>> gs.random.normal(mean, 2.0, (5, 3)).sum().backward()
    >>> mean.grad
    tensor([5., 5., 5.])
    """
    return _located("normal", "standard_normal", loc, scale, size, dtype, generator)


def laplace(
    loc: Parameter = 0.0, scale: Parameter = 1.0, size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Laplace's distribution, exponential to both sides of `loc`; parameters as those of `normal`."""
    return _located("laplace", "laplace", loc, scale, size, dtype, generator)


def logistic(
    loc: Parameter = 0.0, scale: Parameter = 1.0, size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Numbers whose distribution is the logistic function; parameters as those of `normal`."""
    return _located("logistic", "logistic", loc, scale, size, dtype, generator)


def gumbel(
    loc: Parameter = 0.0, scale: Parameter = 1.0, size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Gumbel's distribution of maxima; parameters as those of `normal`."""
    return _located("gumbel", "gumbel", loc, scale, size, dtype, generator)


def uniform(
    low: Parameter = 0.0, high: Parameter = 1.0, size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Numbers drawn evenly from `low` to `high`."""
    require("uniform", high - low >= 0, "high < low")
    (low, high), drawn = _of_noise("uniform", "random", size, (low, high), dtype, generator)
    return drawn * (high - low) + low


def lognormal(
    mean: Parameter = 0.0, sigma: Parameter = 1.0, size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Numbers whose logarithms are normal, of that mean and standard deviation."""
    return exp(_located("lognormal", "standard_normal", mean, sigma, size, dtype, generator))


def exponential(
    scale: Parameter = 1.0, size: Size = None, *, dtype: DTypeLike | None = None, generator: Generator | None = None
) -> Tensor:
    """Exponential numbers of mean `scale`."""
    return _located("exponential", "standard_exponential", 0.0, scale, size, dtype, generator)


def rayleigh(
    scale: Parameter = 1.0, size: Size = None, *, dtype: DTypeLike | None = None, generator: Generator | None = None
) -> Tensor:
    """Lengths of pairs of normal numbers with standard deviation `scale`."""
    require("rayleigh", scale >= 0, "scale < 0")
    (scale,), drawn = _of_noise("rayleigh", "standard_exponential", size, (scale,), dtype, generator)
    return sqrt(drawn * 2) * scale


def weibull(
    a: Parameter, size: Size = None, *, dtype: DTypeLike | None = None, generator: Generator | None = None
) -> Tensor:
    """Exponential numbers to the power of ``1 / a``."""
    require("weibull", a > 0, "a <= 0")
    (a,), drawn = _of_noise("weibull", "standard_exponential", size, (a,), dtype, generator)
    return drawn ** (1 / a)


def pareto(
    a: Parameter, size: Size = None, *, dtype: DTypeLike | None = None, generator: Generator | None = None
) -> Tensor:
    """Pareto's second distribution, from 0 on, whose tail falls as the power ``-a``."""
    require("pareto", a > 0, "a <= 0")
    (a,), drawn = _of_noise("pareto", "standard_exponential", size, (a,), dtype, generator)
    return expm1(drawn / a)


def power(
    a: Parameter, size: Size = None, *, dtype: DTypeLike | None = None, generator: Generator | None = None
) -> Tensor:
    """Numbers from 0 to 1 whose density is the power ``a - 1``."""
    require("power", a > 0, "a <= 0")
    (a,), drawn = _of_noise("power", "standard_exponential", size, (a,), dtype, generator)
    return exp(-drawn / a)


def triangular(
    left: Parameter, mode: Parameter, right: Parameter, size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Numbers whose density rises from `left` to `mode` and falls from there to `right`, along straight lines."""
    require("triangular", mode - left >= 0, "left > mode")
    require("triangular", right - mode >= 0, "mode > right")
    require("triangular", right - left > 0, "left == right")
    (left, mode, right), u = _of_noise("triangular", "random", size, (left, mode, right), dtype, generator)
    rises = u * (right - left) < mode - left
    square_of_step = where(rises, u * (mode - left), (1 - u) * (right - mode)) * (right - left)
    step = sqrt(square_of_step)
    return where(rises, step + left, right - step)


def vonmises(
    mu: Parameter, kappa: Parameter, size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Angles around `mu`, the nearer the greater `kappa`; the gradient is that in `mu`."""
    require("vonmises", kappa >= 0, "kappa < 0")
    _, shape, found = parameters("vonmises", size, mu, kappa, dtype=dtype)
    turn = numbers("vonmises", "vonmises", shape, kappa, generator=generator).to(found)
    return remainder(turn + mu + math.pi, 2 * math.pi) - math.pi


def wald(
    mean: Parameter, scale: Parameter, size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """The inverse Gaussian distribution.

    Its number solves ``scale * (x - mean)^2 / (mean^2 * x) = z^2`` with a normal z; the gradient in both parameters is
    that of the solution with z kept (Michael, Schucany and Haas, 1976).
    """
    require("wald", mean > 0, "mean <= 0")
    require("wald", scale > 0, "scale <= 0")
    (mean, scale), z = _of_noise("wald", "standard_normal", size, (mean, scale), dtype, generator)
    u = noise("wald", "random", z.shape, z.dtype, generator=generator)
    half = square(z) * mean / (scale * 2)
    # The smaller solution as the inverse of the greater one: no difference of large numbers.
    greater = 1 + half + sqrt(half * (half + 2))
    return where(u * (1 + greater) <= greater, mean / greater, greater * mean)
