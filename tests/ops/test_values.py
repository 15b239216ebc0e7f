"""Every op against NumPy: the values of all its samples, in every inexact dtype it takes."""

import numpy as np
import pytest
from references import REFERENCES, value_of
from samples import CALLABLE, CASES, OPS, as_tensors, at, call, key_of, outputs_of, places_of

PRECISION = {"float64": 1e-13, "complex128": 1e-13, "float32": 1e-5, "complex64": 1e-5}
REAL, ALL = ("float64", "float32"), tuple(PRECISION)
DTYPED = [(case, dtype) for case in CASES for dtype in (ALL if case.row.complex else REAL)]


def test_every_op_has_samples_and_a_reference():
    assert all(row.samples for row in OPS)
    assert {row.base for row in CALLABLE} == {key.split(".")[0] for key in REFERENCES}
    assert set(REFERENCES) <= {key_of(row) for row in CALLABLE}


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize(("case", "dtype"), DTYPED, ids=[f"{case.id}-{dtype}" for case, dtype in DTYPED])
def test_value(case, dtype):
    values = case.values(dtype)
    before = {place: array.copy() for place, array in places_of(values)}
    results = outputs_of(call(case.row, as_tensors(values)))
    expected = value_of(key_of(case.row), values)
    assert [r.shape for r in results] == [e.shape for e in expected]
    for result, reference in zip(results, expected):
        np.testing.assert_allclose(result.detach().numpy(), reference, rtol=PRECISION[dtype], atol=PRECISION[dtype])
    for place, array in before.items():
        np.testing.assert_array_equal(at(values, place), array, err_msg="the op changed its input")
