"""Conditions that users of PyTorch rely on to be refused: exception, gist of the message, and what to do instead.

Each case is a function that does what is refused. Conditions that depend on more than a few lines (checkpoints, custom
Functions, saved-tensor hooks, gradcheck, ...) are tested beside what they belong to; bad arguments of ops are in
`test_errors.py`.
"""

import warnings

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import Function, backward, forward_ad, functional, grad
from gradsmith.autograd.graph import disable_saved_tensors_hooks, get_gradient_edge, saved_tensors_hooks

CASES = []


def leaf(values=(1.0, 2.0)):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


def case(error, *words):
    """Register what is refused; each of `words` is in the message."""

    def register(call):
        CASES.append((call, error, words))
        return call

    return register


# ---- in-place changes


@case(RuntimeError, "modified by an inplace operation", "MulBackward0", "version 1; expected version 0", "mul_")
def a_saved_tensor_was_changed():
    x = leaf() * 1
    y = x * x
    x.mul_(2)
    y.sum().backward()


@case(RuntimeError, "a view of a leaf Variable that requires grad", "no_grad")
def a_view_of_a_leaf_is_written_by_index():
    leaf()[0] = 5.0


@case(RuntimeError, "Output 1 of UnbindBackward0", "multiple views", "out-of-place")
def an_output_of_a_multi_view_op_is_changed():
    (leaf([[1.0], [2.0]]) * 1).unbind()[1].mul_(2)


@case(RuntimeError, "view was created in no_grad mode", "ambiguous", "both outside")
def a_view_made_without_grad_is_changed_with_it():
    x = leaf() * 1
    with gs.no_grad():
        view = x[:1]
    view.mul_(2)


@case(RuntimeError, "view was created in inference mode", "ambiguous")
def a_view_made_in_inference_mode_is_changed_outside():
    x = leaf() * 1
    with gs.inference_mode():
        view = x[:1]
    view.mul_(2)


@case(RuntimeError, "Inference tensors cannot be saved for backward", "clone")
def an_inference_tensor_is_saved():
    with gs.inference_mode():
        factor = gs.tensor(np.ones(2))
    leaf() * factor


@case(RuntimeError, "Inplace update to inference tensor outside InferenceMode", "clone")
def an_inference_tensor_is_changed_outside():
    with gs.inference_mode():
        x = gs.ones(2)
    x.add_(1)


@case(RuntimeError, "Inference tensors do not track version counter")
def the_version_of_an_inference_tensor_is_asked_for():
    with gs.inference_mode():
        x = gs.ones(2)
    _ = x._version


@case(RuntimeError, "Can't detach views in-place", "detach()")
def a_view_is_detached_in_place():
    (leaf() * 1)[:1].detach_()


# ---- gradients asked for


@case(RuntimeError, "real scalar outputs", "complex128")
def backward_of_a_complex_number():
    (gs.tensor(1 + 2j, dtype=gs.complex128, requires_grad=True) * 2).backward()


@case(RuntimeError, "got 2 tensors and 1 gradients")
def fewer_gradients_than_roots():
    backward([leaf() * 2, leaf() * 3], [gs.tensor(np.ones(2))])


@case(RuntimeError, "index 1", "not have been used in the graph", "allow_unused=True")
def an_input_is_not_used():
    x = leaf()
    grad((x * x).sum(), [x, leaf()])


@case(RuntimeError, "does not require grad", "inputs[1]")
def an_input_does_not_require_grad():
    x = leaf()
    grad((x * x).sum(), [x, gs.ones(2)])


@case(RuntimeError, "inputs", "grad()", "empty")
def grad_of_no_inputs():
    grad((leaf() * 2).sum(), [])


@case(RuntimeError, "inputs", "empty")
def backward_to_no_inputs():
    (leaf() * 2).sum().backward(inputs=[])


@case(RuntimeError, "is_grads_batched", "grad_output[0] has a shape of []", "output[0] has a shape of [2]")
def a_batch_of_gradients_does_not_fit():
    x = leaf()
    grad(x * 2, x, gs.tensor(np.ones(3)), is_grads_batched=True)


