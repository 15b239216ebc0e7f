"""The base class: groups, states, dictionaries, hooks, closures, and what is refused."""

import copy
import pickle

import numpy as np
import pytest

import gradsmith as gs
from tests.optim.rules import SETTINGS


def parameter(*values):
    return gs.tensor(values or (1.0, -2.0), requires_grad=True)


def stepped(optimizer, *grads):
    """After a step with these gradients."""
    params = [p for group in optimizer.param_groups for p in group["params"]]
    for p, grad in zip(params, grads):
        p.grad = gs.tensor(grad)
    optimizer.step()
    return optimizer


# ---- groups


def test_groups_have_settings_of_their_own():
    a, b = parameter(1.0), parameter(1.0)
    optimizer = gs.optim.SGD([{"params": [a]}, {"params": b, "lr": 0.5}], lr=0.25)
    stepped(optimizer, [1.0], [1.0])
    assert (a.item(), b.item()) == (0.75, 0.5)
    c = parameter(1.0)
    optimizer.add_param_group({"params": c, "lr": 1.0})
    stepped(optimizer, [0.0], [0.0], [1.0])
    assert (a.item(), b.item(), c.item()) == (0.75, 0.5, 0.0)


def test_named_parameters():
    a, b = parameter(1.0), parameter(1.0)
    optimizer = gs.optim.SGD([("first", a), ("second", b)], lr=0.25)
    assert optimizer.param_groups[0]["params"] == [a, b]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["first", "second"]
    with pytest.raises(ValueError, match="with/without names. cannot add param group without names"):
        optimizer.add_param_group({"params": parameter(3.0)})
    with pytest.raises(ValueError, match="Some param names are missing"):
        gs.optim.SGD([("first", a), b])


@pytest.mark.parametrize(
    "params, error, message",
    [
        (lambda p: p, TypeError, "should be an iterable of Tensors or dicts, but got Tensor"),
        (lambda p: [], ValueError, "optimizer got an empty parameter list"),
        (lambda p: [1.0], TypeError, "can only optimize Tensors, but one of the params is float"),
        (lambda p: [{"params": {p}}], TypeError, "ordered collections"),
        (lambda p: [p * 2], ValueError, "can't optimize a non-leaf Tensor"),
        (lambda p: [{"params": [p]}, {"params": [p]}], ValueError, "more than one parameter group"),
        (lambda p: [{"params": [p]}, 3], TypeError, "param_group must be a dict"),
    ],
)
def test_parameters_that_are_refused(params, error, message):
    with pytest.raises(error, match=message):
        gs.optim.SGD(params(parameter()), lr=0.1)


def test_a_parameter_that_is_there_twice_is_updated_twice():
    p = parameter(1.0)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optimizer = gs.optim.SGD([p, p], lr=0.25)
    p.grad = gs.ones(1)
    optimizer.step()
    assert p.item() == 0.5


def test_a_setting_that_each_group_has_to_say():
    from gradsmith.optim.optimizer import required

    with pytest.raises(ValueError, match="required optimization parameter lr"):
        gs.optim.Optimizer([parameter()], {"lr": required})
    assert gs.optim.Optimizer([{"params": parameter(), "lr": 1}], {"lr": required}).param_groups[0]["lr"] == 1


