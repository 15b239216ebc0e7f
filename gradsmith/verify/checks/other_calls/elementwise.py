"""Ops that compute each element apart, on every shape: broadcast, without dimensions, without elements, large; and at
infinities, NaN and the ends of the range."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import gradsmith as gs
from gradsmith.autograd import grad

from ...case import REAL, Setting
from ...domains import is_inside
from ...references.expected import expected_results, sum_to
from ...references.refusals import REFUSALS, is_deliberate, lacks_requirement
from ...samples import Case, array_of, as_tensors, at, leaves_among, places_of, replaced
from .. import value
from ..derivatives import reverse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...case import Subject
    from ...proof import Proof
    from ...samples import Array, Place, Shape

TRIED = (3, 4)  # a shape with more than one dimension, and not square
SHAPES: tuple[Shape, ...] = ((), (1,), (0,), (2, 0, 3), (1, 1))
PATTERNS: tuple[tuple[Shape, ...], ...] = (
    ((3, 4), (4,), (1, 4)),
    ((4,), (3, 4), (3, 4)),
    ((3, 1), (1, 4), (4,)),
    ((), (3, 4), ()),
    ((3, 4), (), (3, 1)),
    ((2, 1, 4), (3, 1), (1, 1)),
    ((1, 1, 1), (4,), ()),
    ((0, 1), (1, 3), (1,)),
)
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e150, -1e150, 1e-150)
LARGE, PERIOD = 100_003, 1009  # enough for several threads, and no multiple of anything
ALONE: tuple[Shape, ...] = ((12,), (5,), (), (2, 1, 7), (PERIOD,))  # in which an element keeps its result
SAME = 1e-12
SINGLE = 1e-5


def check(subject: Subject, proof: Proof) -> None:
    for case in subject.cases:
        if is_elementwise(subject, case):
            check_shapes(subject, case, proof)
            check_broadcasting(subject, case, proof)
            check_special_values(subject, case, proof)
            check_large(subject, case, proof)


def is_elementwise(subject: Subject, case: Case) -> bool:
    """Whether permuting the elements of the inputs permutes those of the result, and each counts for itself alone."""
    known = subject.elementwise.get(case.number)
    if known is None:
        known = subject.elementwise[case.number] = (
            are_arrays(subject, case) and permutes(subject, case) and counts_alone(subject, case)
        )
    return known


def are_arrays(subject: Subject, case: Case) -> bool:
    """Whether a plain op has tensors that are made by their shapes; it looks at those of a list together."""
    names = tensors_of(case)
    values = case.values(shapes=dict.fromkeys(names, TRIED))
    arrays = [values[name] for name in names]
    return bool(arrays) and not subject.row.is_view and all(is_shaped(array, TRIED) for array in arrays)


def is_shaped(value: object, shape: Shape) -> bool:
    return isinstance(value, np.ndarray) and value.shape == shape


def permutes(subject: Subject, case: Case) -> bool:
    names = tensors_of(case)
    values = case.values(shapes=dict.fromkeys(names, TRIED))
    order = np.random.default_rng(0).permutation(values[names[0]].size)
    permuted = replaced(values, {(name,): values[name].ravel()[order].reshape(TRIED) for name in names})
    setting = Setting(subject, case, values, REAL)
    try:
        results, others = setting.results(), setting.results(permuted)
    except REFUSALS:
        return False
    if len(results) != 1 or results[0].shape != TRIED:
        return False
    # Loops over vectors may round their last elements otherwise than those before.
    is_same = np.allclose(results[0].ravel()[order], others[0].ravel(), SINGLE, 0)
    return is_same and takes_shapes(subject, case)


def counts_alone(subject: Subject, case: Case) -> bool:
    """Whether an element has the same result among others and in other shapes, and nothing depends on their number.

    That is asked of the reference: an op that differs from it for some sizes alone is to be found.
    """
    names = tensors_of(case)
    plain = reshaped(subject, case, dict.fromkeys(names, TRIED))
    arrays = {(name,): plain.values[name].ravel() for name in names}
    whole = definition(plain, {})
    for shape in ALONE:
        parts = {place: np.resize(array, shape) for place, array in arrays.items()}
        found = definition(plain, parts)
        if found.shape != shape or not np.allclose(found, np.resize(whole, shape), SINGLE, 0, equal_nan=True):
            return False
    return True


def definition(setting: Setting, arrays: dict[Place, Array]) -> Array:
    """The result by the reference; that of the op where there is none, or where it gives up."""
    values = replaced(setting.values, arrays)
    try:
        (found,) = expected_results(setting.subject.row, values)
    except REFUSALS:
        (found,) = setting.results(values)
    return np.asarray(found)


def takes_shapes(subject: Subject, case: Case) -> bool:
    """Whether shapes can be exchanged: that of a mask that is written out cannot; nor where op and reference refuse."""
    names = tensors_of(case)
    shapes = ((2, 5), (), *SHAPES, (2, 3, 4)) if subject.row.requires else ((2, 5), ())
    for shape in shapes:
        setting = reshaped(subject, case, dict.fromkeys(names, shape))
        if lacks_requirement(subject.row, setting.results):
            return False
        if not all(is_shaped(setting.values[name], shape) for name in names):
            return False
        if is_refused(setting.results) and is_refused(lambda at=setting: expected_results(subject.row, at.values)):  # type: ignore[misc]
            return False
    return True


def is_refused(call: Callable[[], object]) -> bool:
    try:
        call()
    except REFUSALS:
        return True
    return False


def tensors_of(case: Case) -> list[str]:
    """Tensors that are computed with; not those of which an op takes the shape or the dtype."""
    models = case.row.non_differentiable
    found = places_of(case.values())
    return [place[0] for place, array in found if place[0] not in models or array.dtype.kind not in "fc"]


def reshaped(subject: Subject, case: Case, shapes: dict[str, Shape], dtype: str = REAL) -> Setting:
    shown = " and ".join(map(str, dict.fromkeys(shapes.values())))
    return Setting(subject, case, case.values(dtype, shapes=shapes), dtype, f"shaped {shown}")


def check_shapes(subject: Subject, case: Case, proof: Proof) -> None:
    for shape in SHAPES:
        setting = reshaped(subject, case, dict.fromkeys(tensors_of(case), shape))
        value.check_setting(setting, proof)
        if case.inputs:
            weights = setting.weights()
            reverse.check_differences(setting, weights, setting.gradients(weights), proof)


def check_broadcasting(subject: Subject, case: Case, proof: Proof) -> None:
    """The gradient is that of the expanded inputs, summed back over what was expanded."""
    names = tensors_of(case)
    for pattern in PATTERNS if 1 < len(names) <= len(PATTERNS[0]) else ():
        common = np.broadcast_shapes(*pattern[: len(names)])
        if subject.row.base.endswith("_") and pattern[0] != common:
            continue  # what is written keeps its shape
        setting = reshaped(subject, case, dict(zip(names, pattern)))
        if says_that_shapes_differ(setting):
            continue
        whole = {(name,): np.broadcast_to(setting.values[name], common).copy() for name in names}
        expanded = setting.with_values(replaced(setting.values, whole), "expanded")
        for found, expected in zip(setting.results(), expanded.results()):
            proof.compare("shapes", "value of broadcast inputs", setting.label, found, expected, SAME)
        if case.inputs:
            weights = setting.weights()
            for place, found, full in zip(case.inputs, setting.gradients(weights), expanded.gradients(weights)):
                expected = sum_to(full, at(setting.values, place).shape)
                name = f"{reverse.name_of(place)}, summed over what was broadcast"
                proof.compare("shapes", name, setting.label, found, expected, SAME)


def says_that_shapes_differ(setting: Setting) -> bool:
    """Whether an op refuses to broadcast, as losses do whose target is to have the shape of the input."""
    try:
        setting.results()
    except REFUSALS as error:
        return is_deliberate(error, setting.subject.row)
    return False


def check_special_values(subject: Subject, case: Case, proof: Proof) -> None:
    """Values are the reference's; of gradients the compiled loop and the recorded ops agree."""
    setting = special_setting(subject, case)
    if setting is not None:
        value.check_setting(setting, proof)
        ones = [np.ones_like(result) for result in setting.root_arrays()]
        reverse.check_recorded(setting, ones, setting.gradients(ones), proof)


