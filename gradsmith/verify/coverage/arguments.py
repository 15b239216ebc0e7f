"""Every argument has to be varied, as far as the op and its reference take another value of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..variations import Neighbour, neighbours_of, written_sample
from .gap import Gap, sample_to_add

if TYPE_CHECKING:
    from gradsmith.codegen.spec.schema import Argument

    from ..case import Setting, Subject
    from ..trees.models import Model
    from ..variations import Variation

Seen = Sequence[Any]  # values of one argument, over all samples


def gaps_of(subject: Subject, model: Model, *, is_elementwise: bool) -> Iterator[Gap]:
    finder = Finder(subject, neighbours_of(subject, model.op))
    for argument in model.op.signature.arguments:
        seen = values_seen(subject, argument)
        yield from finder.gaps(argument, seen)
    if not is_elementwise:
        yield from finder.gaps_of_shapes()
    yield from gaps_of_results(subject)


def gaps_of_results(subject: Subject) -> Iterator[Gap]:
    """A result that may be absent has to be there in some samples, and not in others."""
    there = [set(setting.results().outputs) for setting in subject.settings(subject.dtypes[:1])]
    for number, (name, type_) in enumerate(zip(subject.row.returns, subject.row.result_types)):
        if "?" in type_ and all(number in outputs for outputs in there):
            yield Gap(f"result '{name}' is never absent", f"a sample in which '{name}' is None")
        if "?" in type_ and not any(number in outputs for outputs in there):
            yield Gap(f"result '{name}' is always absent", f"a sample in which '{name}' is a tensor")


def values_seen(subject: Subject, argument: Argument) -> list[Any]:
    default = ast.literal_eval(argument.default) if argument.default is not None else None
    return [case.values().get(argument.name, default) for case in subject.cases]


class Finder:
    """Looks among the variations of the samples for one that shows what they do not."""

    def __init__(self, subject: Subject, neighbours: Sequence[Neighbour]) -> None:
        self.subject = subject
        self.neighbours = [neighbour for neighbour in neighbours if neighbour.is_accepted]

    def gaps(self, argument: Argument, seen: Seen) -> Iterator[Gap]:
        name, declared = argument.name, argument.type
        if declared.name == "Generator":
            return  # see checks/value.py
        for words, is_met, wanted in conditions_of(argument):
            if seen and not is_met(seen):
                yield from self.gap(f"'{name}' {words}", name, wanted)
        if not seen or declared.name in ("Tensor", "device", "bool") or declared.is_list:
            return
        if len({repr(value) for value in seen}) == 1 and not is_written_shape(argument):
            yield from self.gap(f"'{name}' is always {seen[0]!r}", name, lambda value: not same(value, seen[0]))
            if declared.name == "str":
                yield Gap(f"'{name}' is always {seen[0]!r}", f"a sample with another value of '{name}'")

    def gap(self, subject: str, name: str, wanted: Callable[[Any], bool]) -> Iterator[Gap]:
        """Nothing where no variation is accepted: then the op takes nothing else."""
        for variation, setting in self.varied():
            if variation.argument == name and wanted(setting.values.get(name)):
                yield Gap(subject, sample_to_add(written_sample(variation.sample)))
                return

    def varied(self) -> Iterator[tuple[Variation, Setting]]:
        for neighbour in self.neighbours:
            if neighbour.setting is not None:
                yield neighbour.variation, neighbour.setting

    def gaps_of_shapes(self) -> Iterator[Gap]:
        """Of one rank only, or only square matrices."""
        arrays = [arrays_of(case.values()) for case in self.subject.cases]
        if not any(arrays):
            return
        ranks = {tuple(array.ndim for array in found) for found in arrays}
        if len(ranks) == 1:
            yield from self.gap_of_shape("tensors always have the same number of dimensions", ranks, rank_of)
        matrices = [array.shape for found in arrays for array in found if array.ndim > 1]
        if matrices and all(shape[-1] == shape[-2] for shape in matrices):
            yield from self.gap_of_shape("matrices are always square", {True}, is_square)

    def gap_of_shape(self, subject: str, seen: set[Any], fact: Callable[[list[Any]], Any]) -> Iterator[Gap]:
        for variation, setting in self.varied():
            is_shape = variation.kind in ("more dimensions", "fewer dimensions", "not square")
            if is_shape and fact(arrays_of(setting.values)) not in seen:
                yield Gap(subject, sample_to_add(written_sample(variation.sample)))
                return


def rank_of(arrays: list[Any]) -> tuple[int, ...]:
    return tuple(array.ndim for array in arrays)


def is_square(arrays: list[Any]) -> bool:
    return all(array.shape[-1] == array.shape[-2] for array in arrays if array.ndim > 1)


def arrays_of(values: dict[str, Any]) -> list[Any]:
    """Tensors of a call; of a list the first stands for all."""
    found = [value[0] if isinstance(value, list) and value else value for value in values.values()]
    return [value for value in found if isinstance(value, np.ndarray)]


def same(one: Any, other: Any) -> bool:
    return repr(one) == repr(other)


def is_written_shape(argument: Argument) -> bool:
    """Only meaningful beside the sample's other values, so that nobody else can vary it."""
    return argument.type.name == "object"


Condition = tuple[str, Callable[[Seen], bool], Callable[[Any], bool]]


def conditions_of(argument: Argument) -> Iterator[Condition]:
    """(what is missing, is it there, does a value bring it)."""
    declared = argument.type
    if declared.optional:
        yield "is never None", any_of(is_none), is_none
        yield "is always None", any_of(is_given), is_given
    if declared.name == "bool" and not declared.is_list:
        yield from ((f"is never {flag}", any_of(equals(flag)), equals(flag)) for flag in (False, True))
    if declared.name == "int" and not declared.is_list:
        yield "is never negative", any_of(is_negative), is_negative
        yield "is always negative", any_of(is_not_negative), is_not_negative
    if declared.name == "int" and declared.is_list:
        if not declared.length:
            yield "always has the same length", lambda seen: len(set(map(length, seen))) > 1, lambda value: True
        yield "has no negative number", any_of(has_negative), has_negative
    if declared.union_scalar:
        yield "is never a number", any_of(is_number), is_number
        yield "is always a number", any_of(is_array), is_array
    if declared.is_tensor_list:
        yield "always has the same length", lambda seen: len(set(map(length, seen))) > 1, lambda value: True


def any_of(fact: Callable[[Any], bool]) -> Callable[[Seen], bool]:
    return lambda seen: any(map(fact, seen))


def equals(flag: bool) -> Callable[[Any], bool]:
    return lambda value: value is flag


def is_none(value: Any) -> bool:
    return value is None


def is_given(value: Any) -> bool:
    return value is not None


def is_negative(value: Any) -> bool:
    return isinstance(value, int) and value < 0


def is_not_negative(value: Any) -> bool:
    return isinstance(value, int) and value >= 0


def has_negative(value: Any) -> bool:
    return any(map(is_negative, value if isinstance(value, (list, tuple)) else [value]))


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex))


def is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def length(value: Any) -> int:
    """One int stands for a list of one; None is no list."""
    return len(value) if isinstance(value, (list, tuple)) else (1 if value is not None else -1)
