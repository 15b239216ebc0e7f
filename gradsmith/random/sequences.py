"""Choices, permutations and vectors, with NumPy's names and arguments."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradsmith.autograd.grad_mode import no_grad
from gradsmith.generated import matmul
from gradsmith.generated.decompositions import linalg_cholesky
from gradsmith.generated.tensor import Tensor
from gradsmith.random.continuous import standard_normal
from gradsmith.random.noise import floating, noise
from gradsmith.runtime.tensors.factories.creation import as_size, as_tensor
from gradsmith.runtime.tensors.factories.random import randint, randperm
from gradsmith.runtime.tensors.queries import is_tensor

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from gradsmith.random.noise import Size
    from gradsmith.runtime.tensors.factories.random import Generator

__all__ = ["choice", "integers", "multivariate_normal", "permutation", "permuted", "shuffle"]


def integers(
    low: int, high: int | None = None, size: Size = None, dtype: DTypeLike = np.int64, endpoint: bool = False, *,
    generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Integers drawn evenly from `low` to `high`, excluded unless `endpoint`; one bound alone is the upper one."""
    first, last = (0, low) if high is None else (low, high)
    shape = () if size is None else as_size("integers", (size,), {})
    return randint(first, last + bool(endpoint), tuple(shape), dtype=dtype, generator=generator)


def choice(
    a: Tensor | int, size: Size = None, replace: bool = True, p: Tensor | Sequence[float] | None = None, axis: int = 0,
    shuffle: bool = True, *, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Slices of a tensor, or integers below a number, drawn evenly or with probabilities.

    Parameters
    ----------
    a : Tensor or int
        What is drawn from, along `axis`; slices have the gradient of the slices of `a`.
    size : int or tuple of int, optional
        How many; one by default.
    replace : bool, default True
        May one be drawn more than once.
    p : Tensor, optional
        A probability for each; by default they are equal.
    axis : int, default 0
    shuffle : bool, default True
        Without replacement, give them in random order.
    generator : Generator, optional
        The source of the numbers; the default one if not given.

    Returns
    -------
    Tensor

    Raises
    ------
    ValueError
        There are fewer than are wanted without replacement, or `p` is no distribution over them.

    Examples
    --------
    >>> import gradsmith as gs
    >>> sorted(gs.random.choice(5, 5, replace=False).tolist())
    [0, 1, 2, 3, 4]
    """
    count = a.shape[axis] if is_tensor(a) else operator.index(a)
    shape = () if size is None else tuple(as_size("choice", (size,), {}))
    chances = None if p is None else np.asarray(p.detach().numpy() if is_tensor(p) else p, np.float64)

    def draw(source: np.random.Generator, sizes: tuple[int, ...]) -> Any:
        if sizes == shape or replace:
            return source.choice(count, sizes, replace, chances, shuffle=shuffle)
        batches = int(np.prod(sizes[: len(sizes) - len(shape)]))
        rows = [source.choice(count, shape, replace, chances, shuffle=shuffle) for _ in range(batches)]
        return np.reshape(rows, sizes)

    places = noise("choice", draw, shape, np.int64, generator=generator)
    if not is_tensor(a):
        return places
    found = a.index_select(axis, places.reshape(-1))
    dim = axis % a.ndim
    return found.reshape(*a.shape[:dim], *shape, *a.shape[dim + 1 :])


def permutation(x: Tensor | int, axis: int = 0, *, generator: Generator | None = None) -> Tensor:
    """The slices of a tensor in random order along an axis, with their gradients; or the integers below a number."""
    if not is_tensor(x):
        return randperm(operator.index(x), generator=generator)
    return x.index_select(axis, randperm(x.shape[axis], generator=generator))


def permuted(x: Tensor, *, axis: int | None = None, generator: Generator | None = None) -> Tensor:
    """The elements of each row along an axis in an order of its own; without one, all elements."""
    if axis is None:
        return permutation(x.reshape(-1), generator=generator).reshape(x.shape)
    even = noise("permuted", "random", x.shape, np.float64, generator=generator)
    return x.gather(axis, even.argsort(axis))


def shuffle(x: Tensor, axis: int = 0, *, generator: Generator | None = None) -> None:
    """Put the slices of a tensor into random order along an axis, in place."""
    if not is_tensor(x):
        raise TypeError(f"shuffle(): argument 'x' must be Tensor, not {type(x).__name__}")
    with no_grad():
        order = randperm(x.shape[axis], generator=generator)
    x.copy_(x.index_select(axis, order))


def multivariate_normal(
    mean: Tensor | Sequence[float], cov: Tensor | Sequence[Sequence[float]], size: Size = None, *,
    dtype: DTypeLike | None = None, generator: Generator | None = None,
) -> Tensor:  # fmt: skip
    """Normal vectors of a mean and a positive definite covariance, by its Cholesky factor.

    Parameters
    ----------
    mean : Tensor
        Of shape (n,).
    cov : Tensor
        Of shape (n, n).
    size : int or tuple of int, optional
        Shape before the last dimension; none by default.
    dtype, generator
        As those of `normal`.

    Returns
    -------
    Tensor
        Of shape (*size, n), with gradients in both parameters.

    Raises
    ------
    ValueError
        The shapes do not fit each other.
    """
    mean, cov = (value if is_tensor(value) else as_tensor(value, dtype=dtype) for value in (mean, cov))
    if mean.ndim != 1 or tuple(cov.shape) != (mean.shape[0],) * 2:
        raise ValueError(
            f"multivariate_normal(): a mean of shape {tuple(mean.shape)} and a covariance of shape {tuple(cov.shape)} "
            "do not fit: they are (n,) and (n, n)"
        )
    found = floating("multivariate_normal", dtype, mean, cov)
    before = () if size is None else tuple(as_size("multivariate_normal", (size,), {}))
    z = standard_normal((*before, mean.shape[0]), dtype=found, generator=generator)
    return matmul(z, linalg_cholesky(cov.to(found)).mT) + mean
