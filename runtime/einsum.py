"""einsum as a chain of products of two operands, each a matrix product where something is summed.

Differentiable, since it is made of differentiable ops, and as fast as they are: the letters of two operands fall into
four groups, kept by both, summed, and free in one or the other, and a permutation brings each group together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

Tensor = Any
Label = Any  # a letter, or a negative number for a dimension under "...", counted from the last


class Term(NamedTuple):
    """A tensor and the label of each of its dimensions, all different."""

    tensor: Tensor
    labels: tuple[Label, ...]


def einsum_of_products(equation: str, operands: Sequence[Tensor]) -> Tensor:
    """``einsum(equation, *operands)``."""
    inputs, output = _parse(equation, operands)
    sizes = _sizes(inputs, operands)
    terms = [_term(i, tensor, labels, sizes) for i, (tensor, labels) in enumerate(zip(operands, inputs))]
    for first, second in _order(terms, output):
        one, other = terms[first], terms[second]
        rest = [term for i, term in enumerate(terms) if i not in (first, second)]
        needed = {*output, *(label for term in rest for label in term.labels)}
        terms = [*rest, _product(one, other, needed)]
    return _arranged(terms[0], output)


# ---- the equation


def _parse(equation: str, operands: Sequence[Tensor]) -> tuple[list[tuple[Label, ...]], tuple[Label, ...]]:
    """Labels of each operand and of the result."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    texts = left.split(",")
    if len(texts) != len(operands):
        raise RuntimeError(
            f"einsum(): the equation {equation!r} has {len(texts)} operands, but {len(operands)} were given"
        )
    inputs = [_labels(text, tensor.ndim, position) for position, (text, tensor) in enumerate(zip(texts, operands))]
    covered = min((label for labels in inputs for label in labels if isinstance(label, int)), default=0)
    ellipsis = tuple(range(covered, 0))
    if not arrow:
        return inputs, _implicit_output(inputs, ellipsis)
    return inputs, _explicit_output(right, inputs, ellipsis)


def _labels(text: str, ndim: int, position: int) -> tuple[Label, ...]:
    before, dots, after = text.partition("...")
    letters = before + after
    _check_letters(letters, f"operand {position}")
    covered = ndim - len(letters)
    if covered < 0 or (covered and not dots):
        raise RuntimeError(
            f"einsum(): operand {position} has {ndim} dimensions, but its subscripts {text!r} name {len(letters)}"
        )
    return (*before, *range(-covered, 0), *after)


def _check_letters(letters: str, where: str) -> None:
    wrong = next((letter for letter in letters if not (letter.isascii() and letter.isalpha())), None)
    if wrong is not None:
        raise RuntimeError(f"einsum(): invalid subscript {wrong!r} in {where}; subscripts are letters and one '...'")


def _implicit_output(inputs: list[tuple[Label, ...]], ellipsis: tuple[int, ...]) -> tuple[Label, ...]:
    """Without an arrow: the letters that come once, in order of the alphabet."""
    counts = Counter(label for labels in inputs for label in labels if isinstance(label, str))
    return (*ellipsis, *sorted(letter for letter, count in counts.items() if count == 1))


def _explicit_output(
    text: str, inputs: list[tuple[Label, ...]], ellipsis: tuple[int, ...]
) -> tuple[Label, ...]:
    before, dots, after = text.partition("...")
    _check_letters(before + after, "the output")
    output: tuple[Label, ...] = (*before, *(ellipsis if dots else ()), *after)
    known = {label for labels in inputs for label in labels}
    for letter in before + after:
        if letter not in known:
            raise RuntimeError(f"einsum(): output subscript {letter!r} does not appear in any operand")
        if output.count(letter) > 1:
            raise RuntimeError(f"einsum(): output subscript {letter!r} appears more than once in the output")
    return output


def _sizes(inputs: list[tuple[Label, ...]], operands: Sequence[Tensor]) -> dict[Label, int]:
    """Size of every label; a dimension of size one goes with any size."""
    sizes: dict[Label, int] = {}
    for position, (labels, tensor) in enumerate(zip(inputs, operands)):
        for label, size in zip(labels, tensor.shape):
            seen = sizes.get(label, 1)
            if size != 1 and seen not in (1, size):
                raise RuntimeError(
                    f"einsum(): subscript {label if isinstance(label, str) else '...'} has size {size} in operand "
                    f"{position}, but size {seen} before"
                )
            sizes[label] = max(seen, size) if size else 0
    return sizes


# ---- one operand


def _term(position: int, tensor: Tensor, labels: tuple[Label, ...], sizes: dict[Label, int]) -> Term:
    """The operand with every label once, and without dimensions of size one that stand for more."""
    while len(set(labels)) < len(labels):
        tensor, labels = _diagonal(tensor, labels)
    stretched = [axis for axis, label in enumerate(labels) if tensor.shape[axis] == 1 != sizes[label]]
    if stretched:
        tensor = tensor.squeeze(stretched)
        labels = tuple(label for axis, label in enumerate(labels) if axis not in stretched)
    return Term(tensor, labels)