@pytest.mark.parametrize(
    "name, settings, message",
    [
        ("SGD", {"lr": -1}, "Invalid learning rate: -1"),
        ("SGD", {"momentum": -1}, "Invalid momentum value: -1"),
        ("SGD", {"weight_decay": -1}, "Invalid weight_decay value: -1"),
        ("SGD", {"nesterov": True}, "Nesterov momentum requires a momentum and zero dampening"),
        ("Adam", {"lr": gs.ones(2)}, "Tensor lr must be 1-element"),
        ("Adam", {"lr": gs.ones(()), "foreach": True}, "lr as a Tensor is not supported"),
        ("Adam", {"betas": (0.9, 1.0)}, "Invalid beta parameter at index 1: 1.0"),
        ("Adam", {"betas": (0.9, gs.zeros(()))}, "both floats or both Tensors"),
        ("Adam", {"eps": -1}, "Invalid epsilon value: -1"),
        ("NAdam", {"momentum_decay": -1}, "Invalid momentum_decay value: -1"),
        ("Adadelta", {"rho": 2}, "Invalid rho value: 2"),
        ("Adagrad", {"lr_decay": -1}, "Invalid lr_decay value: -1"),
        ("RMSprop", {"alpha": -1}, "Invalid alpha value: -1"),
        ("Rprop", {"etas": (1.5, 2)}, "Invalid eta values: 1.5, 2"),
        ("SparseAdam", {"lr": 0}, "Invalid learning rate: 0"),
        ("Adafactor", {"d": 0.5}, "Clipping threshold d should be >= 1 but is: 0.5"),
    ],
)
def test_settings_that_are_refused(name, settings, message):
    with pytest.raises(ValueError, match=message):
        getattr(gs.optim, name)([parameter()], **settings)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad"])
def test_forms_of_a_step_that_contradict_each_other(name):
    make = getattr(gs.optim, name)
    with pytest.raises(RuntimeError, match="`fused` does not support `differentiable`"):
        make([parameter()], fused=True, differentiable=True)
    with pytest.raises(RuntimeError, match="`fused` and `foreach` cannot be `True` together"):
        make([parameter()], fused=True, foreach=True)
    for form in ({"fused": True}, {"foreach": True}, {"foreach": False}):
        stepped(make([parameter()], **form), [1.0, 1.0])


def test_repr():
    lines = repr(gs.optim.SGD([{"params": parameter()}, {"params": parameter(), "lr": 2}], lr=0.5)).splitlines()
    assert lines[:4] == ["SGD (", "Parameter Group 0", "    dampening: 0", "    differentiable: False"]
    assert "\n\nParameter Group 1\n" in "\n".join(lines) and lines.count("") == 1
    assert "    lr: 0.5" in lines and "    lr: 2" in lines and lines[-1] == ")"


# ---- gradients and closures


def test_zero_grad():
    p, q, r = parameter(1.0), parameter(1.0), parameter(1.0)
    optimizer = gs.optim.SGD([p, q, r])
    p.grad, q.grad = gs.ones(1), (2 * parameter(1.0))
    kept = p.grad
    optimizer.zero_grad(set_to_none=False)
    assert kept.tolist() == [0.0] and q.grad.tolist() == [0.0] and q.grad.grad_fn is None and r.grad is None
    optimizer.zero_grad()
    assert p.grad is None and q.grad is None


@pytest.mark.parametrize("name", [*SETTINGS, "LBFGS", "SparseAdam", "Adafactor"])
def test_a_closure_is_called_with_recording_on(name):
    p = gs.ones(4, 2).requires_grad_()
    settings = {"AdamW": {"weight_decay": 0.0}, "ASGD": {"lambd": 0.0}}.get(name, {})
    optimizer = getattr(gs.optim, name)([p], **settings)

    def closure():
        optimizer.zero_grad()
        loss = gs.nn.functional.embedding(gs.tensor([0, 1, 1]), p, sparse=name == "SparseAdam").square().sum()
        loss.backward()
        return loss

    with gs.no_grad():
        assert optimizer.step(closure).item() == 6.0
        assert not gs.is_grad_enabled()
    assert (p[:2] != 1).all() and (p[2:] == 1).all()


def test_parameters_without_a_gradient_are_left_alone():
    p, q = parameter(1.0), parameter(1.0)
    optimizer = gs.optim.Adam([p, q])
    p.grad = gs.ones(1)
    optimizer.step()
    assert q.item() == 1.0 and q not in optimizer.state and p in optimizer.state


# ---- hooks


