"""The samples of the op table as NumPy values.

A case is one row of the table with one of its samples. Its values are drawn from a seed made of the row's name, so a
case has the same numbers in every run, whichever other ops are proven beside it.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

import gradsmith as gs
from gradsmith.runtime.arrays.functions.view_geometry import Geometry, geometry_of
from gradsmith.runtime.arrays.strided import StridedGeometry, geometry_of_strides

from .seeds import Seed, is_generator

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from gradsmith.generated.op_table import Argument, OpRow

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]
Values = dict[str, Any]  # argument -> value, in the order of the schema
Place = tuple[Any, ...]  # of a tensor in a call: (argument,), or (argument, number) in a list

CONSTANTS = {"pi": math.pi, "inf": math.inf, "nan": math.nan}


class Generators:
    """Generators that the expressions of samples call; see docs/reference/yaml_reference.md."""

    def __init__(
        self, seed: int, dtype: DTypeLike, shape: Shape | None = None, sizes: Mapping[int, int] | None = None
    ) -> None:
        self._random = np.random.default_rng(seed)
        self._dtype = np.dtype(dtype)
        self._given_shape = shape  # in place of the sample's
        self._given_sizes = sizes or {}  # in place of the sample's, wherever they occur

    def _shape(self, shape: Shape) -> Shape:
        if self._given_shape is not None:
            return self._given_shape
        return tuple(self._given_sizes.get(size, size) for size in shape)

    def real(self, *shape: int, low: float | None = None, high: float | None = None) -> Array:
        """Complex numbers have small imaginary parts, so that those with positive real parts stay off branch cuts."""
        shape = self._shape(shape)
        plain = low is None or high is None
        values: Any = self._random.normal(size=shape) if plain else self._random.uniform(low, high, shape)  # type: ignore[arg-type]
        if self._dtype.kind == "c":
            values = values + 1j * self._random.uniform(-0.4, 0.4, shape)
        return np.asarray(values, self._dtype)

    def positive(self, *shape: int) -> Array:
        return self.real(*shape, low=0.5, high=2)

    def nonzero(self, *shape: int) -> Array:
        shape = self._shape(shape)
        values: Any = self._random.uniform(0.5, 2, shape) * self._random.choice([-1.0, 1.0], shape)
        if self._dtype.kind == "c":
            values = values * np.exp(1j * self._random.uniform(-0.5, 0.5, shape))
        return np.asarray(values, self._dtype)

    def distinct(self, *shape: int) -> Array:
        shape = self._shape(shape)
        places = self._random.permutation(math.prod(shape))
        return np.asarray(places.reshape(shape) * 0.11 - 0.6, self._dtype)

    def integers(self, *shape: int, low: int = 0, high: int) -> Array:
        return np.asarray(self._random.integers(low, high, self._shape(shape)))

    def boolean(self, *shape: int) -> Array:
        return np.asarray(self._random.random(self._shape(shape)) < 0.5)

    def sorted(self, *shape: int) -> Array:
        """Ascending along the last dimension."""
        shape = self._shape(shape)
        steps = self._random.uniform(0.2, 1, shape)
        return np.asarray(np.cumsum(steps, axis=-1).reshape(shape) - 1, self._dtype)

    # -- matrices, or batches of them, whose singular values lie between 1 and 2

    def orthogonal(self, *shape: int) -> Array:
        """Unitary where the numbers are complex."""
        return np.asarray(self._unitary(self._square(shape)), self._dtype)

    def nonsingular(self, *shape: int) -> Array:
        shape = self._square(shape)
        left, right = self._unitary(shape), self._unitary(shape)
        return np.asarray((left * self._between_1_and_2(shape)) @ right, self._dtype)

    def positive_definite(self, *shape: int) -> Array:
        shape = self._square(shape)
        vectors = self._unitary(shape)
        return np.asarray((vectors * self._between_1_and_2(shape)) @ _adjoint(vectors), self._dtype)

    def symmetric(self, *shape: int) -> Array:
        """Hermitian where the numbers are complex; no two eigenvalues are near to each other."""
        shape = self._square(shape)
        vectors, size = self._unitary(shape), shape[-1]
        eigenvalues = self._between_1_and_2(shape) * np.where(np.arange(size) % 2, -1, 1)
        return np.asarray((vectors * eigenvalues) @ _adjoint(vectors), self._dtype)

    def lower(self, *shape: int) -> Array:
        return np.tril(self._triangle(self._square(shape)))

    def upper(self, *shape: int) -> Array:
        return np.triu(self._triangle(self._square(shape)))

    def _square(self, shape: Shape) -> Shape:
        shape = self._shape(shape)
        return (*shape[:-2], shape[-1], shape[-1])

    def _triangle(self, shape: Shape) -> Array:
        """Small numbers beside a diagonal that is far from zero."""
        away = np.eye(shape[-1]) * self._between_1_and_2(shape)
        return np.asarray(self._normal(shape) * 0.3 * (1 - np.eye(shape[-1])) + away, self._dtype)

    def _unitary(self, shape: Shape) -> Array:
        return np.asarray(np.linalg.qr(self._normal(shape))[0])

    def _normal(self, shape: Shape) -> Array:
        values: Any = self._random.normal(size=shape)
        return np.asarray(values + 1j * self._random.normal(size=shape) if self._dtype.kind == "c" else values)

    @staticmethod
    def _between_1_and_2(shape: Shape) -> Array:
        return np.linspace(1, 2, shape[-1])

    def geometry(self, shape: Shape, index: Any) -> Geometry:
        base = np.zeros(shape, self._dtype)
        return geometry_of(base, base[index])

    def strided(self, shape: Shape, size: Shape, stride: Shape, offset: int) -> StridedGeometry:
        return geometry_of_strides(np.zeros(shape, self._dtype), size, stride, offset)


def _adjoint(matrices: Array) -> Array:
    return np.conj(np.swapaxes(matrices, -1, -2))


def evaluate(
    text: str, seed: int, dtype: DTypeLike, shape: Shape | None = None, sizes: Mapping[int, int] | None = None
) -> Any:
    """Value of the Python text of a sample."""
    makers = Generators(seed, dtype, shape, sizes)
    names = {name: getattr(makers, name) for name in vars(Generators) if not name.startswith("_")}
    return eval(text, {"__builtins__": {"slice": slice}, **CONSTANTS, **names})


@dataclass(frozen=True)
class Case:
    """One row of the table with one of its samples."""

    row: OpRow
    number: int  # of the sample

    @property
    def id(self) -> str:
        return f"{key_of(self.row)}-{self.number}"

    def values(
        self,
        dtype: DTypeLike = np.float64,
        shapes: Mapping[str, Shape] | None = None,
        sizes: Mapping[int, int] | None = None,
        draw: int = 0,
    ) -> Values:
        """Arrays where the op wants tensors.

        `shapes` maps arguments to shapes that take the place of the sample's, `sizes` does so for single sizes; another
        `draw` has other numbers.
        """
        sample = self.row.samples[self.number]
        values: Values = {}
        for argument in self.row.arguments:
            seed = seed_of(f"{self.row.name} {self.number} {argument.name}" + (f" {draw}" if draw else ""))
            if is_generator(argument):
                values[argument.name] = Seed(seed)
            elif argument.name in sample:
                value = evaluate(sample[argument.name], seed, dtype, (shapes or {}).get(argument.name), sizes)
                is_array = is_written_out(argument, value) or isinstance(value, np.generic)
                values[argument.name] = np.asarray(value) if is_array else in_plane(argument, value, dtype)
        return values

    @cached_property
    def inputs(self) -> tuple[Place, ...]:
        """Places of the tensors that have a gradient."""
        return inputs_among(self.row, self.values())


def inputs_among(row: OpRow, values: Values) -> tuple[Place, ...]:
    if row.nondifferentiable or not any(row.outputs):
        return ()
    names = row.inputs or [a.name for a in row.arguments if a.name not in row.non_differentiable]
    wanted = set(names) - set(not_implemented(row))
    return tuple(place for place, array in places_of(values) if place[0] in wanted and array.dtype.kind in "fc")


def not_implemented(row: OpRow) -> dict[str, str]:
    """Inputs of which the entry says that nobody has worked out their gradient, with its words."""
    return {
        name: formula
        for names, formula in row.gradients
        for name in names.split(", ")
        if re.fullmatch(r"not_implemented\([^()]*\)", formula)
    }


def in_plane(argument: Argument, value: Any, dtype: DTypeLike) -> Any:
    """A number beside complex tensors is complex too, if it is one that stands for any number: 2.5, but not 2."""
    takes_any = "Scalar" in argument.type and isinstance(value, float)
    return value * (1 + 0.25j) if takes_any and np.dtype(dtype).kind == "c" else value


def seed_of(text: str) -> int:
    return zlib.crc32(text.encode())


def is_written_out(argument: Argument, value: Any) -> bool:
    """A tensor given by its numbers: in a list, or one where only a tensor will do."""
    kind = re.sub(r"\(.*?\)|\?", "", argument.type)
    return (isinstance(value, list) and kind in ("Tensor", "Tensor|Scalar")) or (
        isinstance(value, (bool, int, float, complex)) and kind == "Tensor"
    )


def key_of(row: OpRow) -> str:
    return f"{row.base}.{row.overload}" if row.overload else row.base


def cases_of(row: OpRow) -> list[Case]:
    return [Case(row, number) for number in range(len(row.samples))]


# ---- the tensors among the arguments of a call


def places_of(values: Values) -> Iterator[tuple[Place, Array]]:
    """All arrays among the arguments of a call."""
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            yield (name,), value
        elif isinstance(value, list):
            yield from (((name, number), part) for number, part in enumerate(value) if isinstance(part, np.ndarray))


def at(values: Values, place: Place) -> Any:
    return values[place[0]] if len(place) == 1 else values[place[0]][place[1]]


def replaced(values: Values, arrays: Mapping[Place, Any]) -> Values:
    """The call's values with those at some places exchanged."""
    result = dict(values)
    for place, array in arrays.items():
        if len(place) == 1:
            result[place[0]] = array
        else:
            result[place[0]] = [array if n == place[1] else part for n, part in enumerate(result[place[0]])]
    return result


def as_tensors(values: Values) -> Values:
    """The call's values with tensors, each in memory of its own, for arrays."""
    return replaced(values, {place: gs.tensor(array) for place, array in places_of(values)})


def leaves_among(tensors: Values, places: Iterable[Place]) -> list[Any]:
    """The tensors at those places, which from now on require a gradient."""
    return [at(tensors, place).requires_grad_() for place in places]


def array_of(tensor: Any) -> NDArray[Any]:
    return np.asarray(tensor.detach().numpy())
