"""The samples of derivatives.yaml as NumPy values, and the calls that the tests make with them.

A case is one row of the table with one of its samples. Its values are drawn from a seed made of the row's name, so a
case has the same numbers in every run and whichever other tests run beside it.
"""

import zlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import gradsmith as gs
from gradsmith.generated.op_table import OPS, OpRow
from gradsmith.runtime.geometry import geometry_of
from gradsmith.runtime.strided import geometry_of_strides

# Tensors of composite ops of which only shape or dtype is looked at.
MODELS = {"view_as": "other", "reshape_as": "other", "expand_as": "other", "to.other": "other"}


class Generators:
    """What the expressions of samples call; section 6 of the head comment of derivatives.yaml."""

    def __init__(self, seed, dtype, shape=None):
        self.random = np.random.default_rng(seed)
        self.dtype = np.dtype(dtype)
        self.given_shape = shape  # in place of the sample's

    def _shape(self, shape):
        return shape if self.given_shape is None else self.given_shape

    def real(self, *shape, low=None, high=None):
        """Complex numbers have small imaginary parts, so that those with positive real parts stay off branch cuts."""
        shape = self._shape(shape)
        values = self.random.normal(size=shape) if low is None else self.random.uniform(low, high, shape)
        if self.dtype.kind == "c":
            values = values + 1j * self.random.uniform(-0.4, 0.4, shape)
        return np.asarray(values, self.dtype)

    def positive(self, *shape):
        return self.real(*shape, low=0.5, high=2)

    def nonzero(self, *shape):
        shape = self._shape(shape)
        values = self.random.uniform(0.5, 2, shape) * self.random.choice([-1.0, 1.0], shape)
        if self.dtype.kind == "c":
            values = values * np.exp(1j * self.random.uniform(-0.5, 0.5, shape))
        return np.asarray(values, self.dtype)

    def distinct(self, *shape):
        shape = self._shape(shape)
        places = self.random.permutation(int(np.prod(shape)))
        return np.asarray(places.reshape(shape) * 0.11 - 0.6, self.dtype)

    def integers(self, *shape, low=0, high):
        return self.random.integers(low, high, self._shape(shape))

    def boolean(self, *shape):
        return np.asarray(self.random.random(self._shape(shape)) < 0.5)

    def geometry(self, shape, index):
        base = np.zeros(shape, self.dtype)
        return geometry_of(base, base[index])

    def strided(self, shape, size, stride, offset):
        return geometry_of_strides(np.zeros(shape, self.dtype), size, stride, offset)


def evaluate(text, seed, dtype, shape=None):
    makers = Generators(seed, dtype, shape)
    names = {name: getattr(makers, name) for name in vars(Generators) if not name.startswith("_")}
    return eval(text, {"__builtins__": {"slice": slice}, **names})


@dataclass(frozen=True)
class Case:
    row: OpRow
    number: int  # of the sample

    @property
    def id(self):
        return f"{key_of(self.row)}-{self.number}"

    def values(self, dtype=np.float64, shapes=None):
        """Argument -> value, in the order of the schema; arrays where the op wants tensors.

        `shapes` maps arguments to shapes that take the place of the sample's.
        """
        sample, values = self.row.samples[self.number], {}
        for argument in self.row.arguments:
            if argument.name in sample:
                seed = zlib.crc32(f"{self.row.name} {self.number} {argument.name}".encode())
                value = evaluate(sample[argument.name], seed, dtype, (shapes or {}).get(argument.name))
                values[argument.name] = np.asarray(value) if self._is_list_of_numbers(argument, value) else value
        return values

    @staticmethod
    def _is_list_of_numbers(argument, value):
        return argument.type == "Tensor" and not isinstance(value, np.ndarray)

    @cached_property
    def inputs(self):
        """Places of the tensors that have a gradient: argument, or argument and number in a list."""
        named = self.row.inputs or [a.name for a in self.row.arguments if a.name != MODELS.get(key_of(self.row))]
        return (
            ()
            if self.row.nondifferentiable or not any(self.row.outputs)
            else tuple(
                place for place, value in places_of(self.values()) if place[0] in named and value.dtype.kind in "fc"
            )
        )


def key_of(row):
    return f"{row.base}.{row.overload}" if row.overload else row.base


def places_of(values):
    """All arrays among the arguments of a call: ((argument,), array) or ((argument, number), array)."""
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            yield (name,), value
        elif isinstance(value, list) and value and isinstance(value[0], np.ndarray):
            yield from (((name, number), part) for number, part in enumerate(value))


def at(values, place):
    return values[place[0]] if len(place) == 1 else values[place[0]][place[1]]


def replaced(values, arrays):
    """The call's values with those at some places (a mapping) exchanged."""
    result = dict(values)
    for place, array in arrays.items():
        if len(place) == 1:
            result[place[0]] = array
        else:
            result[place[0]] = [array if n == place[1] else part for n, part in enumerate(result[place[0]])]
    return result


def as_tensors(values):
    """The call's values with tensors for arrays."""
    return replaced(values, {place: gs.tensor(array) for place, array in places_of(values)})


# ---- calls


def call(row, values):
    """Call the op by its first form; an op that changes its input is called on a clone."""
    if row.base.endswith("_"):
        return call_method(row, {**values, "self": values["self"].clone()})
    return {"function": call_function, "method": call_method, "property": call_property}[row.forms[0]](row, values)


def call_function(row, values, name=None, **more):
    positional, keywords = split_arguments(row, values)
    return function_of(row, name)(*positional, **keywords, **more)


def function_of(row, name=None):
    """The package exports it, or only its own modules know it."""
    return getattr(gs.generated if "internal" in row.forms else gs, name or row.base)


def call_method(row, values, name=None, **more):
    positional, keywords = split_arguments(row, {key: value for key, value in values.items() if key != "self"})
    return getattr(values["self"], name or row.base)(*positional, **keywords, **more)


def call_property(row, values):
    return getattr(values["self"], row.base)


def split_arguments(row, values):
    """Positional as far as no argument is left out, by keyword from there on."""
    positional, keywords, left_out = [], {}, False
    for argument in row.arguments:
        if argument.name not in values:
            left_out = left_out or argument.name != "self"
        elif left_out or argument.keyword_only:
            keywords[argument.name] = values[argument.name]
        else:
            positional.append(values[argument.name])
    return positional, keywords


def outputs_of(result):
    """A call's results as a list."""
    return list(result) if isinstance(result, (tuple, list)) else [result]


# ---- what there is to test


CALLABLE = [row for row in OPS if row.forms]
CASES = [Case(row, number) for row in CALLABLE for number in range(len(row.samples))]
DIFFERENTIABLE = [case for case in CASES if case.inputs]


def cases_by_row(cases):
    """Rows with their cases, for tests that go over the samples of a row themselves."""
    grouped = {}
    for case in cases:
        grouped.setdefault(key_of(case.row), []).append(case)
    return grouped
