"""Modes that hooks and custom backwards leave switched end with their node, and blocks they leave entered with it."""

import pytest

import gradsmith as gs

TENSOR_HOOKS = {
    "tensor hook": lambda y, hook: y.register_hook(hook),
    "node hook": lambda y, hook: y.grad_fn.register_hook(hook),
    "prehook": lambda y, hook: y.grad_fn.register_prehook(hook),
}


def leave(block):
    """A hook that enters the block, or switches, and does not undo it."""

    def hook(*_):
        block()

    return hook


def gradient(register=None, block=None):
    x = gs.tensor([2.0, 3.0], requires_grad=True)
    y = x * x
    if register is not None:
        register(y, leave(block))
    (y * x).sum().backward()
    return x.grad


@pytest.mark.parametrize("register", TENSOR_HOOKS.values(), ids=TENSOR_HOOKS)
def test_recording_that_a_hook_switches_on_ends_with_its_node(register):
    grad = gradient(register, lambda: gs.set_grad_enabled(True))
    assert not grad.requires_grad
    assert grad.tolist() == [12.0, 27.0]


@pytest.mark.parametrize("register", TENSOR_HOOKS.values(), ids=TENSOR_HOOKS)
def test_recording_that_a_hook_switches_off_is_on_after_the_backward(register):
    gradient(register, lambda: gs.set_grad_enabled(False))
    assert gs.is_grad_enabled()


def test_inference_mode_that_a_hook_enters_ends_with_its_node():
    gradient(TENSOR_HOOKS["tensor hook"], lambda: gs.inference_mode().__enter__())
    assert not gs.is_inference_mode_enabled()


def test_hooks_on_saved_tensors_that_a_hook_sets_end_with_its_node():
    unpacked = []
    block = gs.autograd.graph.saved_tensors_hooks(lambda t: t, unpacked.append)
    gradient(TENSOR_HOOKS["tensor hook"], block.__enter__)
    assert gradient().tolist() == [12.0, 27.0]
    assert unpacked == []


def test_hooks_on_saved_tensors_that_a_hook_takes_away_are_back_after_the_backward():
    packed = []
    block = gs.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t)
    with block:
        gradient(TENSOR_HOOKS["tensor hook"], lambda: block.__exit__(None, None, None))
        before = len(packed)
        gradient()
    assert len(packed) > before


@pytest.mark.parametrize("hook", TENSOR_HOOKS.values(), ids=TENSOR_HOOKS)
def test_the_words_of_an_outer_refusal_are_back(hook):
    """After a hook that refuses hooks on saved tensors in words of its own: for the next nodes, and for the caller."""
    inner = gs.autograd.graph.disable_saved_tensors_hooks("of the hook")
    with gs.autograd.graph.disable_saved_tensors_hooks("of the caller"):
        gradient(hook, inner.__enter__)
        with (
            pytest.raises(RuntimeError, match="of the caller"),
            gs.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t),
        ):
            pass
        inner.__exit__(None, None, None)  # else it ends when it is collected
    with gs.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        assert gradient().tolist() == [12.0, 27.0]


def test_a_refusal_of_hooks_on_saved_tensors_ends_with_its_node():
    refusal = gs.autograd.graph.disable_saved_tensors_hooks("not here")
    gradient(TENSOR_HOOKS["tensor hook"], refusal.__enter__)
    with gs.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        assert gradient().tolist() == [12.0, 27.0]


def test_recording_that_a_custom_backward_switches_on_ends_with_its_node():
    class Double(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            gs.set_grad_enabled(True)
            return grad * 2

    x = gs.tensor([2.0, 3.0], requires_grad=True)
    (Double.apply(x * x) * x).sum().backward()
    assert not x.grad.requires_grad


def test_recording_that_an_unpack_hook_switches_on_ends_with_it():
    def unpack(t):
        gs.set_grad_enabled(True)
        return t

    x = gs.tensor([2.0, 3.0], requires_grad=True)
    with gs.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        y = x * x * x
    y.sum().backward()
    assert not x.grad.requires_grad


def test_recording_that_a_hook_switches_off_is_on_for_the_nodes_of_a_recorded_backward():
    x = gs.tensor([2.0, 3.0], requires_grad=True)
    y = x * x
    y.register_hook(leave(lambda: gs.set_grad_enabled(False)))
    (grad,) = gs.autograd.grad((y * x).sum(), x, create_graph=True)
    assert grad.requires_grad


def test_modes_are_as_before_when_a_hook_raises():
    def hook(grad):
        gs.set_grad_enabled(False)
        gs.inference_mode().__enter__()
        raise ValueError("from the hook")

    x = gs.tensor([2.0, 3.0], requires_grad=True)
    y = x * x
    y.register_hook(hook)
    with pytest.raises(ValueError, match="from the hook"):
        y.sum().backward()
    assert gs.is_grad_enabled()
    assert not gs.is_inference_mode_enabled()
