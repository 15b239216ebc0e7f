"""Fourier transforms, beside NumPy's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...cases import Builders, Case
from ...contestants.eager import eager
from ...contestants.functional import by_hand
from ..data import numbers


def transform(name: str, *shape: int) -> Builders:
    array = numbers(*shape) + (0j if name == "fft" else 0.0)
    found = eager(lambda lib, x: lambda: getattr(lib.fft, name)(x), array, requires_grad=False)
    return found | by_hand(getattr(np.fft, name), array)


def rows() -> Iterator[Case]:
    yield Case("fft, 2^16", transform, ("fft", 2**16), ("fft", 16), must="numpy 1.1")
    yield Case("rfft2, 512 x 512", transform, ("rfft2", 512, 512), ("rfft2", 8, 8), must="numpy 1.1")
