"""Along which directions derivatives are compared.

A Jacobian J is looked at through directions u of an input and v of an output: the numbers v J u. All units give the
whole matrix; in fast mode there is one random direction of each, and one number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradsmith.autograd.gradcheck.differences import Array

SEED = 20210109


class Units:
    """Every unit direction of a tensor."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.count = int(np.prod(shape, dtype=np.int64))

    def directions(self) -> Iterator[Array]:
        for number in range(self.count):
            direction = np.zeros(self.count)
            direction[number] = 1.0
            yield direction.reshape(self.shape)

    def project(self, rows: Array) -> Array:
        """Components of each row along the directions."""
        return rows


class RandomDirection:
    """One direction of unit length without negative components."""

    def __init__(self, shape: tuple[int, ...], random: np.random.Generator) -> None:
        drawn = random.random(shape)
        self.direction = np.asarray(drawn / max(float(np.linalg.norm(drawn)), np.finfo(float).tiny))
        self.count = 1

    def directions(self) -> Iterator[Array]:
        yield self.direction

    def project(self, rows: Array) -> Array:
        return rows @ self.direction.reshape(-1, 1)

    @property
    def total(self) -> float:
        return float(self.direction.sum())


class Probes:
    """The directions of every input and output; complex inputs have them for the real and for the imaginary part."""

    def __init__(self, inputs: dict[int, Any], outputs: dict[int, Any], fast: bool) -> None:
        random = np.random.default_rng(SEED)

        def probe(tensor: Any) -> Any:
            return RandomDirection(tensor.shape, random) if fast else Units(tensor.shape)

        self.fast = fast
        self.inputs = {i: [probe(t) for _ in units_of(t)] for i, t in inputs.items()}
        self.outputs = {o: probe(t) for o, t in outputs.items()}

    def scale(self, place: int, output: int | None = None) -> float:
        """By how much more than a single element a projection may deviate."""
        if not self.fast:
            return 1.0
        of_output = 1.0 if output is None else self.outputs[output].total
        return float(sum(probe.total for probe in self.inputs[place]) * of_output)


def units_of(tensor: Any) -> tuple[complex, ...]:
    """Unit of each part of the elements: real, and imaginary if there is one."""
    return (1, 1j) if tensor.is_complex() else (1,)
