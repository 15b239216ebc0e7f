"""Random numbers as they are made of streams of bits, for the references of entries; see Note [Streams] there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..samples import Array, Shape

LANES, WARM_UP = 8, 18
PIECE = 1 << 18  # elements of one stream


def kept_by_streams(generator: np.random.Generator, shape: Shape, chance: float) -> Array:
    """Mask that is true with a probability."""
    key = [int(word) for word in np.atleast_1d(generator.bit_generator.random_raw(2))]
    size = int(np.prod(shape))
    pieces = [_kept(key, i, min(PIECE, size - i * PIECE), chance) for i in range(-(-size // PIECE))]
    return np.concatenate([np.zeros(0, bool), *pieces]).reshape(shape)


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


DEFINITIONS = (kept_by_streams,)
