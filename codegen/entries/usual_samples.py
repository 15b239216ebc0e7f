"""The samples of an entry that writes none: they follow from its signature, its forward and its domain."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ..arrays.ufunc_facts import BITWISE, COMPARISONS, LOGICAL, SHIFTS
from ..model import Interval
from ..spec.schema import Argument, Signature
from ..spec.vocabulary import SAMPLE_GENERATORS, words

Sample = dict[str, str]

# Operands of ufuncs that are not about real numbers; a ufunc of one operand takes the first of each pair.
_OPERANDS = {
    COMPARISONS: (("integers(3, 4, high=3)", "integers(4, high=3)"), ("real(3, 4)", "0.1")),
    LOGICAL: (("boolean(3, 4)", "boolean(4)"), ("integers(3, 4, high=2)", "real(3, 4)"), ("boolean(3, 4)", "2.5")),
    SHIFTS: (
        ("integers(3, 4, high=8)", "integers(4, high=4)"),
        ("integers(3, 4, low=-8, high=8)", "2"),
        ("3", "integers(3, 4, high=4)"),
    ),
    BITWISE: (("boolean(3, 4)", "boolean(4)"), ("integers(3, 4, high=8)", "6")),
}
_NUMBER = "2.5"
_SHAPES = (("3, 4", "3, 4"), ("3, 4", "4"), ("3, 1", "1, 4"))  # that broadcast
_DIMS = words("dim")
_PAIRS = (("dim0", "dim1"), ("axis0", "axis1"))  # of dimensions
_VALUES = {"dtype": "'complex128'", "device": "'cpu'"}  # of arguments that any op takes alike


@dataclass(frozen=True)
class UsualSamples:
    """Facts about an op that are known before its formulas are parsed."""

    signature: Signature
    ufunc: str  # "" for other kinds of forward
    is_elementwise: bool
    domain: Mapping[str, Interval]
    generators: Mapping[str, str]  # argument -> what the entry wants its tensors to be made by

    def samples(self) -> tuple[Sample, ...]:
        """None at all where the signature has something that only the author knows values for."""
        required = [a for a in self.signature.arguments if a.default is None]
        tensors = [a for a in required if _is_operand(a)]
        others = [a for a in self.signature.arguments if a not in tensors]
        if self.ufunc and not self.generators:
            special = [pairs for names, pairs in _OPERANDS.items() if self.ufunc in names]
            if special:
                return tuple(dict(zip([a.name for a in tensors], pair)) for pair in special[0])
        if len(tensors) == 1 and tuple(a.name for a in others) in _PAIRS:
            return tuple(self.of_two_dims(tensors[0].name, *(a.name for a in others)))
        if len(tensors) == 1 and others and all(a.name in _VALUES for a in others if a.default is None):
            given = {a.name: _VALUES[a.name] for a in others if a.default is None}
            if given:
                return ({tensors[0].name: self.array(tensors[0].name, "3, 4"), **given},)
        if len(tensors) == 1 and all(a.default is not None or a.name in _DIMS for a in others):
            return tuple(self.of_one_tensor(tensors[0].name))
        if len(tensors) == 2 == len(required) and self.is_elementwise:
            return tuple(self.of_two_tensors(tensors[0], tensors[1]))
        return ()

    def array(self, name: str, shape: str) -> str:
        generator = self.generators.get(name) or self.generator_in(self.domain.get(name))
        return f"{generator}({shape})"

    @staticmethod
    def generator_in(interval: Interval | None) -> str:
        is_half_line = interval is not None and interval.lower == 0 and interval.upper == math.inf
        return "positive" if is_half_line else "real"

    def of_two_dims(self, name: str, one: str, other: str) -> Iterator[Sample]:
        yield {name: self.array(name, "3, 4"), one: "0", other: "1"}
        yield {name: self.array(name, "2, 3, 4"), one: "-1", other: "0"}
        yield {name: self.array(name, "2, 3, 4"), one: "1", other: "-1"}

    def of_two_tensors(self, first: Argument, second: Argument) -> Iterator[Sample]:
        for one, other in _SHAPES:
            yield {first.name: self.array(first.name, one), second.name: self.array(second.name, other)}
        if second.type.union_scalar:
            yield {first.name: self.array(first.name, "3, 4"), second.name: _NUMBER}
        if first.type.union_scalar:
            yield {first.name: _NUMBER, second.name: self.array(second.name, "3, 4")}

    def of_one_tensor(self, name: str) -> Iterator[Sample]:
        matrix, cube = self.array(name, "3, 4"), self.array(name, "2, 3, 4")
        dim = self.signature.expect_argument("dim")
        if dim is None or dim.default is not None:
            yield {name: matrix}
        if dim is None and not self.is_elementwise:
            yield {name: cube}
        if self.signature.expect_argument("dtype") and (dim is None or dim.type.name == "int"):
            yield {name: cube, **({} if dim is None else {"dim": "1"}), "dtype": "'complex128'"}
        if dim is None or dim.type.name != "int":
            return
        keepdim = {"keepdim": "True"} if self.signature.expect_argument("keepdim") else {}
        yield {name: matrix, "dim": "0", **keepdim}
        yield {name: matrix, "dim": "-1"}
        yield {name: cube, "dim": "(0, -1)" if dim.type.is_list else "1"}
        if dim.type.optional and dim.default is None:
            yield {name: matrix, "dim": "None", **keepdim}


def expect_generators(sample: Sample) -> Mapping[str, str] | None:
    """``positive, other=nonzero``: not values but what the usual samples are made by; None for other samples."""
    return sample if sample and all(value in SAMPLE_GENERATORS for value in sample.values()) else None


def _is_operand(argument: Argument) -> bool:
    """A tensor that any array of numbers may stand for."""
    declared = argument.type
    return declared.name == "Tensor" and not (declared.is_list or declared.optional or declared.written)
