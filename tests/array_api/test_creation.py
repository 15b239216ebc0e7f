"""Functions that make tensors, where the standard asks for more than `gradsmith` itself."""

import pytest

import gradsmith as gs
import gradsmith.array_api as xp


@pytest.mark.parametrize(
    ("bounds", "dtype"),
    [
        ((0.5, 0, 1), gs.float32),
        ((2, 0.5), gs.float32),
        ((0, 1, -1), gs.int64),
        ((3, -2), gs.int64),
        ((0, 0.0), gs.float32),
    ],
)
def test_no_values_where_the_step_leads_away(bounds, dtype):
    found = xp.arange(*bounds)
    assert found.shape == (0,)
    assert found.dtype == dtype