def special_settings(subject: Subject) -> Iterator[Setting]:
    """Of all samples by which the op is elementwise."""
    found = (special_setting(subject, case) for case in subject.cases if is_elementwise(subject, case))
    return (setting for setting in found if setting is not None)


def special_setting(subject: Subject, case: Case) -> Setting | None:
    """All combinations of special values; what is no number may be refused."""
    names = [place[0] for place in case.inputs]
    if not names or len(names) != len(tensors_of(case)):
        return None
    grids = np.meshgrid(*(special_values(subject, name) for name in names))
    values = replaced(case.values(), {(name,): grid.ravel() for name, grid in zip(names, grids)})
    setting = Setting(subject, case, values, REAL, "special values")
    if not is_refused(setting.results):
        return setting
    finite = {place: array[np.isfinite(array)] for place, array in places_of(values)}
    setting = setting.with_values(replaced(values, finite), "special values that are finite")
    is_odd = len({array.size for array in finite.values()}) > 1
    return None if is_odd or is_refused(setting.results) else setting


def special_values(subject: Subject, name: str) -> list[float]:
    """Those in the domain of the argument."""
    domain = subject.row.domain.get(name)
    return [x for x in SPECIAL if domain is None or is_inside(x, domain)]


def check_large(subject: Subject, case: Case, proof: Proof) -> None:
    """Every element is computed as it is in a small array."""
    shapes: dict[str, Shape] = dict.fromkeys(tensors_of(case), (PERIOD,))
    small = reshaped(subject, case, shapes, "float32")
    tiled = {place: np.resize(array, LARGE) for place, array in places_of(small.values)}
    large = small.with_values(replaced(small.values, tiled), f"{LARGE} elements")
    for found, expected in zip(sum_and_gradients(large), sum_and_gradients(small)):
        proof.compare("shapes", "value or gradient", large.label, found, np.resize(expected, LARGE), SINGLE)


def sum_and_gradients(setting: Setting) -> list[Array]:
    """Value of the op, and the gradients of its sum."""
    tensors = as_tensors(setting.values)
    leaves = leaves_among(tensors, setting.places)
    (result,) = setting.subject.call(tensors)
    gradients = grad(result, leaves, gs.ones_like(result), materialize_grads=True) if leaves else ()
    return [array_of(result), *(array_of(g) for g in gradients)]
