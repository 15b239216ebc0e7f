"""The table `nn/layers.txt`: what PyTorch 2.13 says of layers, line by line.

Each line has, separated by semicolons: how the layer is made; its inputs; its text; names and shapes of its state; the
shapes of its outputs. ``python -m tests.differential.layers --write`` fills in the last three.

An input is ``3x4``, normally distributed numbers of that shape; ``p3x4``, numbers from 0.1 to 0.9; ``s3``, signs;
``i2x3<9``, integers below 9; or ``i=0,2``, these integers.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

PATH = Path(__file__).parent / "nn" / "layers.txt"


class Line(NamedTuple):
    source: str
    inputs: str
    text: str = ""
    state: str = ""
    outputs: str = ""


def lines() -> list[Line]:
    rows = PATH.read_text(encoding="utf-8").splitlines()
    return [Line(*(part.strip() for part in row.split(";"))) for row in rows if row and not row.startswith("#")]


def arrays(inputs: str, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [array(word, rng) for word in inputs.split()]


def array(word: str, rng: np.random.Generator) -> np.ndarray:
    if word.startswith("i="):
        return np.array([int(number) for number in word[2:].split(",")])
    kind, sizes = (word[0], word[1:]) if word[0] in "psi" else ("", word)
    sizes, _, below = sizes.partition("<")
    shape = tuple(int(size) for size in sizes.split("x"))
    if kind == "i":
        return rng.integers(0, int(below), shape)
    if kind == "p":
        return rng.uniform(0.1, 0.9, shape)
    numbers = rng.standard_normal(shape)
    return np.sign(numbers) if kind == "s" else numbers


def shape_text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "()"


def state_text(state: dict[str, object]) -> str:
    return " ".join(f"{name}:{shape_text(tuple(value.shape))}" for name, value in state.items())  # type: ignore[attr-defined]


def tensors_in(output: object, kind: type) -> list[object]:
    """The tensors of what a layer returns, in order."""
    if isinstance(output, kind):
        return [output]
    return [one for part in output for one in tensors_in(part, kind)] if isinstance(output, (tuple, list)) else []
