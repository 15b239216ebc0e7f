"""Distributions of integers, with NumPy's names and arguments. They have no derivative."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.generated.tensor import Tensor
from gradsmith.random.noise import counts, noise, require
from gradsmith.runtime.tensors.factories.creation import as_size
from gradsmith.runtime.tensors.factories.random import as_generator_or_none
from gradsmith.runtime.tensors.factories.sources import numpy_generator
from gradsmith.runtime.tensors.queries import is_tensor

if TYPE_CHECKING:
    from gradsmith.random.noise import Parameter, Size
    from gradsmith.runtime.tensors.factories.random import Generator

__all__ = [
    "binomial", "bytes", "geometric", "hypergeometric", "logseries", "multinomial", "multivariate_hypergeometric",
    "negative_binomial", "poisson", "zipf",
]  # fmt: skip


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


def multinomial(n: Any, pvals: Any, size: Size = None, *, generator: Generator | None = None) -> Tensor:
    """How many of `n` trials have each of several outcomes, as int64.

    Parameters
    ----------
    n : int or Tensor
        Not negative.
    pvals : Tensor or array_like
        Probabilities of the outcomes, along the last dimension. The last one is taken to be what the others leave.
    size : int or tuple of int, optional
        Shape of the result without the dimension of outcomes; by default that of `n` and `pvals`.
    generator : Generator, optional
        The source of the numbers; the default one if not given.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        A number of trials is negative, or the probabilities are none.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.random.multinomial(10, [0.2, 0.3, 0.5]).sum()
    tensor(10)
    >>> gs.random.multinomial(10, [[1.0, 0.0], [0.0, 1.0]])
    tensor([[10,  0],
            [ 0, 10]])
    """
    trials, chances = _integers("multinomial", "n", n), _chances(pvals)
    require("multinomial", (trials >= 0).all(), "n < 0")
    shape = _batch_shape("multinomial", size, trials.shape, chances.shape[:-1])

    def draw(source: np.random.Generator, sizes: tuple[int, ...]) -> Any:
        return source.multinomial(trials, chances, sizes[:-1])

    return noise("multinomial", draw, (*shape, chances.shape[-1]), np.int64, generator=generator)


def multivariate_hypergeometric(
    colors: Any, nsample: int, size: Size = None, method: str = "marginals", *, generator: Generator | None = None
) -> Tensor:
    """How many things of each color there are among `nsample` that are taken out, as int64.

    Parameters
    ----------
    colors : Tensor or array_like
        How many things of each color there are: integers along one dimension.
    nsample : int
        How many are taken, at most as many as there are.
    size : int or tuple of int, optional
        Shape of the result without the dimension of colors.
    method : {"marginals", "count"}
        "count" takes memory for all things, and is fast for a few.
    generator : Generator, optional
        The source of the numbers; the default one if not given.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        A number is negative, more is taken than there is, or `method` is unknown.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.random.multivariate_hypergeometric([3, 0, 5], 8)
    tensor([3, 0, 5])
    """
    op = "multivariate_hypergeometric"
    things = _integers(op, "colors", colors)
    require(op, things.ndim == 1, f"colors must have one dimension, but has {things.ndim}")
    taken = _integers(op, "nsample", nsample)
    require(op, taken.ndim == 0, "nsample must be one number")
    require(op, method in ("marginals", "count"), f"method must be 'marginals' or 'count', not {method!r}")
    require(op, (things >= 0).all() and 0 <= taken <= things.sum(), "nsample is not from 0 to the sum of colors")
    require(op, things.sum() < 10**9 or method == "count", "the sum of colors is not less than 1,000,000,000")
    require(op, things.sum() < 10**8 or method == "marginals", "'count' is for fewer than 100,000,000 things")
    shape = _batch_shape(op, size, ())

    def draw(source: Any, sizes: tuple[int, ...]) -> Any:
        return source.multivariate_hypergeometric(things, int(taken), sizes[:-1], method=method)

    return noise(op, draw, (*shape, len(things)), np.int64, generator=generator)


def bytes(length: int, *, generator: Generator | None = None) -> Any:
    """Random bytes of a number, as Python's `bytes`."""
    count = _integers("bytes", "length", length)
    require("bytes", count.ndim == 0 and 0 <= count < 2**31, "length is not from 0 to 2**31 - 1")
    return numpy_generator(as_generator_or_none(generator, "bytes", "generator", 1)).bytes(int(count))


# ---- arguments


def _array(value: Any) -> Any:
    return value.detach().numpy() if is_tensor(value) else np.asarray(value)


def _integers(op: str, name: str, value: Any) -> Any:
    found = _array(value)
    if found.dtype.kind not in "iu":
        raise TypeError(f"{op}(): {name} must consist of integers, got {found.dtype}")
    return found.astype(np.int64)


def _chances(pvals: Any) -> Any:
    """Probabilities in double precision, the last one what the others leave, as NumPy takes it."""
    found = _array(pvals)
    if found.dtype.kind not in "fiu":
        raise TypeError(f"multinomial(): pvals must consist of real numbers, got {found.dtype}")
    require("multinomial", found.ndim > 0 and found.shape[-1] > 0, "pvals must have a last dimension with elements")
    rounding = 4 * found.shape[-1] * np.finfo(found.dtype if found.dtype.kind == "f" else np.float64).eps
    found = found.astype(np.float64)
    others = found[..., :-1]
    require("multinomial", ((found >= 0) & (found <= 1)).all(), "pvals < 0, pvals > 1 or pvals contains NaNs")
    require("multinomial", (others.sum(-1) <= 1 + rounding).all(), "sum(pvals[:-1]) > 1.0")
    others /= np.maximum(others.sum(-1, keepdims=True), 1)
    found[..., -1] = np.maximum(1 - others.sum(-1), 0)
    return found


def _batch_shape(op: str, size: Size, *given: tuple[int, ...]) -> tuple[int, ...]:
    shape = np.broadcast_shapes(*given)
    if size is None:
        return shape
    wanted = tuple(as_size(op, (size,), {}))
    if np.broadcast_shapes(shape, wanted) != wanted:
        raise ValueError(f"{op}(): parameters of shape {shape} do not broadcast to size {wanted}")
    return wanted


def _require_probability(op: str, p: Parameter) -> None:
    require(op, p >= 0, "p < 0")
    require(op, p <= 1, "p > 1")
