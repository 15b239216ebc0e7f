"""Every sample of every entry as a compiled function: values, gradients, and gradients of these, are those of eager.

The program is made with one set of numbers and then runs on another one.
"""

from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.compiler import TraceError
from gradsmith.generated.op_table import OPS
from gradsmith.verify.case import Subject
from gradsmith.verify.samples import key_of
from tests.compiler.samples import Sample

# Shapes of their results, or the calls they consist of, depend on values.
BY_VALUES = {
    "argwhere", "bincount", "consecutive_elements", "masked_select", "nonzero_rows", "repeat_interleave.places",
    "repeat_interleave.tensor", "repeated_places", "tensor_split.tensor", "unique_elements", "where.condition",
}  # fmt: skip
SEEDS = (3, 4)

pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values")


def equal(found: Any, expected: Any) -> bool:
    """To rounding: a gradient without a graph may come from one loop or from the ops of its formula."""
    if isinstance(found, (list, tuple)):
        return len(found) == len(expected) and all(map(equal, found, expected))
    if not isinstance(found, gs.Tensor):
        return found is expected or found == expected
    x, y = found.detach().numpy(), expected.detach().numpy()
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    return np.allclose(x, y, rtol=1e-12, atol=1e-12, equal_nan=True) if x.dtype.kind in "fc" else np.array_equal(x, y)


def expected_of(function: Any, sample: Sample) -> list[Any] | None:
    """What the function gives for both sets of numbers; None where it raises."""
    found = []
    for seed, arrays in zip(SEEDS, (sample.first, sample.second)):
        gs.manual_seed(seed)
        try:
            found.append(function(*sample.tensors(arrays)))
        except Exception:
            return None
    return found


def check(function: Any, sample: Sample) -> None:
    expected = expected_of(function, sample)
    if expected is None:
        return
    compiled = gs.compile(function)
    for seed, arrays, values in zip(SEEDS, (sample.first, sample.second), expected):
        gs.manual_seed(seed)
        assert equal(compiled(*sample.tensors(arrays)), values), sample.setting.label


@pytest.mark.parametrize("row", OPS, ids=key_of)
def test_samples(row: Any) -> None:
    for setting in Subject(row).settings():
        sample = Sample(setting)
        for function in (sample.values, sample.gradients, sample.second_gradients):
            if key_of(row) in BY_VALUES and expected_of(function, sample) is not None:
                with pytest.raises(TraceError, match=r"not possible for a tensor of a compiled function"):
                    check(function, sample)
            else:
                check(function, sample)


@pytest.mark.parametrize("axis", [0, -1])
@pytest.mark.parametrize("row", OPS, ids=key_of)
def test_samples_without_elements(row: Any, axis: int) -> None:
    """The first sample, of whose tensors nothing is left along one dimension."""
    if key_of(row) in BY_VALUES or row.base == "strided_view":  # an internal op, which reads where it is told to
        return
    sample = Sample(next(iter(Subject(row).settings())))
    sample.first, sample.second = ([emptied(one, axis) for one in arrays] for arrays in (sample.first, sample.second))
    for function in (sample.values, sample.gradients, sample.second_gradients):
        check(function, sample)


def emptied(array: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    return array[:0] if axis == 0 and array.ndim else array[..., :0] if array.ndim else array


@pytest.mark.parametrize("row", OPS, ids=key_of)
def test_captured_tensors_are_read_in_each_run(row: Any) -> None:
    if key_of(row) in BY_VALUES:
        return
    for setting in Subject(row).settings():
        sample = Sample(setting)
        tensors = sample.tensors(sample.first)
        expected = expected_of(sample.gradients, sample)
        if expected is None or row.base.endswith("_"):
            continue
        compiled = gs.compile(lambda: sample.gradients(*tensors))  # noqa: B023
        gs.manual_seed(SEEDS[0])
        assert equal(compiled(), expected[0]), setting.label
        with gs.no_grad():
            for tensor, array in zip(tensors, sample.second):
                tensor.copy_(gs.tensor(array))
        gs.manual_seed(SEEDS[1])
        assert equal(compiled(), expected[1]), setting.label
