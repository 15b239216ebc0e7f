"""Steps are changes in place like any other: counted, refused where they must be, all or nothing."""

import numpy as np
import pytest

import gradsmith as gs
from tests.optim.rules import SETTINGS

NAMES = list(SETTINGS)


def with_gradient(values, grad=None, **options):
    p = gs.tensor(values, requires_grad=True, **options)
    p.grad = gs.ones_like(p) if grad is None else grad
    return p


@pytest.mark.parametrize("name", NAMES)
def test_a_step_counts_as_a_change(name):
    p = with_gradient([1.0, 2.0])
    kept = (p * p).sum()  # saves p
    optimizer = getattr(gs.optim, name)([p])
    optimizer.step()
    assert p._version == 1 and p.grad._version == 0
    assert all(state._version == 1 for state in optimizer.state[p].values())
    with pytest.raises(RuntimeError, match=f"modified by an inplace operation.*{name}.step"):
        kept.backward()


def test_a_step_over_a_view_of_a_tensor():
    whole = gs.zeros(6)
    parts = [whole[:3].requires_grad_(), whole[3:].requires_grad_()]
    for p in parts:
        p.grad = gs.ones(3)
    gs.optim.SGD(parts, lr=0.5).step()
    assert whole.tolist() == [-0.5] * 6 and whole._version == 2


@pytest.mark.parametrize("name", NAMES)
def test_nothing_changes_when_a_later_parameter_is_refused(name):
    good, bad = with_gradient([1.0, 2.0]), with_gradient([3.0, 4.0])
    optimizer = getattr(gs.optim, name)([{"params": good}, {"params": bad}])
    optimizer.step()
    before = [p.tolist() for p in (good, bad)], {k: v.tolist() for k, v in optimizer.state[good].items()}
    versions = good._version, bad._version
    bad.data = gs.zeros(3)
    with pytest.raises(RuntimeError, match=rf"{name}.step: a parameter has shape \[3\], but its (gradient|state) has"):
        optimizer.step()
    assert good.tolist() == before[0][0] and good._version == versions[0]
    assert {k: v.tolist() for k, v in optimizer.state[good].items()} == before[1]


def test_no_state_is_left_by_a_step_that_was_refused():
    good, bad = with_gradient([1.0]), with_gradient([3.0])
    optimizer = gs.optim.Adam([good, bad])
    array = np.ones(1, np.float32)
    array.flags.writeable = False
    bad.data = gs.from_numpy(array)
    with pytest.raises(ValueError, match=r"Adam.step: the tensor's array is read-only"):
        optimizer.step()
    assert not optimizer.state and good.tolist() == [1.0]


