"""Elementwise ops on every size: every element is computed as it is in any other array."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from table import CALLABLE, CASES

from gradsmith.verify.case import Setting, Subject
from gradsmith.verify.checks.other_calls.elementwise import is_elementwise, sum_and_gradients, tensors_of
from gradsmith.verify.samples import places_of, replaced

FAMILIES = list(dict.fromkeys(row.family for row in CALLABLE))
PRECISION = {"float32": 2e-5, "float64": 1e-12}


@cache
def elementwise_cases():
    return [case for case in CASES if is_elementwise(Subject(case.row), case)]


@pytest.mark.long
def test_compiled_loops_are_elementwise():
    compiled = {case.id for case in CASES if case.row.forward.startswith(("ufunc(", "pointwise("))}
    assert compiled <= {case.id for case in elementwise_cases()}


def of_size(case, size, dtype):
    values = case.values(dtype, shapes=dict.fromkeys(tensors_of(case), (size,)))
    return Setting(Subject(case.row), case, values, dtype)


def part(setting, start, stop):
    parts = {place: array[start:stop] for place, array in places_of(setting.values)}
    return setting.with_values(replaced(setting.values, parts), "part")


@pytest.mark.long
@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_size_computes_each_element_alike(family, dtype):
    """Sizes 1 to 70 cross every width of a vector loop; starting at 1 shifts the alignment."""
    for case in elementwise_cases():
        if case.row.family == family:
            whole = of_size(case, 72, dtype)
            expected = sum_and_gradients(of_size(case, 72, "float64"))
            for size, start in product(range(1, 71), (0, 1)):
                expect_part(part(whole, start, start + size), [one[start : start + size] for one in expected])


def expect_part(setting, expected):
    precision = PRECISION[setting.dtype]
    for one, other in zip(sum_and_gradients(setting), expected):
        np.testing.assert_allclose(one, other, rtol=precision, atol=precision, err_msg=setting.case.id)
