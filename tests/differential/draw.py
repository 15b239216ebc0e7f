"""Random tensors, shapes, numbers and indices, as Python text."""

from __future__ import annotations

import math
import random
from typing import NamedTuple

from .program import Step

LAYOUTS = ("rows", "rows", "rows", "columns", "every other", "offset", "expanded")
NUMBERS = ("normal", "normal", "normal", "positive", "small", "special")
DTYPES = {
    "float64": 40, "float32": 25, "float16": 4, "complex128": 8, "complex64": 4, "int64": 8, "int32": 3, "int16": 1,
    "int8": 2, "uint8": 3, "bool": 5,
}  # fmt: skip
FLOATS = ("float64", "float32", "float16", "complex128", "complex64")


class Value(NamedTuple):
    """The generator's knowledge of a value of the program."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    requires_grad: bool
    is_leaf: bool
    has_node: bool

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def size(self):
        return math.prod(self.shape)

    @property
    def is_float(self):
        return self.dtype in FLOATS


class Draw(random.Random):
    """Random numbers with what programs are made of."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.count = 0  # of names given
        self.made: list[Step] = []  # steps that make tensors for the next one
        sizes = self.choice(
            [(2, 3), (3, 4), (2, 3, 4), (4,), (1, 3), (5, 2), (2, 2), (3, 3), (2, 1, 3), (17,), (40, 33)]
        )
        self.base_shape: tuple[int, ...] = sizes

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def weighted(self, weights: dict):
        return self.choices(list(weights), list(weights.values()))[0]

    def dtype(self) -> str:
        return self.weighted(DTYPES)

    def shape(self) -> tuple[int, ...]:
        """One that mostly broadcasts with the others of the program."""
        if self.chance(0.05):
            return tuple(self.choice([0, 1, 2, 3]) for _ in range(self.randint(0, 3)))
        return self.part_of(self.base_shape) if self.chance(0.5) else self.base_shape

    def part_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that can be expanded to this one."""
        rest = shape[self.randint(0, len(shape)) :]
        return tuple(1 if self.chance(0.2) else size for size in rest)

    def expanded(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that this one can be expanded to."""
        grown = tuple(self.randint(1, 3) if size == 1 else size for size in shape)
        return (self.randint(1, 3), *grown) if self.chance(0.4) else grown

    def tensor(self, shape=None, dtype=None, numbers=None, requires_grad=None, plain=False) -> str:
        """The name of a new tensor."""
        shape = self.shape() if shape is None else tuple(shape)
        dtype = self.dtype() if dtype is None else dtype
        numbers = self.choice(NUMBERS) if numbers is None else numbers
        if dtype == "float16" and numbers == "special":
            numbers = "small"
        arguments = [repr(numbers), repr(dtype), repr(shape)]
        layout = "rows" if plain else self.choice(LAYOUTS)
        arguments += [f"layout={layout!r}"] * (layout != "rows") + [f"seed={self.randint(0, 99)}"]
        if requires_grad is None:
            requires_grad = dtype in FLOATS and self.chance(0.6)
        return self.named(arguments, requires_grad)

    def named(self, arguments: list[str], requires_grad: bool) -> str:
        """The name of a tensor that a step of its own makes."""
        keywords = dict(text.split("=", 1) for text in arguments[3:])
        self.count += 1
        step = Step(
            "make",
            tuple(arguments[:3]),
            keywords | ({"requires_grad": "True"} if requires_grad else {}),
            f"t{self.count}",
        )
        self.made.append(step)
        return step.gives

    def whole_numbers(self, shape, below: int) -> str:
        """An index tensor."""
        return self.tensor(shape, "int64" if self.chance(0.95) else self.dtype(), f"below {max(below, 1)}", False)

    def number(self) -> str:
        return self.choices(
            ["0", "1", "2", "-1", "3", "0.5", "-1.5", "2.0", "True", "inf", "nan", "300", "1e-3", "(1+2j)"],
            [3, 4, 5, 3, 2, 5, 4, 4, 1, 0.5, 0.5, 0.4, 2, 0.5],
        )[0]

    def dim(self, ndim: int) -> int:
        if self.chance(0.03):
            return self.choice([-ndim - 1, ndim, 5])
        return self.randint(-max(ndim, 1), max(ndim, 1) - 1)

    def dims(self, ndim: int) -> str:
        """Several dimensions, once each but for a few mistakes."""
        if self.chance(0.03):
            return repr(tuple(self.dim(ndim) for _ in range(2)))
        chosen = self.sample(range(ndim), self.randint(0, ndim))
        return repr(tuple(d - ndim if self.chance(0.3) else d for d in chosen))

    def split_size(self, size: int) -> tuple[int, ...]:
        parts = []
        while size > 0:
            parts.append(self.randint(1, size))
            size -= parts[-1]
        return tuple(parts)

    def reshaped(self, size: int) -> str:
        """A shape of as many elements, now and then with -1 or of the wrong size."""
        if size == 0:
            return self.choice(["(0,)", "(0, 3)", "(-1,)", "(2, 0)"])
        shape, rest = [], size
        while rest > 1 and len(shape) < 3:
            divisors = [d for d in range(1, rest + 1) if rest % d == 0]
            shape.append(self.choice(divisors))
            rest //= shape[-1]
        shape += [rest] if rest > 1 or not shape else []
        if self.chance(0.2):
            shape[self.randrange(len(shape))] = -1
        return repr(tuple(shape) if size > 1 or self.chance(0.5) else ())

    # ---- indices

    def index(self, value: Value, pool: list[Value]) -> str:
        """The index in brackets behind a value."""
        if self.chance(0.04):
            return self.choice(
                ["()", "None", "...", "True", "False", "[]", "7", "'a'", "1.5", "(None, ...)", "(..., ...)"]
            )
        masks = [v.name for v in pool if v.dtype == "bool" and v.shape == value.shape]
        if masks and self.chance(0.5):
            return self.choice(masks)
        if self.chance(0.1):
            return self.tensor(
                value.shape[: self.randint(0, value.ndim)], self.choice(["bool", "bool", "uint8"]), "small", False
            )
        parts, left = [], list(value.shape)
        while left and not self.chance(0.25):
            kind = self.choices(["int", "slice", "none", "list", "tensor", "mask", "ellipsis"], [6, 8, 1, 2, 3, 1, 1])[
                0
            ]
            if kind == "none":
                parts.append("None")
            elif kind == "ellipsis" and "..." not in parts:
                parts.append("...")
                left = left[self.randint(0, len(left)) :]
            else:
                parts.append(self.part_of_index(kind, left.pop(0)))
        if len(parts) == 1 and self.chance(0.8):
            return parts[0]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"

    def part_of_index(self, kind: str, size: int) -> str:
        if kind == "slice":
            start, stop = (self.choice([None, self.randint(-size - 1, size + 1)]) for _ in range(2))
            return f"slice({start}, {stop}, {self.choice([None, None, 1, 2, 3])})"
        if kind == "mask":
            return self.tensor((size,), "bool", "small", False)
        if kind == "list" and size:
            return repr([self.randint(-size, size - 1) for _ in range(self.randint(1, 3))])
        if kind == "tensor":
            shape = self.choice([(2,), (2,), (3,), (1,), (2, 1), (), (0,)])
            return self.whole_numbers(shape, size)
        return repr(self.randint(-size, size - 1) if size and not self.chance(0.03) else self.randint(-9, 9))