def test_step_hooks():
    calls = []
    optimizer = gs.optim.SGD([parameter(1.0)], lr=1.0)

    def replace(optimizer, args, kwargs):
        assert args == (optimizer,) and kwargs == {}
        calls.append("pre")
        return (optimizer, lambda: calls.append("closure")), {}

    def after(optimizer, args, kwargs):
        assert args[0] is optimizer
        calls.append("post" if len(args) == 2 else f"post {args[1:]}")

    handles = [
        gs.optim.optimizer.register_optimizer_step_pre_hook(lambda *_: calls.append("all pre")),
        optimizer.register_step_pre_hook(replace),
        optimizer.register_step_post_hook(after),
        gs.optim.optimizer.register_optimizer_step_post_hook(lambda *_: calls.append("all post")),
    ]
    optimizer.step()
    assert calls == ["all pre", "pre", "closure", "post", "all post"]
    for handle in handles:
        handle.remove()
    optimizer.step()
    assert len(calls) == 5
    optimizer.register_step_pre_hook(lambda *_: 3)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got 3"):
        optimizer.step()


def test_hooks_of_a_step_that_calls_the_step_of_its_base():
    class Twice(gs.optim.SGD):
        def step(self, closure=None):
            super().step(closure)
            super().step(closure)

    calls = []
    p = parameter(1.0)
    optimizer = Twice([p], lr=0.25)
    optimizer.register_step_post_hook(lambda *_: calls.append(1))
    stepped(optimizer, [1.0])
    assert p.item() == 0.5 and calls == [1]


def test_hooks_of_dictionaries():
    optimizer = stepped(gs.optim.SGD([parameter(1.0)], momentum=0.5), [1.0])
    calls = []
    optimizer.register_state_dict_pre_hook(lambda o: calls.append("second"))
    optimizer.register_state_dict_pre_hook(lambda o: calls.append("first"), prepend=True)
    optimizer.register_state_dict_post_hook(lambda o, d: {**d, "more": 1})
    found = optimizer.state_dict()
    assert calls == ["first", "second"] and found["more"] == 1
    optimizer.register_load_state_dict_pre_hook(lambda o, d: calls.append(d.pop("more")))
    optimizer.register_load_state_dict_post_hook(lambda o: calls.append("loaded"))
    optimizer.load_state_dict(found)
    assert calls[2:] == [1, "loaded"] and found["more"] == 1
    with pytest.raises(TypeError, match="must be callable"):
        optimizer.register_step_pre_hook(3)


def test_a_profile_shows_steps():
    optimizer = gs.optim.Adam([parameter(1.0)])
    with gs.profiler.profile() as profile:
        stepped(optimizer, [1.0])
    assert "Optimizer.step#Adam.step" in {event.name for event in profile.events()}


# ---- dictionaries


@pytest.mark.parametrize("name", [*SETTINGS, "Adafactor"])
@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
def test_a_loaded_optimizer_goes_on(name, dtype):
    settings = SETTINGS.get(name, [{}])[-1]
    start = gs.tensor(np.random.default_rng(0).normal(size=(3, 2)), dtype=dtype)
    grads = np.random.default_rng(1).normal(size=(6, 3, 2)).astype(dtype)
    p = start.clone().requires_grad_()
    optimizer = getattr(gs.optim, name)([p], **settings)
    for grad in grads[:3]:
        stepped(optimizer, grad)
    q = p.detach().clone().requires_grad_()
    other = getattr(gs.optim, name)([q])
    other.load_state_dict(optimizer.state_dict())
    for grad in grads[3:]:
        stepped(optimizer, grad)
        stepped(other, grad)
    assert p.tolist() == q.tolist() and str(optimizer) == str(other)


def test_a_dictionary_counts_parameters():
    a, b, c = parameter(1.0), parameter(2.0), parameter(3.0)
    optimizer = gs.optim.Adam([{"params": [a, b]}, {"params": [c], "lr": 1.0}])
    stepped(optimizer, [1.0], [1.0], [1.0])
    found = optimizer.state_dict()
    assert [group["params"] for group in found["param_groups"]] == [[0, 1], [2]]
    assert found["state"][2]["exp_avg"] is optimizer.state[c]["exp_avg"]
    assert sorted(found["state"][0]) == ["exp_avg", "exp_avg_sq", "step"]


