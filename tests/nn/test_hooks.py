"""Hooks of calls and of gradients, of one module and of all."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import nn
from gradsmith.nn.modules import module as module_file

X = gs.tensor([[1.0, -2.0]])


def noting(calls, name):
    return lambda *args: calls.append(name)


# ---- calls


def test_hooks_come_before_and_after_in_order():
    calls, layer = [], nn.Linear(2, 1)
    handles = [
        module_file.register_module_forward_pre_hook(noting(calls, "all before")),
        module_file.register_module_forward_hook(noting(calls, "all after")),
    ]
    layer.register_forward_pre_hook(noting(calls, "second before"))
    layer.register_forward_pre_hook(noting(calls, "first before"), prepend=True)
    layer.register_forward_hook(noting(calls, "second after"))
    layer.register_forward_hook(noting(calls, "first after"), prepend=True)
    layer(X)
    assert calls == ["all before", "first before", "second before", "all after", "first after", "second after"]
    for handle in handles:
        handle.remove()
    calls.clear()
    nn.Linear(2, 1)(X)
    assert calls == []


def test_hooks_replace_arguments_and_output():
    identity = nn.Identity()
    identity.register_forward_pre_hook(lambda module, args: args[0] * 2)  # one value
    identity.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
    handle = identity.register_forward_hook(lambda module, args, output: (args, output))
    args, output = identity(gs.tensor(3.0))
    assert output.item() == 7.0 and args[0] is output
    with handle:
        pass
    assert identity(gs.tensor(3.0)).item() == 7.0


def test_hooks_see_arguments_by_name():
    class Scaled(nn.Module):
        def forward(self, x, *, scale):
            return x * scale

    scaled, seen = Scaled(), []
    scaled.register_forward_pre_hook(
        lambda module, args, kwargs: (args, {"scale": kwargs["scale"] + 1}), with_kwargs=True
    )
    scaled.register_forward_hook(lambda module, args, kwargs, output: seen.append(kwargs), with_kwargs=True)
    assert scaled(2, scale=3) == 8 and seen == [{"scale": 4}]
    scaled.register_forward_pre_hook(lambda module, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got 3"):
        scaled(2, scale=3)


def test_some_hooks_are_called_after_errors():
    class Failing(nn.Module):
        def forward(self, x):
            raise ValueError("no")

    failing, seen = Failing(), []
    failing.register_forward_hook(lambda module, args, output: seen.append("never"))
    failing.register_forward_hook(lambda module, args, output: seen.append(output), always_call=True)
    with pytest.raises(ValueError, match="no"):
        failing(1)
    assert seen == [None]

    def broken(module, args, output):
        raise KeyError("hook")

    failing.register_forward_hook(broken, always_call=True)
    with pytest.warns(UserWarning, match="silenced as another error was raised"), pytest.raises(ValueError, match="no"):
        failing(1)


REGISTERED = {
    "forward pre": lambda module, **options: module.register_forward_pre_hook(lambda *_: None, **options),
    "forward": lambda module, **options: module.register_forward_hook(lambda *_: None, **options),
    "backward pre": lambda module, **options: module.register_full_backward_pre_hook(lambda *_: None, **options),
    "backward": lambda module, **options: module.register_full_backward_hook(lambda *_: None, **options),
}


@pytest.mark.parametrize("prepend", [False, True])
@pytest.mark.parametrize(
    ("kind", "options"),
    [(kind, {}) for kind in REGISTERED]
    + [("forward pre", {"with_kwargs": True})]
    + [("forward", {"with_kwargs": True}), ("forward", {"always_call": True})],
)
def test_nothing_is_left_of_a_hook_that_is_removed(kind, options, prepend):
    def sizes(module):
        return {name: len(value) for name, value in vars(module).items() if isinstance(value, dict)}

    layer = nn.Linear(2, 1)
    before = sizes(layer)
    handles = [REGISTERED[kind](layer, prepend=prepend, **options) for _ in range(2)]
    assert sizes(layer) != before
    for handle in handles:
        handle.remove()
        handle.remove()
    assert sizes(layer) == before


def test_what_is_no_hook():
    with pytest.raises(TypeError, match="a hook must be callable, got int"):
        nn.ReLU().register_forward_hook(3)


# ---- gradients


class Product(nn.Module):
    def forward(self, x, y, label=None):
        return x * y, x + y


def test_gradients_of_inputs_and_outputs():
    seen, product = {}, Product()
    product.register_full_backward_pre_hook(lambda module, grad_output: seen.update(pre=grad_output))
    product.register_full_backward_hook(
        lambda module, grad_input, grad_output: seen.update(input=grad_input, output=grad_output)
    )
    x, y = gs.tensor(3.0, requires_grad=True), gs.tensor(5.0, requires_grad=True)
    first, second = product(x, y, "label")
    (first * 2 + second).backward()
    assert [value.item() for value in seen["output"]] == [2.0, 1.0] == [value.item() for value in seen["pre"]]
    assert [seen["input"][0].item(), seen["input"][1].item(), seen["input"][2]] == [11.0, 7.0, None]
    assert (x.grad.item(), y.grad.item()) == (11.0, 7.0)


def test_hooks_replace_gradients():
    layer = nn.Linear(2, 1)
    layer.register_full_backward_pre_hook(lambda module, grad_output: (grad_output[0] * 10,))
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: (grad_input[0] * 3,))
    x = X.clone().requires_grad_()
    layer(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 30 * layer.weight.detach().numpy(), rtol=1e-6)
    np.testing.assert_allclose(layer.weight.grad.numpy(), 10 * X.numpy(), rtol=1e-6)


def test_gradients_of_a_module_whose_inputs_need_none():
    seen, layer = [], nn.Linear(2, 1)
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: seen.append(grad_input))
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        layer(X).sum().backward()
    assert seen == [(None,)] and layer.weight.grad is not None


def test_no_hook_without_recording():
    seen, layer = [], nn.Linear(2, 1)
    layer.register_full_backward_hook(noting(seen, "called"))
    with gs.no_grad():
        assert not layer(X.clone().requires_grad_()).requires_grad
    assert seen == []


def test_hooks_in_a_net_see_their_own_module():
    seen = []
    net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    for module in net:
        module.register_full_backward_hook(lambda module, grads, outputs: seen.append((type(module), outputs[0].shape)))
    net(X.clone().requires_grad_()).sum().backward()
    assert seen == [(nn.Linear, (1, 1)), (nn.Tanh, (1, 3)), (nn.Linear, (1, 3))]


def test_hooks_of_all_modules():
    seen = []
    handles = [
        module_file.register_module_full_backward_pre_hook(noting(seen, "pre")),
        module_file.register_module_full_backward_hook(noting(seen, "post")),
    ]
    nn.Tanh()(X.clone().requires_grad_()).sum().backward()
    with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
        module_file.register_module_backward_hook(noting(seen, "plain"))
    for handle in handles:
        handle.remove()
    assert seen == ["pre", "post"]


def test_wrong_numbers_of_gradients():
    layer = nn.Tanh()
    handle = layer.register_full_backward_hook(lambda module, grads, outputs: (None, None))
    with pytest.raises(RuntimeError, match="invalid number of grad_input, got 2, but expected 1"):
        layer(X.clone().requires_grad_()).sum().backward()
    handle.remove()
    layer.register_full_backward_pre_hook(lambda module, outputs: ())
    with pytest.raises(RuntimeError, match="invalid number of grad_output, got 0, but expected 1"):
        layer(X.clone().requires_grad_()).sum().backward()


def test_outputs_without_tensors_are_a_warning():
    class Listing(nn.Module):
        def forward(self, x):
            return [x]

    listing = Listing()
    listing.register_full_backward_hook(noting([], ""))
    with pytest.warns(UserWarning, match="module output should be a Tensor or a tuple of Tensors"):
        listing(X)


def test_plain_backward_hooks():
    seen, layer = [], nn.Tanh()
    layer.register_backward_hook(lambda module, grads, outputs: seen.append((module, outputs[0].shape)))
    layer(X.clone().requires_grad_() * 1).sum().backward()
    assert seen == [(layer, (1, 2))]
    with pytest.raises(RuntimeError, match="Please use only one of them"):
        layer.register_full_backward_hook(noting(seen, ""))


class Computing(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def test_what_records_nothing_does_not_begin_to_by_hooks():
    """The gradients are those of the call without hooks, and of such an argument the hook sees zeros."""
    seen, x, other = [], X.clone().requires_grad_(), gs.tensor([[3.0, 4.0]])

    def function(one, constant, place):
        assert one.requires_grad and not constant.requires_grad and not place.requires_grad
        return one * constant, constant * 2, place

    layer = Computing(function)
    layer.register_full_backward_hook(lambda module, grads, outputs: seen.append(grads))
    product, double, place = layer(x, other, gs.tensor([0]))
    assert product.requires_grad and not double.requires_grad and not place.requires_grad
    product.sum().backward()
    assert x.grad.tolist() == other.tolist() and other.grad is None
    assert [grad.tolist() for grad in seen[0]] == [other.tolist(), [[0.0, 0.0]], [0]]


def given():
    return X.clone().requires_grad_() * 1


@pytest.mark.parametrize(
    "function, arguments, message",
    [
        (lambda x: {"y": x.exp()}, (given(),), "does not return a single Tensor or a tuple of Tensors"),
        (lambda x: (x.exp(), None), (given(),), "does not return a single Tensor or a tuple of Tensors"),
        (lambda x, y: x.exp(), (given(), 3), "does not take as input a single Tensor or a tuple of Tensors"),
        (lambda x: (x.exp(), x.sin()), (given(),), "the outputs are generated by different autograd Nodes"),
        (lambda x: x.exp().sin(), (given(),), "the forward contains multiple autograd Nodes"),
        (lambda x: x.exp(), (given().detach().requires_grad_(),), "the forward contains multiple autograd Nodes"),
    ],
)
def test_what_plain_backward_hooks_miss(function, arguments, message):
    module, seen = Computing(function), []
    module.register_backward_hook(noting(seen, "called"))
    with pytest.warns(FutureWarning, match=f"non-full backward hook .*{message}.*register_full_backward_hook") as found:
        output = module(*arguments)
    assert len(found) == 1 and found[0].filename == __file__
    first = output["y"] if isinstance(output, dict) else output[0] if isinstance(output, tuple) else output
    first.sum().backward()
    assert seen == ["called"]


@pytest.mark.parametrize("function", [lambda x: x.exp(), lambda x: (x.exp(),), lambda x: x.unbind(1)])
def test_plain_backward_hooks_that_miss_nothing(function):
    module = Computing(function)
    module.register_backward_hook(noting([], "called"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module(given())
        module(X)


def test_second_derivatives_pass_the_hooks():
    tanh = nn.Tanh()
    tanh.register_full_backward_hook(lambda module, grads, outputs: None)
    x = gs.tensor(0.5, dtype=gs.float64, requires_grad=True)
    (first,) = gs.autograd.grad(tanh(x), x, create_graph=True)
    (second,) = gs.autograd.grad(first, x)
    t = np.tanh(0.5)
    np.testing.assert_allclose([first.item(), second.item()], [1 - t * t, -2 * t * (1 - t * t)])


# ---- handles


def doubled(module, args, output):
    return output * 2


def test_hooks_are_copied_and_pickled_with_their_module():
    layer = nn.Identity()
    layer.handle = layer.register_forward_hook(doubled)
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert twin(gs.tensor(3.0)).item() == 6.0
        twin.handle.remove()
        assert twin(gs.tensor(3.0)).item() == 3.0
    assert layer(gs.tensor(3.0)).item() == 6.0


def test_a_handle_outlives_its_module():
    handle = nn.Identity().register_forward_hook(doubled)
    handle.remove()
    handle.remove()
    pickle.loads(pickle.dumps(handle)).remove()


def test_an_error_about_a_hooked_argument_names_the_hooks():
    layer = nn.Identity()
    layer.register_full_backward_hook(lambda module, grad_input, grad_output: None)
    y = layer(gs.ones(2, requires_grad=True))
    assert y.grad_fn.name() == "BackwardHookFunctionBackward"
    with pytest.raises(RuntimeError, match="Output 0 of BackwardHookFunctionBackward is a view and is being modified"):
        y += 1
