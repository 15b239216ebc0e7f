"""The rules of tracing, held against the derivatives of every op of the table."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import func
from gradsmith.autograd import allow_phase_dependence, grad
from gradsmith.func.sparse import rules
from gradsmith.func.sparse.tracing import pattern_between
from gradsmith.generated.op_table import OPS
from gradsmith.verify.case import Subject
from gradsmith.verify.samples import as_tensors, at, leaves_among, replaced

FURTHER = pytest.mark.long  # samples of an op than its first
CASES = [
    pytest.param(case, id=case.id, marks=FURTHER if number else ())
    for row in OPS
    for number, case in enumerate(case for case in Subject(row).cases if case.inputs)
]


def recorded(case, flipped=False):
    """Results and leaves of one call of an op; `flipped`: with the same numbers at other places of the inputs."""
    arrays = case.values("float64")
    others = {place: at(arrays, place).ravel()[::-1].reshape(at(arrays, place).shape) for place in case.inputs}
    values = as_tensors(replaced(arrays, others) if flipped else arrays)
    leaves = leaves_among(values, case.inputs)
    subject = Subject(case.row)
    return [result for result in subject.differentiable(subject.call(values)) if result.requires_grad], leaves


@allow_phase_dependence()
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


@allow_phase_dependence()
def gradients_of(outputs, leaves):
    """The function whose Jacobian a Hessian is, and its inputs: the leaves, and the incoming gradients."""
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


# ---- which rule


def row(base, **facts):
    return SimpleNamespace(base=base, gradients=(("self", "f(grad)"),), **{"tangent": "", "is_view": False, **facts})


ALONG = {
    "sum": lambda x: x.sum(1),
    "sum, kept": lambda x: x.sum(1, keepdim=True),
    "mean": lambda x: x.mean(1),
    "prod": lambda x: x.prod(1),
    "var": lambda x: x.var(1),
    "norm": lambda x: x.norm(dim=1),
    "logsumexp": lambda x: x.logsumexp(1),
    "amax": lambda x: x.amax(1),
    "median": lambda x: x.median(1).values,
    "topk": lambda x: x.topk(2, 1).values,
    "softmax": lambda x: x.softmax(1),
    "cumsum": lambda x: x.cumsum(1),
    "sort": lambda x: x.sort(1).values,
    "fft": lambda x: gs.fft.fft(x, dim=1).real,
}


@pytest.mark.parametrize("function", ALONG.values(), ids=ALONG)
def test_what_mixes_along_one_dimension_is_apart_along_the_others(function):
    x = gs.tensor(np.random.default_rng(0).standard_normal((2, 3, 4)))
    groups = np.arange(8).reshape(2, 1, 4)
    of_inputs = np.broadcast_to(groups, x.shape).reshape(-1)
    of_results = np.broadcast_to(groups, (2, function(x).numel() // 8, 4)).reshape(-1)
    found = func.jacobian_pattern(function)(x).array.toarray()
    np.testing.assert_array_equal(found != 0, of_results[:, None] == of_inputs)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"tangent": "auto_element_wise"}, "elementwise"),
        ({"is_view": True, "tangent": "auto_linear"}, "by_probes"),
        ({"tangent": "auto_linear"}, "opaque"),
        ({"gradients": (("self", "zeros_like(grad)"),)}, "nothing"),
    ],
)
def test_ops_of_other_tables_have_rules_by_their_facts_and_not_by_their_names(facts, expected, monkeypatch):
    rules.rule_for.cache_clear()
    table = SimpleNamespace(OPS=(SimpleNamespace(**{**vars(row("sum")), **facts}), row("mul")))
    monkeypatch.setitem(sys.modules, "ops_of_a_user.op_table", table)
    assert rules.rule_for("ops_of_a_user.arithmetic", "SumBackward0").__name__ == expected
    assert rules.rule_for("ops_of_a_user.arithmetic", "MulBackward0").__name__ == "opaque"
    assert rules.rule_for("nowhere.arithmetic", "MulBackward0").__name__ == "opaque"
    rules.rule_for.cache_clear()


def test_an_op_of_several_entries_has_a_rule_that_is_right_for_all():
    rows = [row("sum"), row("softmax")]
    assert rules.rule_of_rows(rows, own=True) is rules.opaque
    rows = [row("unknown", tangent="auto_element_wise"), row("unknown")]
    assert rules.rule_of_rows(rows, own=True) is rules.opaque


def test_a_custom_function_is_opaque_whatever_its_name():
    class Mul(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.flip(0)

        @staticmethod
        def backward(ctx, grad):
            return grad.flip(0)

    Mul.__module__ = "gradsmith.generated.arithmetic"
    assert gs.func.jacobian_pattern(Mul.apply)(gs.ones(3)).nnz == 9


def test_every_op_of_the_table_has_a_rule():
    """One without is not wrong, but connects everything: give it a line in OF_OPS."""
    recording = {row.base for row in OPS if row.gradients and not row.is_composite}
    without = {
        base
        for base in recording
        if rules.rule_of_rows([row for row in OPS if row.base == base and row.gradients], own=True) is rules.opaque
    }
    assert without == set()
