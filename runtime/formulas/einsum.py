"""einsum as a chain of products of two operands, each a matrix product where something is summed.

Differentiable, since it is made of differentiable ops, and as fast as they are: the letters of two operands fall into
four groups, kept by both, summed, and free in one or the other, and a permutation brings each group together.

An equation is worked out once for operands of certain shapes: `Plan` says what is done to them, in numbers only.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from gradsmith.runtime.arrays.array import array_without_data
from gradsmith.runtime.switches import upcalls

Tensor = Any
Array = Any
Shape = tuple[int, ...]
Label = Any  # a letter, or a negative number for a dimension under "...", counted from the last
Labels = tuple[Label, ...]


def _numbers_along(tensor: Tensor, dim: int) -> Array:
    """The indices of a dimension."""
    length = tensor.shape[dim]
    return array_without_data((length,), np.dtype(np.int64)) if tensor.is_meta else np.arange(length)


def _diagonal(tensor: Tensor) -> Tensor:
    """The first two dimensions, of one length, as one: a view, which steps in both at once."""
    found = tensor.diagonal(0, 0, 1)
    return found if found.ndim == 1 else found.movedim(-1, 0)


class Arrangement(NamedTuple):
    """Steps applied to one tensor, in this order; None leaves a step out."""

    diagonals: tuple[Shape, ...] = ()  # permutations that bring two dimensions to the front, which become one
    squeezed: Shape | None = None
    summed: Shape | None = None
    order: Shape | None = None
    shape: Shape | None = None

    def of(self, tensor: Tensor) -> Tensor:
        for order in self.diagonals:
            tensor = _diagonal(tensor.permute(order))
        if self.squeezed is not None:
            tensor = tensor.squeeze(self.squeezed)
        if self.summed is not None:
            tensor = tensor.sum(self.summed)
        if self.order is not None:
            tensor = tensor.permute(self.order)
        return tensor if self.shape is None else tensor.reshape(self.shape)


class Kind(Enum):
    """How two tensors are multiplied."""

    ELEMENTWISE = "element by element"
    MATRICES = "a matrix product, or one for each label that both keep"
    GROUPS = "row by row, the labels that both keep inside of a row"

    def of(self, left: Tensor, right: Tensor) -> Tensor:
        if self is Kind.ELEMENTWISE:
            return left * right
        return left.matmul(right) if self is Kind.MATRICES else upcalls.rows_of_groups(left, right)


class Product(NamedTuple):
    """Two of the tensors that are left, multiplied; the product goes to the end of what is left."""

    positions: tuple[int, int]
    left: Arrangement
    right: Arrangement
    kind: Kind
    shape: Shape | None

    def of(self, tensors: list[Tensor]) -> list[Tensor]:
        first, second = self.positions
        left, right = self.left.of(tensors[first]), self.right.of(tensors[second])
        result = self.kind.of(left, right)
        if self.shape is not None:
            result = result.reshape(self.shape)
        return [*(t for i, t in enumerate(tensors) if i not in self.positions), result]


class Plan(NamedTuple):
    prepared: tuple[Arrangement, ...]  # one per operand
    products: tuple[Product, ...]
    final: Arrangement


class Term(NamedTuple):
    """A tensor while planning: the label of each dimension, all different, and its size."""

    labels: Labels
    shape: Shape

    @property
    def sizes(self) -> dict[Label, int]:
        return dict(zip(self.labels, self.shape))


def einsum_of_products(equation: str, operands: Sequence[Tensor]) -> Tensor:
    """``einsum(equation, *operands)``."""
    plan = _plan(equation, tuple(tuple(tensor.shape) for tensor in operands))
    tensors = [arrangement.of(tensor) for arrangement, tensor in zip(plan.prepared, operands)]
    for product in plan.products:
        tensors = product.of(tensors)
    result = plan.final.of(tensors[0])
    # A single operand, as it is: a view of it, as any other single operand that is only permuted.
    return result.view(result.shape) if result is operands[0] else result


@lru_cache(maxsize=256)
def _plan(equation: str, shapes: tuple[Shape, ...]) -> Plan:
    inputs, output = _parse(equation, shapes)
    sizes = _sizes(inputs, shapes)
    prepared, terms = zip(*(_prepared(labels, shape, sizes) for labels, shape in zip(inputs, shapes)))
    left = list(terms)
    products = []
    for positions in _order(left, output):
        rest = [term for i, term in enumerate(left) if i not in positions]
        needed = {*output, *(label for term in rest for label in term.labels)}
        result = None if rest else output
        product, term = _product(positions, left[positions[0]], left[positions[1]], needed, result)
        products.append(product)
        left = [*rest, term]
    return Plan(prepared, tuple(products), _final(left[0], output))


# ---- the equation


def _parse(equation: str, shapes: Sequence[Shape]) -> tuple[list[Labels], Labels]:
    """Labels of each operand and of the result."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    texts = left.split(",")
    if len(texts) != len(shapes):
        raise RuntimeError(
            f"einsum(): the equation {equation!r} has {len(texts)} operands, but {len(shapes)} were given"
        )
    inputs = [_labels(text, len(shape), position) for position, (text, shape) in enumerate(zip(texts, shapes))]
    covered = min((label for labels in inputs for label in labels if isinstance(label, int)), default=0)
    ellipsis = tuple(range(covered, 0))
    if not arrow:
        return inputs, _implicit_output(inputs, ellipsis)
    return inputs, _explicit_output(right, inputs, ellipsis)


