"""An element without dimensions is computed as one of a vector is; NumPy and SciPy give scalars for it."""

import numpy as np
import pytest
from table import CALLABLE

import gradsmith as gs
from gradsmith.verify.calls import call

UNARY = [row for row in CALLABLE if [a.type for a in row.arguments if a.default is None] == ["Tensor"]]
REFUSALS = (NotImplementedError, RuntimeError, TypeError, ValueError, IndexError)


def called(row, tensor):
    """Result of an op that keeps shapes; None of one that does not, or refuses."""
    try:
        result = call(row, {row.arguments[0].name: tensor})
    except REFUSALS:
        return None
    return result.numpy() if gs.is_tensor(result) and result.shape == tensor.shape else None


def is_elementwise(row, elements):
    both, turned = called(row, elements), called(row, elements.flip(0))
    return both is not None and turned is not None and np.array_equal(both, turned[::-1])


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int64", "float16", "float32", "float64", "complex64", "complex128"]
)
@pytest.mark.filterwarnings("ignore")
def test_elements_without_dimensions(dtype):
    elements = gs.tensor([0.375, 2.625]).to(getattr(gs, dtype))
    compared = [row for row in UNARY if is_elementwise(row, elements)]
    assert len(compared) > 40
    for row in compared:
        of_element = called(row, elements[0])
        if of_element is not None:  # flip wants a dimension
            assert of_element.dtype == called(row, elements).dtype, row.base
            np.testing.assert_array_equal(of_element, called(row, elements)[0], row.base)
