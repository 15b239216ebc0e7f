"""A switch belongs to the thread that sets it, but for those that PyTorch has once for all threads."""

import threading

import numpy as np
import pytest
from run_threads import run_threads

import gradsmith as gs
from gradsmith.autograd import detect_anomaly, enforce_grad_layout_policy, forward_ad, graph
from gradsmith.autograd.profiler import profile
from gradsmith.runtime.calls.forward_ad import is_forward_enabled
from gradsmith.runtime.graph.saved_variable import saves_are_guarded
from gradsmith.runtime.history.accumulate_grad import is_grad_layout_enforced
from gradsmith.runtime.switches.threads import StateOfThread


def elsewhere(function):
    """The result of `function` in a new thread."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def has_level():
    try:
        forward_ad.make_dual(gs.ones(1), gs.ones(1))
    except RuntimeError:
        return False
    return True


def packs():
    """Are saved tensors given to hooks?"""
    try:
        gs.ones(1, requires_grad=True).exp().grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)
    except RuntimeError:
        return True
    return False


OWN = {
    "no_grad": (gs.no_grad, gs.is_grad_enabled),
    "inference mode": (gs.inference_mode, gs.is_inference_mode_enabled),
    "level": (forward_ad.dual_level, has_level),
    "tangents": (lambda: forward_ad.set_fwd_grad_enabled(False), is_forward_enabled),
    "saved tensors": (lambda: graph.saved_tensors_hooks(lambda t: t, lambda t: t), packs),
    "write guard": (graph.write_guard, saves_are_guarded),
    "layout": (lambda: enforce_grad_layout_policy(False), is_grad_layout_enforced),
    "threads": (lambda: gs.autograd.set_multithreading_enabled(False), gs.autograd.is_multithreading_enabled),
    "phases": (gs.autograd.allow_phase_dependence, gs.autograd.is_phase_dependence_allowed),
}


@pytest.mark.parametrize("name", OWN)
def test_switches_of_one_thread(name):
    switch, look = OWN[name]
    at_first = look()
    with switch():
        assert look() != at_first
        assert elsewhere(look) == at_first
    assert look() == at_first


@pytest.mark.parametrize("name", OWN)
def test_what_another_thread_switches(name):
    switch, look = OWN[name]
    at_first, inside, seen = look(), threading.Event(), threading.Event()

    def hold():
        with switch():
            inside.set()
            assert seen.wait(timeout=30)

    thread = threading.Thread(target=hold)
    thread.start()
    assert inside.wait(timeout=30)
    assert look() == at_first
    seen.set()
    thread.join()
    assert look() == at_first


def test_a_profile_is_of_its_thread():
    with profile() as profiled:
        gs.ones(2).exp()
        elsewhere(lambda: gs.ones(2).sin())
    names = {event.key for event in profiled.key_averages()}
    assert "exp" in names and "sin" not in names


def test_anomaly_mode_and_default_dtype_are_of_all_threads():
    """As in PyTorch."""
    with pytest.warns(UserWarning, match="Anomaly"), detect_anomaly():
        assert elsewhere(gs.autograd.is_anomaly_enabled)
    before = gs.get_default_dtype()
    gs.set_default_dtype(gs.float64)
    try:
        assert elsewhere(lambda: gs.tensor(1.0).dtype) == gs.float64
    finally:
        gs.set_default_dtype(before)


def test_threads_that_work_side_by_side_have_a_state_each():
    """Lists that switches keep are changed by the thread that has them alone, whoever handed them over."""

    def derivative(found):
        with forward_ad.dual_level():
            x = forward_ad.make_dual(gs.tensor(3.0), gs.tensor(1.0))
            found.append(forward_ad.unpack_dual(x * x).tangent.item())

    with gs.no_grad():
        state = StateOfThread()
    found = []
    run_threads([lambda: [state.run(derivative, found) for _ in range(20)] for _ in range(4)])
    assert found == [6.0] * 80
    seen = []
    run_threads([lambda: seen.append((state.run(gs.is_grad_enabled), gs.is_grad_enabled()))])
    assert seen == [(False, True)]


@pytest.mark.parametrize("mode", ["no", 0, None, [], gs.tensor(True)], ids=repr)
@pytest.mark.parametrize(
    "switch", [gs.set_grad_enabled, gs.autograd.set_detect_anomaly, gs.autograd.set_multithreading_enabled]
)
def test_a_switch_takes_only_bools(switch, mode):
    before = gs.is_grad_enabled(), gs.autograd.is_anomaly_enabled(), gs.autograd.is_multithreading_enabled()
    with pytest.raises(TypeError, match="argument 'mode' .* must be bool, not"):
        switch(mode)
    assert before == (gs.is_grad_enabled(), gs.autograd.is_anomaly_enabled(), gs.autograd.is_multithreading_enabled())
    with switch(np.bool_(True)):
        pass


@pytest.mark.parametrize("value", ["no", 1, None, gs.tensor(True)], ids=repr)
def test_whether_a_leaf_requires_grad_is_a_bool(value):
    x = gs.ones(2)
    with pytest.raises(TypeError, match="argument 'requires_grad' .* must be bool, not"):
        x.requires_grad_(value)
    with pytest.raises(RuntimeError, match="requires_grad must be a bool"):
        x.requires_grad = value
    assert not x.requires_grad
    x.requires_grad = np.bool_(True)
    assert x.requires_grad