def _labels(text: str, ndim: int, position: int) -> Labels:
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


def _implicit_output(inputs: list[Labels], ellipsis: tuple[int, ...]) -> Labels:
    """Without an arrow: the letters that come once, in order of the alphabet."""
    counts = Counter(label for labels in inputs for label in labels if isinstance(label, str))
    return (*ellipsis, *sorted(letter for letter, count in counts.items() if count == 1))


def _explicit_output(text: str, inputs: list[Labels], ellipsis: tuple[int, ...]) -> Labels:
    before, dots, after = text.partition("...")
    _check_letters(before + after, "the output")
    output: Labels = (*before, *(ellipsis if dots else ()), *after)
    known = {label for labels in inputs for label in labels}
    for letter in before + after:
        if letter not in known:
            raise RuntimeError(f"einsum(): output subscript {letter!r} does not appear in any operand")
        if output.count(letter) > 1:
            raise RuntimeError(f"einsum(): output subscript {letter!r} appears more than once in the output")
    return output


def _sizes(inputs: list[Labels], shapes: Sequence[Shape]) -> dict[Label, int]:
    """Size of every label; a dimension of size one goes with any size."""
    sizes: dict[Label, int] = {}
    for position, (labels, shape) in enumerate(zip(inputs, shapes)):
        for label, size in zip(labels, shape):
            seen = sizes.get(label, 1)
            if size != 1 and seen not in (1, size):
                raise RuntimeError(
                    f"einsum(): subscript {label if isinstance(label, str) else '...'} has size {size} in operand "
                    f"{position}, but size {seen} before"
                )
            sizes[label] = size if seen == 1 else seen
    return sizes


# ---- one operand


def _prepared(labels: Labels, shape: Shape, sizes: dict[Label, int]) -> tuple[Arrangement, Term]:
    """The operand with every label once, and without dimensions of size one that stand for more."""
    diagonals = []
    while len(set(labels)) < len(labels):
        order = _diagonal_order(labels, shape)
        diagonals.append(order)
        labels, shape = (tuple(values[axis] for axis in order[1:]) for values in (labels, shape))
    stretched = tuple(axis for axis, label in enumerate(labels) if shape[axis] == 1 != sizes[label])
    kept = [axis for axis in range(len(labels)) if axis not in stretched]
    term = Term(tuple(labels[axis] for axis in kept), tuple(shape[axis] for axis in kept))
    return Arrangement(diagonals=tuple(diagonals), squeezed=stretched or None), term


def _diagonal_order(labels: Labels, shape: Shape) -> Shape:
    """The order in which two dimensions of the same label come first."""
    label = next(label for label in labels if labels.count(label) > 1)
    first = labels.index(label)
    second = labels.index(label, first + 1)
    if shape[first] != shape[second]:
        raise RuntimeError(
            f"einsum(): subscript {label!r} is repeated for dimensions of sizes {shape[first]} and {shape[second]}"
        )
    return (first, second, *(axis for axis in range(len(labels)) if axis not in (first, second)))


def _summed(term: Term, needed: set[Label]) -> tuple[Shape | None, Term]:
    """The axes that are not needed, and what is left when they are summed."""
    axes = tuple(axis for axis, label in enumerate(term.labels) if label not in needed)
    kept = [axis for axis, label in enumerate(term.labels) if label in needed]
    return axes or None, Term(tuple(term.labels[axis] for axis in kept), tuple(term.shape[axis] for axis in kept))


def _arranged(summed: Shape | None, term: Term, labels: Sequence[Label], shape: Shape) -> Arrangement:
    """The term's dimensions in the order of `labels`, in this shape."""
    order = tuple(term.labels.index(label) for label in labels if label in term.labels)
    ordered = tuple(term.shape[axis] for axis in order)
    return Arrangement(
        summed=summed,
        order=None if order == tuple(range(len(order))) else order,
        shape=None if shape == ordered else shape,
    )


