"""Recording, running and dropping every op leaves nothing behind, whether it goes well or not."""

import pytest
from steady import assert_steady
from table import CASES, has_derivative

from gradsmith.autograd import grad
from gradsmith.verify.calls import call, outputs_of
from gradsmith.verify.samples import as_tensors, at

pytestmark = pytest.mark.long


def round_trip(case):
    """Forward; backward into leaves; gradient of the gradient; a recorded result that nobody uses."""
    values = case.values()

    def call_once():
        tensors = as_tensors(values)
        leaves = [at(tensors, place).requires_grad_() for place in case.inputs]
        results = [r for r in outputs_of(call(case.row, tensors)) if r.requires_grad]
        if not results:
            return
        total = sum((r * r.conj()).real.sum() for r in results)
        total.backward(retain_graph=True)
        firsts = grad(total, leaves, create_graph=True)
        recorded = [first.real.sum() for first in firsts if first.requires_grad]
        if recorded:
            grad(recorded, leaves, materialize_grads=True)

    return call_once


@pytest.mark.parametrize("case", list(filter(has_derivative, CASES)), ids=lambda case: case.id)
def test_every_op_in_full_circle(case):
    assert_steady(round_trip(case), times=60, warm_up=10)


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_every_op_refusing_its_arguments(case):
    """A text in place of each argument in turn."""
    tensors = as_tensors(case.values())

    def call_once():
        for name in tensors:
            try:
                call(case.row, {**tensors, name: "no such thing"})
            except (TypeError, ValueError, RuntimeError, AttributeError, IndexError, NotImplementedError):
                continue

    assert_steady(call_once, times=60, warm_up=10)
