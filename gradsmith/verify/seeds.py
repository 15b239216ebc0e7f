"""Random numbers of an op under proof: every call of one setting draws the same, and so does its reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gradsmith as gs

if TYPE_CHECKING:
    import numpy as np

    from gradsmith.generated.op_table import Argument


@dataclass(frozen=True)
class Seed:
    """The value of a Generator argument, until a call makes a generator of it."""

    number: int

    @property
    def generator(self) -> gs.Generator:
        """A new one, which has drawn nothing yet."""
        return gs.Generator().manual_seed(self.number)

    @property
    def of_numpy(self) -> np.random.Generator:
        return self.generator.numpy


def is_generator(argument: Argument) -> bool:
    return argument.type.startswith("Generator")


def seeded(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a call, as an op takes them."""
    return {name: value.generator if isinstance(value, Seed) else value for name, value in values.items()}


def seeded_for_numpy(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same for a reference, which reads what an ``array(...)`` reads."""
    return {name: value.of_numpy if isinstance(value, Seed) else value for name, value in values.items()}
