"""Samples in which one size is another one wherever it occurs: a single element, none at all, many."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gradsmith.codegen.spec.vocabulary import MATRIX_GENERATORS

from ...case import REAL, Setting
from ...references.expected import expected_results
from ...references.refusals import REFUSALS
from ...references.settled import is_of_matrices
from ...samples import places_of, replaced
from .. import value
from ..derivatives import reverse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...case import Subject
    from ...proof import Proof
    from ...samples import Array, Case

MANY = 67  # no multiple of a vector's width
MORE = 2003  # for the value alone, as far as the arrays stay small enough
MOST = 30_000
PRECISION = 1e-11


def check(subject: Subject, proof: Proof) -> None:
    for setting in large_settings(subject):
        value.check_setting(setting, proof, PRECISION)
        for arranged in in_order(setting) if not leaves_order(setting) else ():
            value.check_setting(arranged, proof, PRECISION)
    for setting in resized_settings(subject):
        value.check_setting(setting, proof, PRECISION)
        if setting.places and has_slopes(setting) and str(MANY) not in setting.remark:
            weights = setting.weights()
            gradients = gradients_of(setting, weights)
            if gradients is not None:
                reverse.check_differences(setting, weights, gradients, proof)


def resized_settings(subject: Subject, dtype: str = REAL, sizes: tuple[int, ...] = (1, 0, MANY)) -> Iterator[Setting]:
    """Resized samples whose other arguments still fit: both the reference and the op accept them."""
    for case in subject.cases:
        plain = case.values()
        own = sorted({size for _, array in places_of(plain) for size in array.shape if size > 1})
        changes = [{size: other} for size in own for other in sizes if other != size] + [dict.fromkeys(own, 1)]
        for change in changes:
            remark = "sizes " + " and ".join(f"{one} made {other}" for one, other in change.items())
            setting = Setting(subject, case, case.values(dtype, sizes=change), dtype, remark)
            if is_accepted(setting):
                yield setting


def large_settings(subject: Subject) -> Iterator[Setting]:
    for case in subject.cases:
        arrays = [array for _, array in places_of(case.values())]
        for size in sorted({size for array in arrays for size in array.shape if size > 1}):
            if not has_matrices(case) and stays_small(arrays, size):
                setting = Setting(subject, case, case.values(sizes={size: MORE}), REAL, f"sizes {size} made {MORE}")
                if has_small_results(setting) and is_accepted(setting):
                    yield setting


def leaves_order(setting: Setting) -> bool:
    """Whether other numbers in an order are no other case: of matrices they make singular ones, or a sample has one."""
    texts = setting.case.row.samples[setting.case.number].values()
    is_trusting = "internal" in setting.subject.row.forms
    return is_trusting or is_of_matrices(setting.subject.row) or any("sorted(" in text for text in texts)


def in_order(setting: Setting) -> Iterator[Setting]:
    """The same numbers with the greatest at the end, or at the beginning: where a search for them stops, or starts."""
    arrays = {place: array for place, array in places_of(setting.values) if array.dtype.kind == "f"}
    for word, step in (("ascending", 1), ("descending", -1)):
        sorted_arrays = {p: np.sort(array, axis=None)[::step].reshape(array.shape) for p, array in arrays.items()}
        arranged = setting.with_values(replaced(setting.values, sorted_arrays), f"{setting.remark}, {word}")
        if arrays and is_accepted(arranged):
            yield arranged


def has_small_results(setting: Setting) -> bool:
    """A size that is one of windows and of channels comes twice in a result, which references may take minutes for."""
    try:
        return bool(sum(result.size for result in setting.results()) <= MOST)
    except REFUSALS:
        return False


def stays_small(arrays: list[Array], size: int) -> bool:
    """Every array, even where it has the size more than once, and one that has all sizes."""
    shapes = [array.shape for array in arrays]
    together = {n for shape in shapes for n in shape if n > 1}
    return all(math.prod(MORE if n == size else n for n in shape) <= MOST for shape in (*shapes, together))


def has_matrices(case: Case) -> bool:
    """Of a kind, which have two sizes in one."""
    return any(name in text for text in case.row.samples[case.number].values() for name in MATRIX_GENERATORS)


def gradients_of(setting: Setting, weights: list[Array]) -> list[Array] | None:
    """None where nothing is left of a tensor and the formula refuses that, as those of a convolution do.

    Also where there is none at these sizes, as of the basis of a space of more than one dimension.
    """
    try:
        return setting.gradients(weights)
    except NotImplementedError:
        return None
    except REFUSALS:
        if any(array.size == 0 for _, array in places_of(setting.values)):
            return None
        raise


def has_slopes(setting: Setting) -> bool:
    """The mean of nothing is NaN, and has none."""
    roots = setting.root_arrays()
    return bool(roots) and all(np.all(np.isfinite(root)) for root in roots)


def is_accepted(setting: Setting) -> bool:
    try:
        expected_results(setting.subject.row, setting.values)
        setting.results()
    except REFUSALS:
        return False
    return True
