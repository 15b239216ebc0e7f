"""Random numbers as they are made of streams of bits, for the references of entries; see Note [Streams] there."""

from __future__ import annotations

import itertools
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..samples import Array, Shape

LANES, WARM_UP = 8, 18
PIECE = 1 << 18  # elements of one stream
STREAMS_FROM = 1024  # numbers; fewer are NumPy's


def kept_by_streams(generator: np.random.Generator, shape: Shape, chance: float) -> Array:
    """Mask that is true with a probability."""
    key, size = _key(generator), int(np.prod(shape))
    pieces = [_kept(key, i, min(PIECE, size - i * PIECE), chance) for i in range(-(-size // PIECE))]
    return np.concatenate([np.zeros(0, bool), *pieces]).reshape(shape)


def _key(generator: np.random.Generator) -> list[int]:
    return [int(word) for word in np.atleast_1d(generator.bit_generator.random_raw(2))]


def _kept(key: list[int], stream: int, size: int, chance: float) -> Array:
    threshold = int(chance * 2**64)
    if threshold == 1 << 64:
        return np.ones(size, bool)
    spare = _Lanes(key, [2**64 - 1 - stream])
    bits = _Lanes(key, range(stream * LANES, (stream + 1) * LANES)).words(-(-size // 4)).view(np.uint16)
    # The whole of the last tile is looked at, and a spare word drawn for what is undecided there.
    found = bits < threshold >> 48
    for place in np.flatnonzero(bits == threshold >> 48):
        found[place] = int(spare.words(1)[0]) >> 16 < threshold % 2**48
    return found[:size]


def _even(generator: np.random.Generator, shape: Shape) -> Array:
    """Numbers from 0 (included) to 1; many of them are made of streams."""
    size = int(np.prod(shape))
    if size < STREAMS_FROM:
        return np.asarray(generator.random(shape))
    key = _key(generator)
    pieces = [
        _Lanes(key, range(i * LANES, (i + 1) * LANES)).words(min(PIECE, size - i * PIECE))
        for i in range(-(-size // PIECE))
    ]
    return np.asarray((np.concatenate(pieces)[:size] >> np.uint64(11)) * 2.0**-53).reshape(shape)


class _Lanes:
    """Generators SFC64 whose words take turns."""

    def __init__(self, key: list[int], numbers: range | list[int]) -> None:
        self.c = np.array(list(numbers), np.uint64)
        self.a, self.b = (np.full_like(self.c, word) for word in key)
        self.count = np.uint64(1)
        for _ in range(WARM_UP):
            self.step()

    def step(self) -> Array:
        word: Array = self.a + self.b + self.count
        self.a, self.b = self.b ^ (self.b >> np.uint64(11)), self.c + (self.c << np.uint64(3))
        self.c = ((self.c << np.uint64(24)) | (self.c >> np.uint64(40))) + word
        self.count += np.uint64(1)
        return word

    def words(self, count: int) -> Array:
        steps = [self.step() for _ in range(-(-count // self.c.size))]
        return np.concatenate([np.zeros(0, np.uint64), *steps])


def gamma_rise_integral(order: int, a: Array, logarithm: Array) -> Array:
    """The derivative of the gamma distribution in its parameter, divided by x times the density.

    It is an integral of a function that is known in closed form, over logarithms below that of x or above it.
    """
    special = import_module("scipy.special")
    dtype = np.result_type(a, logarithm)
    with np.errstate(all="ignore"):
        a, end = np.broadcast_arrays(np.asarray(a, float), np.asarray(logarithm, float))
        side = np.where(end > special.digamma(a), 1.0, -1.0)
        x = np.exp(end)
        far = 60 / np.maximum(1e-9, np.abs(a - x) + np.sqrt(x))
        nodes, weights = np.polynomial.legendre.leggauss(60)
        total = np.zeros_like(a)
        cuts = [0, *np.geomspace(1e-10, 1, 31), 8]
        for low, high in itertools.pairwise(cuts):
            w = (far[..., None] * ((high - low) / 2 * nodes + (high + low) / 2)) * side[..., None]
            factor = w + (end - special.digamma(a))[..., None]
            if order == 2:
                factor = factor**2 - special.polygamma(1, a)[..., None]
            total += (
                far
                * (high - low)
                / 2
                * np.sum(weights * np.exp(a[..., None] * w - x[..., None] * np.expm1(w)) * factor, -1)
            )
        found = np.where(x == np.inf, np.nan, -side * total)
    return np.where(np.isfinite(a) & (a > 0) & ~np.isnan(end), found, np.nan).astype(dtype)


def drawn_by_numpy(generator: np.random.Generator, name: str, parameters: list[Array], size: Shape) -> Array:
    if name != "log_gamma":
        return np.asarray(getattr(generator, name)(*parameters, size=tuple(size)))
    (a,) = parameters
    a = np.broadcast_to(np.asarray(a, np.float64), tuple(size))
    logarithm: Any = np.log(generator.standard_gamma(a + (a < 1)))
    return np.asarray(logarithm - (a < 1) * generator.standard_exponential(tuple(size)) / a)


def places_by_weights(generator: np.random.Generator, weights: Array, count: int, replacement: bool = False) -> Array:
    rows = np.asarray(np.atleast_2d(weights), np.float64)
    if replacement:
        levels = _even(generator, (len(rows), count)) * rows.sum(1, keepdims=True)
        found = np.sum(np.cumsum(rows, 1)[:, None, :] <= levels[..., None], -1)
    else:
        found = np.argsort(generator.standard_exponential(rows.shape) / rows, 1)[:, :count]
    return np.asarray(found.reshape(*np.shape(weights)[:-1], count))


DEFINITIONS = (drawn_by_numpy, gamma_rise_integral, kept_by_streams, places_by_weights)