def test_elements_in_one_place_are_refused():
    p = gs.zeros(1).expand(3).detach().requires_grad_()
    p.grad = gs.ones(3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        gs.optim.SGD([p]).step()


@pytest.mark.parametrize(
    "spoil, error, message",
    [
        (lambda state: state.update(step=gs.zeros(2)), RuntimeError, "floating point tensor of one element"),
        (lambda state: state.update(step=gs.tensor(1)), RuntimeError, "floating point tensor of one element"),
        (lambda state: state.update(step="1"), TypeError, "the state 'step' of a parameter is a str, not a Tensor"),
        (lambda state: state.update(exp_avg=gs.zeros(3)), RuntimeError, r"its state has shape \[3\]"),
        (lambda state: state.update(exp_avg=[0.0, 0.0]), TypeError, "the state 'exp_avg' of a parameter is a list"),
    ],
)
def test_states_that_are_no_good(spoil, error, message):
    p = with_gradient([1.0, 2.0])
    optimizer = gs.optim.Adam([p])
    optimizer.step()
    before = p.tolist()
    spoil(optimizer.state[p])
    with pytest.raises(error, match=message):
        optimizer.step()
    assert p.tolist() == before


@pytest.mark.parametrize(
    "change, error",
    [
        ({"lr": "fast"}, TypeError),
        ({"lr": None}, TypeError),
        ({"lr": (0.1, 0.2)}, ValueError),
        ({"betas": (0.9,)}, ValueError),
        ({"betas": 0.9}, ValueError),
        ({"params": None}, TypeError),
        ({"params": [None]}, (TypeError, AttributeError)),
        ({"params": [3]}, TypeError),
    ],
)
def test_groups_that_are_no_good(change, error):
    p = with_gradient([1.0, 2.0])
    optimizer = gs.optim.Adam([p])
    optimizer.param_groups[0].update(change)
    with pytest.raises(error):
        optimizer.step()
    assert p.tolist() == [1.0, 2.0]


def test_whole_attributes_that_are_no_good():
    p = with_gradient([1.0])
    for name, value in (("state", None), ("state", []), ("param_groups", None), ("param_groups", [3])):
        optimizer = gs.optim.Adam([p])
        setattr(optimizer, name, value)
        with pytest.raises(TypeError):
            optimizer.step()
    assert p.tolist() == [1.0]


@pytest.mark.parametrize("name", NAMES)
def test_a_state_that_is_missing_begins_anew(name):
    p = with_gradient([1.0, 2.0])
    optimizer = getattr(gs.optim, name)([p])
    optimizer.step()
    optimizer.state[p].clear()
    optimizer.step()
    assert all(np.isfinite(p.detach().numpy()))


def test_states_that_a_setting_asks_for_later():
    p = with_gradient([1.0])
    optimizer = gs.optim.Adam([p])
    optimizer.step()
    optimizer.param_groups[0]["amsgrad"] = True
    optimizer.step()
    assert optimizer.state[p]["max_exp_avg_sq"].item() == optimizer.state[p]["exp_avg_sq"].item()
    optimizer = gs.optim.SGD([p], lr=0.5)
    optimizer.step()
    optimizer.param_groups[0]["momentum"] = 0.5
    optimizer.step()
    assert optimizer.state[p]["momentum_buffer"].tolist() == [1.0]


@pytest.mark.parametrize("name", NAMES)
def test_a_gradient_that_is_the_parameter_itself(name):
    values = np.random.default_rng(0).normal(size=9)
    p, q = gs.tensor(values, requires_grad=True), gs.tensor(values, requires_grad=True)
    p.grad, q.grad = p.detach(), gs.tensor(values)
    getattr(gs.optim, name)([p]).step()
    getattr(gs.optim, name)([q]).step()
    assert p.tolist() == q.tolist()


@pytest.mark.parametrize("name", ["SGD", "Adam"])
def test_a_gradient_that_shares_some_memory(name):
    memory = np.arange(1.0, 12.0)
    p, grad = gs.from_numpy(memory[:10]).requires_grad_(), gs.from_numpy(memory[1:])
    q, p.grad = p.detach().clone().requires_grad_(), grad
    q.grad = grad.clone()
    getattr(gs.optim, name)([p], lr=0.1).step()
    getattr(gs.optim, name)([q], lr=0.1).step()
    assert p.tolist() == q.tolist()


def test_parameters_that_share_memory_are_updated_one_after_the_other():
    size = 200_000
    memory = gs.zeros(size + 3)
    params = [memory[:-3].requires_grad_(), memory[3:].requires_grad_()]
    for p in params:
        p.grad = gs.ones(size)
    gs.optim.SGD(params, lr=1.0).step()
    assert memory[:3].tolist() == [-1.0] * 3 and (memory[3:-3] == -2).all() and memory[-3:].tolist() == [-1.0] * 3


def test_dtypes_may_differ():
    p = gs.tensor([1.0, 2.0], requires_grad=True)
    p.grad_dtype = None
    p.grad = gs.tensor([1.0, 1.0], dtype=gs.float64)
    gs.optim.SGD([p], lr=0.5).step()
    assert p.dtype == gs.float32 and p.tolist() == [0.5, 1.5]


def test_numbers_in_foreign_byte_order():
    array = np.array([1.0, 2.0], ">f8")
    p = gs.tensor([0.0, 0.0], dtype=gs.float64, requires_grad=True)
    p.data = gs.from_numpy(array.astype("f8"))
    p.grad = gs.ones(2, dtype=gs.float64)
    gs.optim.SGD([p], lr=0.5).step()
    assert p.tolist() == [0.5, 1.5]


@pytest.mark.parametrize("name", NAMES)
def test_meta_parameters(name):
    p = gs.empty(3, 4, device="meta").requires_grad_()
    p.grad = gs.empty(3, 4, device="meta")
    optimizer = getattr(gs.optim, name)([p])
    optimizer.step()
    assert p.device.type == "meta" and p.shape == (3, 4)


@pytest.mark.parametrize("name", NAMES)
def test_empty_parameters(name):
    p = with_gradient(np.zeros((0, 3)))
    optimizer = getattr(gs.optim, name)([p])
    optimizer.step()
    assert p.shape == (0, 3)
    assert name == "SGD" or optimizer.state[p]["step"].item() == 1.0


def test_tangents_go_through_a_step():
    from gradsmith.autograd.forward_ad import dual_level, make_dual, unpack_dual

    with dual_level():
        p = gs.tensor([1.0, 2.0])
        p.grad = make_dual(gs.tensor([1.0, 1.0]), gs.tensor([1.0, 3.0]))
        gs.optim.SGD([p], lr=0.5).step()
        assert unpack_dual(p).tangent.tolist() == [-0.5, -1.5]


def test_inference_tensors():
    with gs.inference_mode():
        p = gs.ones(2)
    p.grad = gs.ones(2)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor outside InferenceMode"):
        gs.optim.SGD([p]).step()
    with gs.inference_mode():
        gs.optim.SGD([p], lr=1.0).step()
    assert p.tolist() == [0.0, 0.0]


# ---- indexed gradients


def looked_up(table, indices):
    table.grad = None
    gs.nn.functional.embedding(gs.tensor(indices), table, sparse=True).square().sum().backward()
    assert table.grad.is_sparse


@pytest.mark.parametrize("name, settings", [("SGD", {"lr": 0.1}), ("Adagrad", {"lr": 0.1, "lr_decay": 0.1})])
def test_rows_are_updated_as_if_the_gradient_had_all(name, settings):
    start = np.random.default_rng(0).normal(size=(5, 3))
    sparse, dense = (gs.tensor(start, requires_grad=True) for _ in range(2))
    optimizers = [getattr(gs.optim, name)([table], **settings) for table in (sparse, dense)]
    for indices in ([0, 2, 2], [4, 0, 1]):
        looked_up(sparse, indices)
        dense.grad = sparse.grad.to_dense()
        for optimizer in optimizers:
            optimizer.step()
    np.testing.assert_allclose(sparse.detach().numpy(), dense.detach().numpy(), rtol=1e-14)
    assert sparse.grad.is_sparse


def test_rows_with_a_momentum_are_filled_up():
    table = gs.ones(3, 2).requires_grad_()
    optimizer = gs.optim.SGD([table], lr=0.5, momentum=0.5)
    looked_up(table, [1])
    optimizer.step()
    looked_up(table, [0])
    optimizer.step()
    assert table.tolist() == [[0.0, 0.0], [-0.5, -0.5], [1.0, 1.0]]


@pytest.mark.parametrize("name", sorted({*NAMES, "Adafactor"} - {"SGD", "Adagrad"}))
def test_rules_without_rows(name):
    table = gs.ones(3, 2).requires_grad_()
    looked_up(table, [1])
    with pytest.raises(RuntimeError, match=f"{name} does not support sparse gradients"):
        getattr(gs.optim, name)([table]).step()
    assert (table == 1).all()


def test_sparse_adam_updates_the_rows_alone():
    start = np.random.default_rng(0).normal(size=(4, 2))
    table = gs.tensor(start, requires_grad=True)
    optimizer = gs.optim.SparseAdam([table], lr=0.1)
    p, m, v = start.copy(), np.zeros((4, 2)), np.zeros((4, 2))
    for t, indices in enumerate(([0, 2], [2, 3], [2, 2]), 1):
        looked_up(table, indices)
        rows = sorted(set(indices))
        g = table.grad.to_dense().numpy()[rows]
        m[rows] = 0.9 * m[rows] + 0.1 * g
        v[rows] = 0.999 * v[rows] + 0.001 * g**2
        p[rows] -= 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t) * m[rows] / (np.sqrt(v[rows]) + 1e-8)
        optimizer.step()
    np.testing.assert_allclose(table.detach().numpy(), p, rtol=1e-12)
    table.grad = gs.ones(4, 2, dtype=gs.float64)
    with pytest.raises(RuntimeError, match="does not support dense gradients, please consider Adam instead"):
        optimizer.step()
    assert optimizer.state[table]["step"] == 3


# ---- steps that are recorded


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", [0, -1])
def test_gradients_flow_through_differentiable_steps(name, case):
    """Two steps, against differences in the start, the gradients and the learning rate."""
    settings = {**SETTINGS[name][case], "differentiable": True}
    rng = np.random.default_rng(0)
    start, first, second = (gs.tensor(rng.uniform(0.5, 1.5, 3), requires_grad=True) for _ in range(3))
    rate = gs.tensor(settings.pop("lr", 0.05), dtype=gs.float64, requires_grad=True)

    def after_two_steps(start, first, second, rate):
        p = start.clone()
        optimizer = getattr(gs.optim, name)([p], lr=rate, **settings)
        for grad in (first, second):
            p.grad = grad
            optimizer.step()
        return p

    # The first step size of Rprop and eta of ASGD are states, which are numbers.
    with_rate = name not in ("ASGD", "Rprop")
    operands = (start, first, second, rate) if with_rate else (start, first, second, rate.detach())
    assert gs.autograd.gradcheck(after_two_steps, operands)


def test_a_differentiable_step_of_a_leaf_is_refused():
    p = with_gradient([1.0])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        gs.optim.SGD([p], differentiable=True).step()
