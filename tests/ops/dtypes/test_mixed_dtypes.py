"""Operands of several dtypes: refused, or computed as if all had the wider one. No loop reads one as another."""

import numpy as np
import pytest
from table import CASES

import gradsmith as gs
from gradsmith.verify.calls import call, outputs_of
from gradsmith.verify.samples import as_tensors, places_of, replaced

REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, Warning)


def arrays_of(case):
    return [(place, value) for place, value in places_of(case.values()) if isinstance(value, np.ndarray)]


MIXED = [case for case in CASES if len(arrays_of(case)) > 1]


def results_of(case, values):
    gs.manual_seed(0)
    return [
        result.detach().numpy() for result in outputs_of(call(case.row, as_tensors(replaced(case.values(), values))))
    ]


def of_dtype(array, dtype):
    """Numbers that both dtypes have, where it can be."""
    if dtype == "complex128":
        return np.asarray(array + 0.5j)
    return np.asarray((np.abs(np.round(array.real)) + 1 if dtype == "int32" else array.real).astype(dtype))


def of_common_dtype(case, place, given):
    """What stands in the place of all operands, so that they have one dtype."""
    if given.dtype.kind != "c":
        return {place: given.astype(dict(arrays_of(case))[place].dtype)}
    wide = {other: value.astype("complex128") for other, value in arrays_of(case) if value.dtype.kind == "f"}
    return {**wide, place: given}


@pytest.mark.usefixtures("any_gradient")
@pytest.mark.parametrize("dtype", ["float32", "int32", "complex128"])
@pytest.mark.parametrize("case", MIXED, ids=[case.id for case in MIXED])
def test_one_operand_of_another_dtype(case, dtype):
    for place, array in arrays_of(case):
        if array.dtype.kind not in "fc" or (array.dtype.kind, dtype) == ("c", "complex128"):
            continue
        given = of_dtype(array, dtype)
        try:
            found, expected = results_of(case, {place: given}), results_of(case, of_common_dtype(case, place, given))
        except REFUSALS:
            continue
        for one, other in zip(found, expected, strict=True):
            if one.dtype.kind != "b" and not (one.dtype.kind in "iu" and other.dtype.kind in "fc"):
                np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-3)
