"""Numbers of distributions whose parameters are arrays, by NumPy's generator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data, has_no_data
from gradsmith.runtime.arrays.functions.draws.bits import fill_even, uninitialised
from gradsmith.runtime.arrays.functions.draws.categories import categories_at

Array = np.ndarray[Any, Any]

COUNTS = frozenset({"poisson", "binomial", "negative_binomial", "geometric", "hypergeometric", "zipf", "logseries"})
STREAMS_FROM = 1024  # numbers
NUMBERS = frozenset({"vonmises", "log_gamma"})


def counted_by_of(first: Array, more: Sequence[Array], name: str, size: Sequence[int], generator: Any) -> Array:
    """Integers of the distribution `name` with these parameters, which are broadcast to `size`."""
    if name not in COUNTS:
        raise RuntimeError(f"counted_by(): NumPy has no distribution {name!r} of integers")
    return _drawn([first, *more], name, size, generator, np.dtype(np.int64))


def drawn_by_of(parameter: Array, name: str, size: Sequence[int], generator: Any) -> Array:
    """Real numbers likewise, of distributions with one parameter; directions are those around zero."""
    if name not in NUMBERS:
        raise RuntimeError(f"drawn_by(): NumPy has no distribution {name!r} of real numbers")
    given = [np.zeros_like(parameter), parameter] if name == "vonmises" else [parameter]
    return _drawn(given, name, size, generator, np.dtype(np.float64))


def _drawn(parameters: list[Array], name: str, size: Sequence[int], generator: Any, dtype: Any) -> Array:
    if any(map(has_no_data, parameters)):
        return array_without_data(tuple(size), dtype)
    draw: Any = _log_gamma if name == "log_gamma" else getattr(type(generator), name)
    try:
        return np.asarray(draw(generator, *parameters, tuple(size)), dtype)
    except ValueError as error:
        raise RuntimeError(f"{name}(): {error}") from None


def _log_gamma(generator: Any, a: Array, size: tuple[int, ...]) -> Array:
    """Logarithms of gamma numbers: that of a + 1 plus log(u) / a, of any size, where a is less than one.

    Source: Marsaglia and Tsang, A Simple Method for Generating Gamma Variables, 2000, section 6.
    """
    a = np.broadcast_to(a.astype(np.float64), size)
    small = a < 1
    with np.errstate(divide="ignore"):
        found = np.log(generator.standard_gamma(np.where(small, a + 1, a)))
        return np.asarray(np.where(small, found - generator.standard_exponential(size) / a, found))


def multinomial_of(weights: Array, num_samples: int, replacement: bool, generator: Any) -> Array:
    """Places drawn with the probabilities that weights have in each row, with or without repetition."""
    shape = (*weights.shape[:-1], num_samples)
    if has_no_data(weights):
        return array_without_data(shape, np.dtype(np.int64))
    rows = weights.reshape(-1, weights.shape[-1])
    if replacement:
        return np.asarray(categories_at(rows, _levels((rows.shape[0], num_samples), generator)).reshape(shape))
    rows = rows.astype(np.float64)
    _expect_weights(rows)
    with np.errstate(divide="ignore", invalid="ignore"):  # what weighs nothing comes last, in its order
        times = generator.standard_exponential(rows.shape) / rows
    return _first_places(times, num_samples).reshape(shape)


def _first_places(times: Array, count: int) -> Array:
    """Where the first ones of each row are, in their order; equal ones in that of their places."""
    size = times.shape[1]
    if not 0 < count <= size // 8:
        return np.argsort(times, axis=1, kind="stable")[:, :count]
    found = np.empty((times.shape[0], count), np.int64)
    for row, last in enumerate(np.partition(times, count - 1, axis=1)[:, count - 1]):
        places = np.flatnonzero(times[row] <= last)
        found[row] = places[np.argsort(times[row][places], kind="stable")[:count]]
    return found


def _levels(shape: tuple[int, int], generator: Any) -> Array:
    """Numbers from 0 (included) to 1; many of them from streams of bits."""
    if shape[0] * shape[1] < STREAMS_FROM:
        return np.asarray(generator.random(shape))
    levels = uninitialised(shape, np.dtype(np.float64))
    fill_even(generator, levels)
    return levels


def _expect_weights(rows: Array) -> None:
    if not np.all(np.isfinite(rows) & (rows >= 0)):
        raise RuntimeError("multinomial(): probability tensor contains either `inf`, `nan` or element < 0")
    if np.any(rows.sum(axis=1) <= 0):
        raise RuntimeError("multinomial(): invalid multinomial distribution (sum of probabilities <= 0)")