@case(RuntimeError, "does not require gradients", "requires_grad_()")
def the_gradient_edge_of_a_constant():
    get_gradient_edge(gs.ones(2))


@case(RuntimeError, "Trying to backward through the graph a second time", "retain_graph=True")
def a_saved_value_is_asked_for_after_its_release():
    y = (x := leaf()) * x
    y.sum().backward()
    _ = y.grad_fn._saved_self


# ---- tensors


@case(RuntimeError, "data set to a tensor that requires gradients must be floating point or complex")
def integers_become_the_data_of_a_tensor_with_grad():
    leaf().data = gs.tensor([1, 2])


@case(UserWarning, "not a leaf", "retain_grad")
def the_grad_of_an_intermediate_is_read():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _ = (leaf() * 2).grad


@case(RuntimeError, "cannot register a hook on a tensor that doesn't require gradient")
def a_hook_on_a_constant():
    gs.ones(2).register_hook(print)


@case(RuntimeError, "can't retain_grad on Tensor that has requires_grad=False")
def retain_grad_of_a_constant():
    gs.ones(2).retain_grad()


@case(RuntimeError, "post accumulate grad hooks cannot be registered on non-leaf tensors")
def a_post_accumulate_hook_on_an_intermediate():
    (leaf() * 2).register_post_accumulate_grad_hook(print)


@case(RuntimeError, "size", "[3]", "[2]")
def a_gradient_of_another_size_is_assigned():
    leaf().grad = gs.tensor(np.ones(3))


@case(RuntimeError, "dtype", "float32", "float64")
def a_gradient_of_another_dtype_is_assigned():
    leaf().grad = gs.ones(2, dtype=gs.float32)


@case(TypeError, "Tensor or None", "list")
def no_tensor_is_assigned_as_gradient():
    leaf().grad = [1.0, 2.0]


@case(RuntimeError, "can't assign Variable as its own grad")
def a_tensor_is_assigned_as_its_own_gradient():
    x = leaf()
    x.grad = x


@case(RuntimeError, "out=", "automatic differentiation", "requires grad")
def out_with_an_input_that_requires_grad():
    gs.add(leaf(), 1.0, out=gs.tensor(np.ones(2)))


@case(RuntimeError, "out=", "automatic differentiation", "requires grad")
def out_that_requires_grad():
    gs.add(gs.tensor(np.ones(2)), 1.0, out=leaf())


# ---- hooks


def run_with_hook(returned):
    y = leaf() * 2

    def careless(gradient):
        return returned(gradient)

    y.register_hook(careless)
    y.sum().backward()


@case(RuntimeError, "hook 'careless' has changed the size of value", "[1]", "[2]")
def a_hook_changes_the_size():
    run_with_hook(lambda gradient: gradient[:1])


@case(RuntimeError, "hook 'careless' has changed the type of value", "float32", "float64")
def a_hook_changes_the_dtype():
    run_with_hook(lambda gradient: gradient.to(gs.float32))


@case(TypeError, "hook 'careless' returned float", "expected Tensor or None")
def a_hook_returns_no_tensor():
    run_with_hook(lambda gradient: 1.0)


@case(RuntimeError, "MulBackward0 has returned an incorrect number of values (got 2, but expected 1)")
def a_node_hook_returns_too_many():
    y = leaf() * 2
    y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0], inputs[0]))
    y.sum().backward()


@case(ZeroDivisionError, "by zero")
def a_hook_raises_an_exception_of_its_own():
    run_with_hook(lambda gradient: 1 / 0)


@case(RuntimeError, "not in this block")
def saved_tensor_hooks_are_switched_off():
    with disable_saved_tensors_hooks("not in this block"), saved_tensors_hooks(lambda t: t, lambda t: t):
        pass


@case(RuntimeError, "only one pair of hooks")
def a_saved_tensor_gets_hooks_twice():
    y = leaf().exp()
    for _ in range(2):
        y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)


