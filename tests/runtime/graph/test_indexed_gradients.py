"""Gradients that have some rows of a table alone: to whoever does not ask for rows they are tensors like any other."""

import copy
import gc
import pickle

import numpy as np
import pytest

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith.generated.op_table import OPS

INDICES = [1, 3, 1]
ROWS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
DENSE = np.zeros((5, 3))
np.add.at(DENSE, INDICES, ROWS)

# Ops whose only argument is the tensor itself.
METHODS = sorted(
    {
        row.base
        for row in OPS
        if "method" in row.forms
        and row.arguments[0].name == "self"
        and all(argument.default is not None for argument in row.arguments[1:])
        and not any(argument.name == "generator" for argument in row.arguments)
    }
)


def table(rows=5):
    return gs.tensor(np.arange(3.0 * rows).reshape(rows, 3), requires_grad=True)


def look_up(weight, indices=INDICES, rows=ROWS):
    """Add `rows` to the gradient of a table."""
    (F.embedding(gs.tensor(indices), weight, sparse=True) * gs.tensor(rows)).sum().backward()


def indexed():
    weight = table()
    look_up(weight)
    assert weight.grad.is_sparse
    return weight.grad


def outcome(function):
    try:
        result = function()
    except Exception as error:
        return type(error)
    parts = result if isinstance(result, (tuple, list)) else [result]
    return [part.numpy() if isinstance(part, gs.Tensor) else part for part in parts]


# ---- what an optimizer asks for


def test_rows_and_indices_are_those_that_were_looked_up():
    gradient = indexed()
    assert gradient._nnz() == 3 and not gradient.is_coalesced()
    np.testing.assert_array_equal(gradient._indices().numpy(), [INDICES])
    np.testing.assert_array_equal(gradient._values().numpy(), ROWS)
    assert gradient.shape == (5, 3) and gradient.dtype == gs.float64 and gradient.device == "cpu"


def test_coalesced_rows_are_sums_in_order():
    gradient = indexed().coalesce()
    assert gradient.is_coalesced() and gradient.coalesce() is gradient
    np.testing.assert_array_equal(gradient.indices().numpy(), [[1, 3]])
    np.testing.assert_array_equal(gradient.values().numpy(), DENSE[[1, 3]])


def test_parts_of_an_uncoalesced_gradient_ask_for_coalesce_first():
    with pytest.raises(RuntimeError, match=r"Cannot get indices on an uncoalesced tensor, please call \.coalesce\(\)"):
        indexed().indices()


@pytest.mark.parametrize("method", ["indices", "values", "_indices", "_values", "_nnz", "coalesce", "is_coalesced"])
def test_dense_tensors_have_no_rows(method):
    dense = gs.ones(3, 2)
    assert not dense.is_sparse and dense.to_dense() is dense
    with pytest.raises(RuntimeError, match="this is a dense tensor of shape"):
        getattr(dense, method)()


def test_to_dense_leaves_the_gradient_indexed():
    gradient = indexed()
    np.testing.assert_array_equal(gradient.to_dense().numpy(), DENSE)
    assert gradient.is_sparse


def test_a_step_of_an_optimizer_touches_the_rows_alone():
    weight = table()
    look_up(weight)
    gradient = weight.grad.coalesce()
    with gs.no_grad():
        weight.index_add_(0, gradient.indices()[0], gradient.values(), alpha=-0.5)
    np.testing.assert_array_equal(weight.detach().numpy(), np.arange(15.0).reshape(5, 3) - 0.5 * DENSE)


def test_no_memory_is_taken_for_the_other_rows():
    weight = gs.zeros(1, 1).expand(10**9, 64)
    weight = weight.detach().requires_grad_()  # 256 GB, if they were there
    F.embedding(gs.tensor([7, 10**8]), weight, sparse=True).sum().backward()
    assert weight.grad.is_sparse and weight.grad.shape == (10**9, 64)
    np.testing.assert_array_equal(weight.grad._values().numpy(), np.ones((2, 64)))


# ---- sums


def test_gradients_of_two_runs_are_joined_in_the_same_tensor():
    weight = table()
    look_up(weight)
    first, version = weight.grad, weight.grad._version
    look_up(weight, [0], ROWS[:1])
    assert weight.grad is first and first.is_sparse and first._nnz() == 4 and first._version > version
    expected = DENSE.copy()
    expected[0] += ROWS[0]
    np.testing.assert_array_equal(first.to_dense().numpy(), expected)


def test_two_lookups_in_one_graph():
    weight = table()
    one, other = (F.embedding(gs.tensor(i), weight, sparse=True).sum() for i in ([1, 3], [0, 1]))
    (found,) = gs.autograd.grad(one + other, weight)
    assert found.is_sparse and found._nnz() == 4
    np.testing.assert_array_equal(found.numpy()[:, 0], [1, 2, 0, 1, 0])


@pytest.mark.parametrize("order", ["rows first", "rows last"])
@pytest.mark.parametrize("graphs", [1, 2])
def test_rows_and_a_dense_gradient(order, graphs):
    weight = table()
    lookup = (F.embedding(gs.tensor(INDICES), weight, sparse=True) * gs.tensor(ROWS)).sum()
    dense = (weight * 2).sum()
    losses = [lookup, dense] if order == "rows first" else [dense, lookup]
    for loss in [losses[0] + losses[1]] if graphs == 1 else losses:
        loss.backward()
    assert not weight.grad.is_sparse
    np.testing.assert_array_equal(weight.grad.numpy(), DENSE + 2)


def test_a_gradient_that_the_user_has_put_there_is_added_to():
    weight = table()
    weight.grad = gs.ones(5, 3, dtype=gs.float64)
    look_up(weight)
    np.testing.assert_array_equal(weight.grad.numpy(), DENSE + 1)


