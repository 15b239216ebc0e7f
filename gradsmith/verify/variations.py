"""Samples that an entry does not have: each of its own with one thing changed.

A variation that the op and its reference take says what the samples leave out, in the words in which it would be added.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .case import REAL, Setting
from .domains import is_in_domain
from .references.expected import expected_results
from .references.refusals import REFUSALS
from .samples import Case

if TYPE_CHECKING:
    from gradsmith.codegen.model import Op
    from gradsmith.codegen.spec.schema import Argument
    from gradsmith.generated.op_table import OpRow

    from .case import Subject
    from .samples import Array

Sample = dict[str, str]  # argument -> Python text
Change = Callable[[list[str]], list[str]]  # of the sizes of an array

_GENERATORS = ("real", "positive", "nonzero", "distinct", "boolean", "integers", "sorted")
# Matrices of a kind, which they keep.
_MATRICES = ("orthogonal", "nonsingular", "positive_definite", "symmetric", "lower", "upper")
_NUMBERS = ("real", "positive", "nonzero", "distinct")  # of the dtype that is looked at


@dataclass(frozen=True)
class Variation:
    """A sample, and what is new in it."""

    argument: str  # of which something changes; "" for all tensors
    kind: str  # "negative", "None", "rank", ...
    sample: Sample
    has_new_zeros: bool = False  # which a generator of the sample promises not to make


def variations_of(op: Op, row: OpRow) -> Iterator[Variation]:
    """All that follow from the samples, each text once."""
    seen = [dict(sample) for sample in row.samples]
    for sample in row.samples:
        for variation in _of_sample(op, sample):
            if variation.sample not in seen:
                seen.append(variation.sample)
                yield variation


def _of_sample(op: Op, sample: Sample) -> Iterator[Variation]:
    for argument in op.signature.arguments:
        for kind, text in (*_other_values(argument, sample.get(argument.name)), *_missing_tensor(argument, sample)):
            changed = {name: value for name, value in {**sample, argument.name: text}.items() if value}
            yield Variation(argument.name, kind, in_order(op, changed))
    for kind, *changes in _SHAPES:
        changed = {name: reshaped(text, *changes) for name, text in sample.items()}
        yield Variation("", kind, changed)
        for name in sample:
            yield Variation(name, kind, {**sample, name: changed[name]})
    avoids_zero = any(re.search(r"\b(nonzero|positive)\(", text) for text in sample.values())
    for low, high in ((-1, 3), (1, 4)):
        text = f"integers({{}}, low={low}, high={high}) * 1.0"
        changed = {name: regenerated(given, text) for name, given in sample.items()}
        yield Variation("", "ties", changed, avoids_zero and low < 0)


def in_order(op: Op, sample: Sample) -> Sample:
    return {a.name: sample[a.name] for a in op.signature.arguments if a.name in sample}


def written_sample(sample: Sample) -> str:
    """As the table has it: ``real(3, 4), dim=-1``."""
    return ", ".join(text if name == "self" else f"{name}={text}" for name, text in sample.items())


# ---- values of one argument


def _other_values(argument: Argument, text: str | None) -> Iterator[tuple[str, str]]:
    """(what is new, text); an empty text leaves the argument out."""
    declared = argument.type
    if declared.name == "Generator":
        return
    if argument.default is not None and text is not None:
        yield "default", ""
    if declared.optional and text != "None":
        yield "None", "None"
    if declared.is_tensor or declared.is_tensor_list:
        yield from _other_tensors(argument, text)
    elif declared.is_list:
        yield from (("length", value) for value in ("0", "-1", "(0,)", "(0, -1)", "(0, 1)", "()") if value != text)
    else:
        yield from _other_plain(declared.name, text)


def _other_plain(name: str, text: str | None) -> Iterator[tuple[str, str]]:
    match name:
        case "bool":
            yield from ((value, value) for value in ("True", "False") if value != text)
        case "int":
            yield from (("negative", str(value)) for value in (-1, -2))
            yield from (("other", str(value)) for value in (0, 1, 2))
        case "float" | "Scalar":
            yield from (("other", value) for value in ("0.3", "2", "2.5"))
        case "dtype":
            yield from (("other", value) for value in ("'complex128'", "'float64'") if value != text)


def _other_tensors(argument: Argument, text: str | None) -> Iterator[tuple[str, str]]:
    if argument.type.is_tensor_list:
        items = _items(text or "")
        if len(items) > 1:
            yield "length", f"[{', '.join(items[:-1])}]"
        if items:
            yield "length", f"[{', '.join([*items, items[-1]])}]"
    elif argument.type.union_scalar and text is not None:
        if _is_made(text):
            yield "number", "1.1"
        else:
            yield from (("tensor", f"real({shape})") for shape in ("3, 4", ""))


def _missing_tensor(argument: Argument, sample: Sample) -> Iterator[tuple[str, str]]:
    """An optional tensor, of the sizes that are there."""
    if argument.type.is_tensor and argument.type.optional and sample.get(argument.name, "None") == "None":
        sizes = dict.fromkeys(size for text in sample.values() for size in re.findall(r"\b\d+\b", text))
        yield from (("tensor", f"real({size})") for size in (*sizes, ""))


def _items(text: str) -> list[str]:
    tree = ast.parse(text, mode="eval").body if text else None
    return [ast.unparse(item) for item in tree.elts] if isinstance(tree, ast.List) else []


def _is_made(text: str) -> bool:
    """Does a generator make the tensor, or a list of numbers write it out."""
    tree = ast.parse(text, mode="eval").body
    return any(isinstance(part, (ast.Call, ast.List)) for part in ast.walk(tree))


# ---- shapes and contents


def reshaped(text: str, change: Change, of_matrices: Change) -> str:
    """The sizes of all arrays that a text makes, changed."""

    def exchanged(node: ast.Call) -> None:
        sizes = (of_matrices if _name(node) in _MATRICES else change)([ast.unparse(size) for size in node.args])
        node.args = [ast.parse(size, mode="eval").body for size in sizes]

    return _with_calls(text, (*_GENERATORS, *_MATRICES), exchanged)


def regenerated(text: str, template: str) -> str:
    """The array of numbers that a text makes, made by another generator of the same shape; 1.0 for a number."""
    tree = ast.parse(text, mode="eval").body
    if isinstance(tree, ast.Constant) and isinstance(tree.value, float):
        return "1.0"
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node) in _NUMBERS]
    if len(calls) != 1 or isinstance(tree, ast.List):
        return text
    return template.format(", ".join(map(ast.unparse, calls[0].args))).replace("(, ", "(")


def _with_calls(text: str, names: tuple[str, ...], change: Callable[[ast.Call], None]) -> str:
    tree = ast.parse(text, mode="eval")
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node) in names]
    for node in found:
        change(node)
    return ast.unparse(tree) if found else text


def _name(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _longer(sizes: list[str]) -> list[str]:
    return [*sizes[:-1], str(int(sizes[-1]) + 1)] if sizes and sizes[-1].isdigit() else sizes


def _in_a_batch(sizes: list[str]) -> list[str]:
    return ["2", *sizes]


def _without_the_first(sizes: list[str]) -> list[str]:
    return sizes[1:]


def _of_fewer_matrices(sizes: list[str]) -> list[str]:
    return sizes[1:] if len(sizes) > 2 else sizes


_SHAPES: tuple[tuple[str, Change, Change], ...] = (  # of arrays, and of matrices of a kind
    ("more dimensions", _in_a_batch, _in_a_batch),
    ("fewer dimensions", _without_the_first, _of_fewer_matrices),
    ("not square", _longer, list),
)


# ---- what is accepted


@dataclass(frozen=True)
class Neighbour:
    """A variation of the samples as a call, and what the op and its reference make of it."""

    variation: Variation
    setting: Setting | None  # None where the sample itself is none, or not in the domain
    found: list[Array] | None = None
    expected: list[Array] | None = None
    refused: Exception | None = None
    reference_refused: Exception | None = None

    @property
    def is_accepted(self) -> bool:
        """Both take it and agree."""
        found, expected = self.found, self.expected
        if found is None or expected is None or len(found) != len(expected):
            return False
        return all(map(_agree, found, expected))


def neighbours_of(subject: Subject, op: Op) -> list[Neighbour]:
    """All variations of the samples, in the first dtype; computed once."""
    if subject.neighbours is None:
        subject.neighbours = [_neighbour(subject, variation) for variation in variations_of(op, subject.row)]
    return subject.neighbours


def _neighbour(subject: Subject, variation: Variation) -> Neighbour:
    try:
        setting = setting_of(subject, variation.sample)
    except REFUSALS:
        return Neighbour(variation, None)
    if not is_in_domain(setting):
        return Neighbour(variation, None)
    expected, other = _tried(lambda: expected_results(subject.row, setting.values))
    if other is not None and "internal" in subject.row.forms:  # an internal op trusts its arguments
        return Neighbour(variation, setting, reference_refused=other)
    found, refused = _tried(setting.results)
    return Neighbour(variation, setting, found, expected, refused, other)


def _tried(call: Callable[[], list[Array]]) -> tuple[list[Array] | None, Exception | None]:
    try:
        return call(), None
    except REFUSALS as error:
        return None, error


def setting_of(subject: Subject, sample: Sample, dtype: str = REAL) -> Setting:
    """The call that a sample describes which the entry does not have."""
    case = Case(subject.row._replace(samples=(sample,)), 0)
    return Setting(subject, case, case.values(dtype), dtype)


def _agree(one: Array, other: Array) -> bool:
    return one.shape == other.shape and np.allclose(one, other, equal_nan=True) if one.dtype.kind in "fciub" else True