def _diagonal(tensor: Tensor, labels: tuple[Label, ...]) -> tuple[Tensor, tuple[Label, ...]]:
    """The elements where two dimensions of the same label have the same index."""
    label = next(label for label in labels if labels.count(label) > 1)
    first = labels.index(label)
    second = labels.index(label, first + 1)
    if tensor.shape[first] != tensor.shape[second]:
        raise RuntimeError(
            f"einsum(): subscript {label!r} is repeated for dimensions of sizes {tensor.shape[first]} and "
            f"{tensor.shape[second]}"
        )
    others = [axis for axis in range(tensor.ndim) if axis not in (first, second)]
    along = np.arange(tensor.shape[first])
    taken = tensor.permute([first, second, *others]).index((along, along))
    return taken, (label, *(labels[axis] for axis in others))


def _arranged(term: Term, output: tuple[Label, ...]) -> Tensor:
    """Summed over what the output does not name, in the output's order; missing labels have size one."""
    tensor, labels = _summed(term, set(output))
    tensor = tensor.permute([labels.index(label) for label in output if label in labels])
    for axis, label in enumerate(output):
        if label not in labels:
            tensor = tensor.unsqueeze(axis)
    return tensor


def _summed(term: Term, needed: set[Label]) -> Term:
    axes = [axis for axis, label in enumerate(term.labels) if label not in needed]
    if not axes:
        return term
    return Term(term.tensor.sum(axes), tuple(label for label in term.labels if label in needed))


# ---- two operands


def _order(terms: list[Term], output: tuple[Label, ...]) -> list[tuple[int, ...]]:
    """Which two to multiply next, as positions among those that are left; a product goes to the end."""
    if len(terms) < 3:
        return [(0, 1)] * (len(terms) - 1)
    numbers = {label: i for i, label in enumerate({*output, *(label for term in terms for label in term.labels)})}
    operands: list[Any] = []
    for term in terms:
        operands += [np.broadcast_to(0.0, term.tensor.shape), [numbers[label] for label in term.labels]]
    there = {label for term in terms for label in term.labels}
    wanted = [numbers[label] for label in output if label in there]
    path = np.einsum_path(*operands, wanted, optimize="greedy")[0][1:]
    return [tuple(step) for pair in path for step in _pairs(pair)]


def _pairs(step: tuple[int, ...]) -> list[tuple[int, ...]]:
    """A step as steps over two operands. One over more than two takes all that are left, in any order."""
    return [step] if len(step) == 2 else [(0, 1)] * (len(step) - 1)


def _product(one: Term, other: Term, needed: set[Label]) -> Term:
    """Product of two operands, summed over what nobody needs any more."""
    one = _summed(one, needed | set(other.labels))
    other = _summed(other, needed | set(one.labels))
    shared = [label for label in one.labels if label in other.labels]
    kept = [label for label in shared if label in needed]
    summed = [label for label in shared if label not in needed]
    free_one = [label for label in one.labels if label not in shared]
    free_other = [label for label in other.labels if label not in shared]
    if not summed:
        return _outer_product(one, other, kept, free_one, free_other)
    left = _blocks(one, kept, free_one, summed)
    right = _blocks(other, kept, summed, free_other)
    sizes = dict(zip(one.labels, one.tensor.shape)) | dict(zip(other.labels, other.tensor.shape))
    labels = (*kept, *free_one, *free_other)
    return Term(left.matmul(right).reshape([sizes[label] for label in labels]), labels)


def _blocks(term: Term, kept: list[Label], rows: list[Label], columns: list[Label]) -> Tensor:
    """A batch of matrices: each group of labels made one dimension."""
    sizes = dict(zip(term.labels, term.tensor.shape))
    groups = (kept, rows, columns)
    order = [term.labels.index(label) for group in groups for label in group]
    shape = [int(np.prod([sizes[label] for label in group], dtype=np.int64)) for group in groups]
    return term.tensor.permute(order).reshape(shape)


def _outer_product(
    one: Term, other: Term, kept: list[Label], free_one: list[Label], free_other: list[Label]
) -> Term:
    """Nothing is summed: both operands aligned and multiplied."""
    labels = (*kept, *free_one, *free_other)
    return Term(_aligned(one, labels) * _aligned(other, labels), labels)


def _aligned(term: Term, labels: tuple[Label, ...]) -> Tensor:
    """The tensor's dimensions in the order of `labels`, size one for those it has not."""
    sizes = dict(zip(term.labels, term.tensor.shape))
    ordered = term.tensor.permute([term.labels.index(label) for label in labels if label in sizes])
    return ordered.reshape([sizes.get(label, 1) for label in labels])