def test_gradients_of_two_leaves_do_not_share_what_is_written():
    weight = table()
    (found,) = gs.autograd.grad((F.embedding(gs.tensor(INDICES), weight, sparse=True) * gs.tensor(ROWS)).sum(), weight)
    weight.grad = found
    look_up(weight)
    np.testing.assert_array_equal(weight.grad.numpy(), 2 * DENSE)


# ---- a tensor like any other


@pytest.mark.parametrize("method", METHODS)
def test_methods_give_what_they_give_for_a_dense_tensor(method):
    found = outcome(lambda: getattr(indexed(), method)())
    expected = outcome(lambda: getattr(gs.tensor(DENSE), method)())
    if isinstance(expected, type):
        assert found is expected
        return
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


OTHER_USES = {
    "right operand": lambda g: gs.ones(5, 3, dtype=gs.float64) * g,
    "in a list": lambda g: gs.cat([g, g]),
    "numpy": lambda g: g.numpy(),
    "asarray": lambda g: np.asarray(g),
    "tolist": lambda g: np.array(g.tolist()),
    "indexed": lambda g: g[1:, 2],
    "iterated": lambda g: gs.stack(list(g)),
    "a mask": lambda g: gs.where(g > 0, g, -1.0),
    "added in place": lambda g: g.add_(1),
    "set to zero": lambda g: g.zero_(),
    "an item assigned": lambda g: g.__setitem__((0, 0), 5.0) or g,
    "written with out=": lambda g: gs.add(gs.tensor(DENSE), 1, out=g),
    "written by a factory": lambda g: gs.full((5, 3), 2.0, out=g),
    "data": lambda g: g.data,
    "detached": lambda g: g.detach(),
    "deep copy": copy.deepcopy,
    "shallow copy": copy.copy,
    "pickle": lambda g: pickle.loads(pickle.dumps(g)),
    "dtype": lambda g: g.float(),
    "strides": lambda g: g.t().contiguous(),
    "as a leaf": lambda g: (g.requires_grad_() * 2).detach(),
    "contains": lambda g: np.array(6.0 in g),
    "norm": lambda g: g.norm(),
    "new_zeros": lambda g: g.new_zeros(2),
    "zeros_like": lambda g: gs.zeros_like(g),
    "as tensor": lambda g: gs.as_tensor(g) + 0,
    "tensor": lambda g: gs.tensor(g.numpy()),
    "vmap": lambda g: gs.func.vmap(lambda row: row * 2)(g),
    "copied into": lambda g: gs.zeros(5, 3, dtype=gs.float64).copy_(g),
    "copied from": lambda g: g.copy_(gs.ones(5, 3, dtype=gs.float64)),
    "matmul": lambda g: g @ gs.ones(3, 2, dtype=gs.float64),
    "set": lambda g: g.set_(gs.ones(2, dtype=gs.float64)),
    "resized": lambda g: g.resize_(5, 3),
    "transposed in place": lambda g: g.t_(),
}


@pytest.mark.parametrize("use", OTHER_USES.values(), ids=OTHER_USES)
def test_other_uses(use):
    (found,), (expected,) = (outcome(lambda g=g: use(g)) for g in (indexed(), gs.tensor(DENSE)))
    np.testing.assert_array_equal(found, expected)


def test_views_and_their_base_share_memory():
    gradient = indexed()
    alias = gradient.detach()
    gradient.mul_(2)
    np.testing.assert_array_equal(alias.numpy(), 2 * DENSE)


def test_hooks_may_replace_it():
    weight = table()
    seen = []
    weight.register_hook(lambda g: seen.append(g.is_sparse) or g * 2)
    look_up(weight)
    assert seen == [True]
    np.testing.assert_array_equal(weight.grad.numpy(), 2 * DENSE)


def test_hooks_after_accumulation_see_it():
    weight = table()
    seen = []
    weight.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad._nnz()))
    look_up(weight)
    assert seen == [3]


def test_text():
    assert repr(indexed()).startswith("tensor(indices=[[1, 3, 1]],")
    assert repr(indexed()).endswith("size=(5, 3), nnz=3)")


@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_anomaly_mode_and_profiles_take_it():
    weight = table()
    with gs.autograd.detect_anomaly(), gs.profiler.profile():
        look_up(weight)
    assert weight.grad.is_sparse


# ---- where the gradient is dense


def test_recorded_gradients_are_dense():
    weight = table()
    loss = (F.embedding(gs.tensor(INDICES), weight, sparse=True) ** 2).sum()
    (found,) = gs.autograd.grad(loss, weight, create_graph=True)
    assert not found.is_sparse and found.requires_grad


def test_a_table_that_was_computed_gets_a_dense_gradient():
    leaf = table()
    weight = leaf * 1
    weight.retain_grad()
    look_up(weight)
    assert not weight.grad.is_sparse
    np.testing.assert_array_equal(leaf.grad.numpy(), DENSE)


def test_gradients_of_batches_are_dense():
    weight = table()
    rows = F.embedding(gs.tensor(INDICES), weight, sparse=True)
    cotangents = gs.tensor(np.stack([ROWS, 2 * ROWS]))
    (found,) = gs.autograd.grad(rows, weight, cotangents, is_grads_batched=True)
    np.testing.assert_array_equal(found.numpy(), np.stack([DENSE, 2 * DENSE]))


# ---- memory


def test_rows_are_freed_with_the_gradient():
    gradient = indexed()
    rows = gradient._values().numpy()
    del gradient
    gc.collect()
    np.testing.assert_array_equal(rows, ROWS)
