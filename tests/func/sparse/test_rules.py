"""The rules of tracing, held against the derivatives of every op of the table."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import grad
from gradsmith.func.sparse.tracing import pattern_between
from gradsmith.generated.op_table import OPS
from gradsmith.verify.case import Subject
from gradsmith.verify.samples import as_tensors, at, leaves_among, replaced

CASES = [pytest.param(case, id=case.id) for row in OPS for case in Subject(row).cases if case.inputs]


def recorded(case, flipped=False):
    """Results and leaves of one call of an op; `flipped`: with the same numbers at other places of the inputs."""
    arrays = case.values("float64")
    others = {place: at(arrays, place).ravel()[::-1].reshape(at(arrays, place).shape) for place in case.inputs}
    values = as_tensors(replaced(arrays, others) if flipped else arrays)
    leaves = leaves_among(values, case.inputs)
    subject = Subject(case.row)
    return [result for result in subject.differentiable(subject.call(values)) if result.requires_grad], leaves


def rows_of(outputs, leaves, create_graph=False):
    """The Jacobian, by one backward for each element."""
    rows = []
    for output in outputs:
        for place in np.ndindex(output.shape):
            unit = np.zeros(output.shape, output.dtype)
            unit[place] = 1
            found = grad([output], leaves, [gs.tensor(unit)], retain_graph=True, materialize_grads=True)
            rows.append(np.concatenate([one.detach().numpy().ravel() for one in found]))
    return np.array(rows).reshape(len(rows), sum(leaf.numel() for leaf in leaves))


def require_superset(outputs, leaves, others, other_leaves):
    """The pattern of one call has all entries of another one."""
    try:
        entries = rows_of(others, other_leaves) != 0
    except NotImplementedError:
        return
    assert not (entries & ~pattern_between(outputs, leaves, "test").toarray()).any()


def gradients_of(outputs, leaves):
    """What a Hessian is the Jacobian of, and by what: the leaves, and gradients that come in."""
    weights = [gs.tensor(np.linspace(0.5, 1.5, o.numel()).reshape(o.shape), dtype=o.dtype) for o in outputs]
    weights = [weight.requires_grad_() for weight in weights]
    try:
        found = grad(outputs, leaves, weights, create_graph=True, materialize_grads=True)
    except NotImplementedError:
        return [], leaves
    return [gradient for gradient in found if gradient.requires_grad], [*leaves, *weights]


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_no_entry_is_missed(case, flipped):
    require_superset(*recorded(case), *recorded(case, flipped))


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_no_entry_of_the_gradients_is_missed(case, flipped):
    require_superset(*gradients_of(*recorded(case)), *gradients_of(*recorded(case, flipped)))
