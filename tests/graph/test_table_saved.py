"""Every sample of every entry, saved and loaded: values, gradients and backwards are bit for bit those of `compile`."""

import io
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.compiler import TraceError
from gradsmith.generated.op_table import OPS
from gradsmith.graph.saved.entries import needs_object
from gradsmith.verify.case import Subject
from gradsmith.verify.samples import key_of
from tests.compiler.samples import Sample
from tests.compiler.test_table import BY_VALUES

# Which of them draw from a generator that the sample seeds, which no file can hold.
DRAWS = {
    "bernoulli_", "bernoulli_.Tensor", "cauchy_", "counted_by", "drawn_by", "exponential_", "geometric_", "log_normal_",
    "multinomial", "normal_", "random_", "random_.from", "uniform_",
}  # fmt: skip
# A backward from ones is refused for complex matrices, whose factors have a phase that nothing says.
PHASES = "depends on this quantity"

pytestmark = pytest.mark.filterwarnings("ignore:Casting complex values")


def compiled_for(function: Any, sample: Sample) -> Any:
    """The compiled function; None where the function raises."""
    compiled = gs.compile(function)
    try:
        for arrays in (sample.first, sample.second):
            compiled(*sample.tensors(arrays))
    except Exception:
        return None
    return compiled


def loaded_for(function: Any, sample: Sample) -> Any:
    file = io.BytesIO()
    gs.graph.save(function, sample.tensors(sample.first), file)
    file.seek(0)
    return gs.graph.load(file)


def outcome(function: Any, tensors: list[Any]) -> list[Any]:
    """Results, gradients of a weighted sum of them, and the arguments afterwards."""
    results = function(*tensors)
    recorded = [one for one in results if isinstance(one, gs.Tensor) and one.requires_grad]
    weights = [gs.linspace(0.5, 1.5, one.numel(), dtype=one.dtype).reshape(one.shape) for one in recorded]
    try:
        if recorded:
            gs.autograd.backward(recorded, weights)
    except RuntimeError as error:
        assert PHASES in str(error)
    return [*results, *[tensor.grad for tensor in tensors], *tensors]


def same(one: Any, other: Any) -> bool:
    if not isinstance(one, gs.Tensor) or not isinstance(other, gs.Tensor):
        return bool(one == other)
    x, y = one.detach().numpy(), other.detach().numpy()
    equal = np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")
    return bool(x.dtype == y.dtype and equal and one.requires_grad == other.requires_grad)


# `make test` tries every fifth entry.
ROWS = [pytest.param(row, id=key_of(row), marks=pytest.mark.long if i % 5 else ()) for i, row in enumerate(OPS)]


@pytest.mark.parametrize("row", ROWS)
def test_samples(row: Any) -> None:
    for setting in Subject(row).settings():
        sample = Sample(setting)
        for function in (sample.values, sample.gradients):
            compiled = compiled_for(function, sample)
            if compiled is None:
                continue
            if key_of(row) in DRAWS or needs_object(row):
                with pytest.raises(NotImplementedError, match="Generator|it calls Python|no op that a file can name"):
                    loaded_for(function, sample)
                continue
            assert key_of(row) not in BY_VALUES
            try:
                program = loaded_for(function, sample)
            except TraceError as error:
                assert PHASES in str(error)
                continue
            for arrays in (sample.first, sample.second):
                found, expected = (outcome(one, sample.tensors(arrays)) for one in (program, compiled))
                assert all(map(same, found, expected)), setting.label
