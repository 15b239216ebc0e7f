"""Arrays that are large enough to be shared out over threads, by ops that combine their elements."""

from __future__ import annotations

import math
import re
import sys
import tracemalloc
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING

import gradsmith as gs

from ...case import REAL, Setting
from ...references.expected import expected_results, reference_of
from ...references.refusals import REFUSALS
from ...references.settled import is_of_matrices
from ...samples import places_of
from .. import value
from . import changed
from .elementwise import is_elementwise
from .resized import PRECISION, has_matrices, is_accepted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...case import Subject
    from ...proof import Proof
    from ...samples import Case, Values

THREADS = 2
ENOUGH = 70_001  # elements for each of two threads, and no multiple of a vector's width
MOST = 200_000
AXES, ENOUGH_SETTINGS = 4, 4
FEW, TWICE = 40, 80  # sizes by which it is told how results grow
MOST_CALLS = 300_000  # of functions, by a reference that goes over elements one by one
LINEAR = 2.5  # how much more memory than for half of the elements is none that goes with their square
ALL_PAIRS = re.compile(r"correlate|convolve")  # references that multiply each element with all others


@contextmanager
def several_threads() -> Iterator[None]:
    before = gs.get_num_threads()
    gs.set_num_threads(THREADS)
    try:
        yield
    finally:
        gs.set_num_threads(before)


def check(subject: Subject, proof: Proof) -> None:
    with several_threads():
        for setting in shared_settings(subject):
            value.check_setting(setting, proof, PRECISION)
            changed.check_setting(setting, proof)


def shared_settings(subject: Subject) -> Iterator[Setting]:
    """Samples with one size so large that the largest array has enough elements: of all axes, in some of the samples.

    Elementwise ops are tried so elsewhere; views compute nothing; the factors of a matrix grow with its square; an op
    that only formulas call trusts its arguments to fit.
    """
    row = subject.row
    is_costly = is_of_matrices(row) or ALL_PAIRS.search(reference_of(row))
    if not (row.is_view or "internal" in row.forms or is_costly):
        found = (
            setting for number in range(AXES) for case in subject.cases for setting in along(subject, case, number)
        )
        yield from islice(found, ENOUGH_SETTINGS)


def along(subject: Subject, case: Case, number: int) -> Iterator[Setting]:
    """With the size of that number, in ascending order, if the sample has one and the op takes it."""
    sizes = sizes_of(case.values())[number : number + 1]
    for size in () if has_matrices(case) or is_elementwise(subject, case) else sizes:
        count = enough_of(case, size)
        setting = resized(subject, case, size, count)
        if count and grows_evenly(subject, case, size, count) and is_accepted(setting):
            yield setting


def sizes_of(values: Values) -> list[int]:
    return sorted({size for _, array in places_of(values) for size in array.shape if size > 1})


def resized(subject: Subject, case: Case, size: int, count: int) -> Setting:
    return Setting(subject, case, case.values(sizes={size: count}), REAL, f"sizes {size} made {count}")


def enough_of(case: Case, size: int) -> int:
    """How many take the place of a size; none where that makes too many elements of another array."""
    shapes = [array.shape for _, array in places_of(case.values())]
    degree = max(shape.count(size) for shape in shapes)
    rest = max(math.prod(n for n in shape if n != size) for shape in shapes if shape.count(size) == degree)
    count = math.ceil((ENOUGH / max(rest, 1)) ** (1 / degree)) if degree else 0
    return count if all(math.prod(count if n == size else n for n in shape) <= MOST for shape in shapes) else 0


def grows_evenly(subject: Subject, case: Case, size: int, count: int) -> bool:
    """Whether the results at that size are no larger than the arrays, as those of an outer product are, and the
    reference can be afforded."""
    few, twice = (resized(subject, case, size, n) for n in (FEW, TWICE))
    try:
        results, more = few.results(), twice.results()
        (calls, room), (more_calls, more_room) = effort_of(few), effort_of(twice)
    except REFUSALS:
        return False
    growth = math.log2(sum(result.size for result in more) / max(sum(result.size for result in results), 1) or 1)
    total = sum(result.size for result in results) * (count / FEW) ** growth
    all_calls = (more_calls - calls) / FEW * count
    return len(results) == len(more) and total <= MOST and all_calls <= MOST_CALLS and more_room <= LINEAR * room


def effort_of(setting: Setting) -> tuple[int, int]:
    """How many functions the reference calls, and how many bytes it needs at once."""
    calls = 0

    def count(*event: object) -> None:
        nonlocal calls
        calls += 1

    before = sys.getprofile()
    tracemalloc.start()
    sys.setprofile(count)
    try:
        expected_results(setting.subject.row, setting.values)
    finally:
        sys.setprofile(before)
        room = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return calls, room