def test_loaded_states_take_the_dtype_of_their_parameter():
    optimizer = stepped(gs.optim.Adam([parameter(1.0)]), [1.0])
    p = gs.tensor([1.0], dtype=gs.float64, requires_grad=True)
    other = gs.optim.Adam([p])
    other.load_state_dict(optimizer.state_dict())
    state = other.state[p]
    assert state["exp_avg"].dtype == gs.float64 and state["step"].dtype == gs.float32
    stepped(optimizer, [1.0])
    assert state["step"].item() == 1.0  # nothing is shared


def test_counters_of_older_dictionaries_are_numbers():
    p = parameter(1.0)
    optimizer = stepped(gs.optim.Adam([p]), [1.0])
    found = optimizer.state_dict()
    found["state"][0]["step"] = 1
    optimizer.load_state_dict(found)
    assert stepped(optimizer, [1.0]).state[p]["step"].item() == 2.0


def test_dictionaries_of_other_groups():
    one, two = gs.optim.SGD([parameter()]), gs.optim.SGD([{"params": parameter()}, {"params": parameter()}])
    with pytest.raises(ValueError, match="different number of parameter groups: 1, and the optimizer has 2"):
        two.load_state_dict(one.state_dict())
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group: group 0 has 1 parameters"):
        gs.optim.SGD([parameter(), parameter()]).load_state_dict(one.state_dict())


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_copies(duplicate):
    p = parameter(1.0)
    optimizer = stepped(gs.optim.Adam([p], lr=0.5), [1.0])
    other = duplicate(optimizer)
    stepped(other, [1.0])
    (q,) = other.param_groups[0]["params"]
    assert p.item() == pytest.approx(0.5) and q.item() == pytest.approx(0.0, abs=1e-6)
    assert other.state[q]["step"].item() == 2.0 and optimizer.state[p]["step"].item() == 1.0


def test_an_optimizer_of_ones_own():
    class Signs(gs.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        @gs.no_grad()
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.sub_(p.grad.sign(), alpha=group["lr"])
                    self.state[p]["count"] = self.state[p].get("count", 0) + 1

    p = parameter(1.0)
    optimizer = stepped(Signs([p], lr=0.25), [-3.0])
    assert p.item() == 1.25 and optimizer.state_dict()["state"] == {0: {"count": 1}}
    with pytest.raises(NotImplementedError):
        gs.optim.Optimizer([p], {}).step()


def test_parameters_come_last_in_a_saved_group():
    optimizer = gs.optim.SGD([gs.ones(1, requires_grad=True)], lr=0.1)
    assert list(optimizer.state_dict()["param_groups"][0])[-1] == "params"
    assert next(iter(optimizer.param_groups[0])) == "params" and optimizer._patch_step_function() is None


# ---- what optimizers that are written for PyTorch import


def test_an_optimizer_of_others():
    from gradsmith.optim.optimizer import (
        Optimizer,
        ParamsT,
        _default_to_fused_or_foreach,
        _get_value,
        _use_grad_for_differentiable,
    )

    class Descent(Optimizer):
        def __init__(self, params: ParamsT, differentiable=False):
            super().__init__(params, {"lr": gs.tensor(0.5), "differentiable": differentiable})

        @_use_grad_for_differentiable
        def step(self, closure=None):
            for group in self.param_groups:
                for p in group["params"]:
                    p.add_(p.grad, alpha=-_get_value(group["lr"]))

    p = parameter(1.0)
    p.grad = gs.ones(1)
    Descent([p]).step()
    assert p.item() == 0.5 and p.is_leaf and gs.is_grad_enabled()
    with pytest.raises(RuntimeError, match="leaf"):
        Descent([p], differentiable=True).step()
    assert gs.is_grad_enabled() and _default_to_fused_or_foreach([p], False, True) == (False, False)
    assert _get_value(3) == 3