def _final(term: Term, output: Labels) -> Arrangement:
    """Sum over labels that the output does not name; labels that are of size one in all operands stay so."""
    summed, term = _summed(term, set(output))
    return _arranged(summed, term, output, tuple(term.sizes.get(label, 1) for label in output))


# ---- two operands


def _order(terms: list[Term], output: Labels) -> list[tuple[int, int]]:
    """Choose the two to multiply next, as positions among those that are left; a product goes to the end."""
    if len(terms) < 3:
        return [(0, 1)] * (len(terms) - 1)
    there = {label for term in terms for label in term.labels}
    numbers = {label: number for number, label in enumerate(there)}
    inputs = [[numbers[label] for label in term.labels] for term in terms]
    wanted = [numbers[label] for label in output if label in there]
    path = _path(inputs, [term.shape for term in terms], wanted)
    return [pair for step in path for pair in _pairs(step)]


def _path(inputs: list[list[int]], shapes: list[Shape], output: list[int]) -> Sequence[Sequence[int]]:
    """The steps that opt_einsum finds, where it is installed, or NumPy."""
    finder = _opt_einsum()
    if finder is None:
        arrays = [np.broadcast_to(0.0, shape) for shape in shapes]
        operands = [part for pair in zip(arrays, inputs, strict=True) for part in pair]
        return np.einsum_path(*operands, output, optimize="greedy")[0][1:]
    texts = ["".join(map(finder.get_symbol, numbers)) for numbers in (*inputs, output)]
    equation = f"{','.join(texts[:-1])}->{texts[-1]}"
    return finder.contract_path(equation, *shapes, shapes=True, optimize="auto")[0]  # type: ignore[no-any-return]


@lru_cache(maxsize=1)
def _opt_einsum() -> Any:
    """The package, or None; looked for once, when an equation of three operands or more is first worked out."""
    try:
        return importlib.import_module("opt_einsum")
    except ImportError:
        return None


def _pairs(step: Sequence[int]) -> list[tuple[int, int]]:
    """A step as steps over two operands. One over more than two takes all that are left, in any order."""
    return [(step[0], step[1])] if len(step) == 2 else [(0, 1)] * (len(step) - 1)


def _product(
    positions: tuple[int, int], one: Term, other: Term, needed: set[Label], output: Labels | None
) -> tuple[Product, Term]:
    """Product of two operands, summed over the labels that no later step needs; `output` is None before the last."""
    sum_one, left = _summed(one, needed | set(other.labels))
    sum_other, right = _summed(other, needed | set(left.labels))
    shared = [label for label in left.labels if label in right.labels]
    kept = [label for label in shared if label in needed]
    summed = [label for label in shared if label not in needed]
    rows = [label for label in left.labels if label not in shared]
    columns = [label for label in right.labels if label not in shared]
    has_groups = bool(kept and rows and columns and summed)
    if has_groups and output == (*columns, *kept, *rows):
        return _product(positions[::-1], other, one, needed, output)
    sizes = left.sizes | right.sizes
    by_rows = has_groups and output == (*rows, *kept, *columns)
    labels = (*rows, *kept, *columns) if by_rows else (*kept, *rows, *columns)
    result = Term(labels, tuple(sizes[label] for label in labels))
    if not summed:
        alone = [tuple(term.sizes.get(label, 1) for label in labels) for term in (left, right)]
        arranged = _arranged(sum_one, left, labels, alone[0]), _arranged(sum_other, right, labels, alone[1])
        return Product(positions, *arranged, Kind.ELEMENTWISE, None), result
    batch, m, k, n = (tuple(sizes[label] for label in group) for group in (kept, rows, summed, columns))
    product_shape: Shape
    if by_rows:
        in_rows = _arranged(sum_one, left, [*rows, *kept, *summed], (prod(m), prod(batch), prod(k)))
        in_matrices = _arranged(sum_other, right, [*kept, *summed, *columns], (prod(batch), prod(k), prod(n)))
        kind, product_shape = Kind.GROUPS, (prod(m), prod(batch), prod(n))
    else:
        in_rows = _arranged(sum_one, left, [*kept, *rows, *summed], (*batch, prod(m), prod(k)))
        in_matrices = _arranged(sum_other, right, [*kept, *summed, *columns], (*batch, prod(k), prod(n)))
        kind, product_shape = Kind.MATRICES, (*batch, prod(m), prod(n))
    shape = None if result.shape == product_shape else result.shape
    return Product(positions, in_rows, in_matrices, kind, shape), result
