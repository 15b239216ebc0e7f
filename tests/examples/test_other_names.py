"""Public names of PyTorch and NumPy: each is there or has its reason."""

import coverage_of_names
import pytest
from other_names import counterparts


@pytest.mark.parametrize("module", coverage_of_names.MODULES.values())
def test_each_name_is_there_or_has_a_reason(module):
    assert coverage_of_names.without_reason(module) == [], "add it, or give a reason in docs/names/reasons.yaml"


@pytest.mark.parametrize("module", coverage_of_names.MODULES.values())
def test_no_reason_is_given_for_names_that_are_there(module):
    assert coverage_of_names.needless(module) == []


def test_counterparts():
    assert counterparts("amax", ()) == {"PyTorch": ["torch.amax", "torch.Tensor.amax"], "NumPy": ["numpy.amax"]}
    assert counterparts("linalg_det", ()) == {"PyTorch": ["torch.linalg.det"], "NumPy": ["numpy.linalg.det"]}
    assert counterparts("sum_to", ()) == {}