@case(RuntimeError, "has been freed")
def a_freed_saved_tensor_gets_hooks():
    y = leaf().exp()
    y.sum().backward()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)


@case(TypeError, "unpack_hook", "Tensor", "NoneType")
def an_unpack_hook_returns_no_tensor():
    with saved_tensors_hooks(lambda t: t, lambda t: None):
        y = leaf().exp()
    y.sum().backward()


@case(RuntimeError, "pack hook", "in place")
def a_pack_hook_changes_what_it_packs():
    with saved_tensors_hooks(lambda t: t.mul_(2), lambda t: t):
        leaf().exp()


# ---- custom Functions


class Silent(Function):
    """Has a forward only."""

    @staticmethod
    def forward(ctx, x):
        return x * 2


@case(NotImplementedError, "Silent", "must implement either the backward or vjp method")
def a_function_without_backward():
    Silent.apply(leaf()).sum().backward()


@case(NotImplementedError, "Silent", "must implement the jvp function")
def a_function_without_jvp():
    with forward_ad.dual_level():
        Silent.apply(forward_ad.make_dual(gs.ones(2), gs.ones(2)))


class KeepsANumber(Silent):
    """Saves what is no tensor."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, 3)
        return x * 2


@case(TypeError, "save_for_backward can only save variables, that is tensors or None", "argument 1", "int")
def no_tensor_is_saved():
    KeepsANumber.apply(leaf())


@case(RuntimeError, "Silent", "apply")
def a_function_is_called_like_a_module():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        function = Silent()
    function(leaf())


@case(DeprecationWarning, "should not be instantiated", "static")
def a_function_is_instantiated():
    Silent()


# ---- forward mode


@case(RuntimeError, "dual_level")
def a_dual_number_outside_of_a_level():
    forward_ad.make_dual(gs.ones(2), gs.ones(2))


@case(RuntimeError, "size", "[2]", "[3]")
def a_tangent_of_another_size():
    with forward_ad.dual_level():
        forward_ad.make_dual(gs.ones(2), gs.ones(3))


@case(ValueError, "floating point", "int64")
def a_dual_number_of_integers():
    with forward_ad.dual_level():
        forward_ad.make_dual(gs.tensor([1, 2]), gs.ones(2))


@case(ValueError, "tangent", "floating point", "int64")
def a_tangent_of_integers():
    with forward_ad.dual_level():
        forward_ad.make_dual(gs.ones(2), gs.tensor([1, 2]))


@case(RuntimeError, "already has", "level", "unpack")
def a_second_tangent_at_one_level():
    with forward_ad.dual_level():
        forward_ad.make_dual(forward_ad.make_dual(gs.ones(2), gs.ones(2)), gs.ones(2))


@case(RuntimeError, "level")
def a_level_is_left_twice():
    level = forward_ad.dual_level()
    with level:
        pass
    level.__exit__(None, None, None)


@case(NotImplementedError, "add()", "out=", "without out=")
def out_with_a_tangent():
    with forward_ad.dual_level():
        gs.add(forward_ad.make_dual(gs.ones(2), gs.ones(2)), 1.0, out=gs.ones(2))


# ---- functional


@case(RuntimeError, "Output 0", "does not require gradients", "strict mode")
def a_strict_jacobian_of_a_constant():
    functional.jacobian(lambda x: gs.tensor(np.ones(2)), leaf(), strict=True)


@pytest.mark.parametrize(("call", "error", "words"), CASES, ids=[call.__name__ for call, *_ in CASES])
def test_refused(call, error, words):
    with pytest.raises(error) as raised:
        call()
    for part in words:
        assert part.casefold() in str(raised.value).casefold(), str(raised.value)
    assert gs.is_grad_enabled() and not gs.is_inference_mode_enabled()


@pytest.mark.filterwarnings("default")
def test_a_graph_for_the_gradients_of_backward_is_warned_of():
    with pytest.warns(UserWarning, match="create_graph=True.*reference cycle"):
        (leaf() ** 2).sum().backward(create_graph=True)
