"""Custom Functions: forms and arguments of forward, the names of backward, what forward gives, classes of nodes.

What `ctx` keeps is in test_context.py, what backward returns in test_backward.py, memory and threads in test_memory.py,
in-place changes and views in test_views.py.
"""

import numpy as np
import pytest
from custom_functions import Cubic, leaf, make

import gradsmith as gs
from gradsmith.autograd import Function, grad
from gradsmith.autograd.function import InplaceFunction


def numeric_gradient(function, array, step=1e-6):
    """Of the sum of `function`, by central differences."""
    result = np.empty_like(array)
    for index in np.ndindex(array.shape):
        ends = []
        for sign in (1, -1):
            moved = array.copy()
            moved[index] += sign * step
            ends.append(function(gs.tensor(moved)).sum().item())
        result[index] = (ends[0] - ends[1]) / (2 * step)
    return result


class Product(Function):
    @staticmethod
    def forward(a, b, scale=1.0):
        return a * b * scale

    @staticmethod
    def setup_context(ctx, inputs, output):
        a, b, ctx.scale = inputs
        ctx.save_for_backward(a, b)

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g * b * ctx.scale, g * a * ctx.scale, None


# ---- F1: the two forms of forward


def test_gradient_agrees_with_differences():
    x = leaf([0.5, -1.5, 2.0])
    Cubic.apply(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), numeric_gradient(Cubic.apply, x.detach().numpy()), rtol=1e-6)


def test_forward_is_not_recorded_and_the_outputs_are():
    seen = []

    def forward(ctx, x):
        y = x * 2
        seen.append((gs.is_grad_enabled(), y.requires_grad))
        return y

    x = leaf([1.0])
    y = make(forward, lambda ctx, g: g).apply(x)
    assert seen == [(False, False)] and gs.is_grad_enabled()
    assert y.requires_grad and y.grad_fn.name() == "CustomBackward"
    assert y.grad_fn.next_functions == ((grad_accumulator(x), 0),)


def grad_accumulator(x):
    return (x * 1).grad_fn.next_functions[0][0]


def test_setup_context_gets_inputs_with_defaults_and_output():
    a, b = leaf([2.0, 3.0]), leaf([5.0, 7.0])
    Product.apply(a, b).sum().backward()
    assert a.grad.tolist() == [5.0, 7.0] and b.grad.tolist() == [2.0, 3.0]
    (g,) = grad(Product.apply(a, b, 10.0).sum(), a)
    assert g.tolist() == [50.0, 70.0]


def test_keywords_stand_where_they_belong():
    a, b = leaf([2.0]), leaf([5.0])
    (g,) = grad(Product.apply(a, scale=3.0, b=b).sum(), b)
    assert g.tolist() == [6.0]
    custom = make(lambda ctx, x, factor=2.0, other=None: x * other, lambda ctx, g: (g, None, g * 7))
    (g,) = grad(custom.apply(a, other=b).sum(), b)
    assert g.tolist() == [7.0]


def test_keyword_only_arguments_have_no_gradient():
    def forward(x, *, k=2.0):
        return x * k

    custom = make(forward, lambda ctx, g: g * ctx.k, setup_context=lambda ctx, inputs, output: setattr(ctx, "k", 3.0))
    x = leaf([1.0])
    assert custom.apply(x).item() == 2.0 and custom.apply(x, k=4.0).item() == 4.0
    with pytest.raises(TypeError, match="keyword-only argument 'k' requires grad"):
        custom.apply(x, k=leaf([1.0]))


def test_missing_and_unknown_arguments():
    with pytest.raises(TypeError, match="missing a required argument: 'b'"):
        Product.apply(leaf([1.0]))
    with pytest.raises(TypeError, match="unexpected keyword argument 'c'"):
        Product.apply(leaf([1.0]), leaf([1.0]), c=1)


def test_any_number_of_arguments():
    custom = make(lambda ctx, *xs: sum(xs), lambda ctx, g: tuple(g * i for i in range(40)))
    inputs = [leaf([1.0]) for _ in range(40)]
    custom.apply(*inputs).backward()
    assert [x.grad.item() for x in inputs] == list(range(40))
    assert make(lambda ctx: gs.ones(2)).apply().tolist() == [1, 1]


def test_what_is_no_tensor_is_handed_over_and_needs_no_gradient():
    custom = make(lambda ctx, a, n, b, text: (a * b * n, text), lambda ctx, g, _: (g, None, g * 2, None))
    a, b = leaf([1.0]), leaf([3.0])
    result, text = custom.apply(a, 2, b, "text")
    assert result.item() == 6.0 and text == "text"
    assert len(result.grad_fn.next_functions) == 2
    result.backward()
    assert a.grad.item() == 1.0 and b.grad.item() == 2.0


def test_tensors_in_lists_are_no_inputs():
    x = leaf([1.0])
    assert not make(lambda ctx, xs: xs[0] * 2).apply([x]).requires_grad


# ---- F2: backward and vjp


def test_vjp_is_another_name_for_backward():
    x = leaf([1.0])
    make(lambda ctx, x: x * 2, vjp=lambda ctx, g: g * 5).apply(x).backward()
    assert x.grad.item() == 5.0


def test_both_are_an_error():
    custom = make(lambda ctx, x: x * 2, lambda ctx, g: g, vjp=lambda ctx, g: g)
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        custom.apply(leaf([1.0])).backward()


def test_neither_is_an_error_only_when_it_is_needed():
    y = make(lambda ctx, x: x * 2).apply(leaf([1.0]))
    with pytest.raises(NotImplementedError, match="must implement either the backward or vjp"):
        y.backward()
    with pytest.raises(NotImplementedError, match="Empty: You must implement the forward"):
        type("Empty", (Function,), {}).apply(leaf([1.0]))


# ---- F10: what forward returns


def test_kinds_of_outputs():
    def outputs(result):
        return make(lambda ctx, x: result(x), lambda ctx, *g: g[0]).apply(leaf([1.0]))

    assert type(outputs(lambda x: (x * 1,))) is tuple
    assert outputs(lambda x: ()) == () and outputs(lambda x: None) is None
    (inside,) = outputs(lambda x: [x * 1])
    assert not inside.requires_grad


def test_one_tensor_returned_twice():
    def forward(ctx, x):
        y = x * 2
        return y, y

    x = leaf([1.0])
    y, z = make(forward, lambda ctx, g, h: g * 100 + h).apply(x)
    assert y is z and y.output_nr == 1
    (y + z).backward()
    assert x.grad.item() == 2.0


def test_a_leaf_from_elsewhere_gets_the_history():
    parameter = leaf([1.0])
    y = make(lambda ctx, x: parameter, lambda ctx, g: g * 4).apply(x := leaf([1.0]))
    assert y is parameter and not parameter.is_leaf
    assert grad(y, x)[0].item() == 4.0


def test_nothing_is_recorded_without_need():
    assert not Cubic.apply(gs.ones(2)).requires_grad
    with gs.no_grad():
        assert not Cubic.apply(leaf([1.0])).requires_grad


# ---- F14: classes


def test_each_function_has_a_class_of_nodes():
    node = Cubic.apply(leaf([1.0])).grad_fn
    assert type(node) is Cubic._backward_cls and type(node).__name__ == node.name() == "CubicBackward"
    assert node._forward_cls is Cubic and type(node).__module__ == Cubic.__module__

    class Derived(Cubic):
        pass

    assert Derived.apply(leaf([1.0])).grad_fn.name() == "DerivedBackward"


def test_the_node_shows_its_state():
    x = leaf([2.0])
    node = Cubic.apply(x).grad_fn
    assert node.saved_tensors[0] is x and node.needs_input_grad == (True,) and node.materialize_grads
    assert node.dirty_tensors is None and node.non_differentiable is None and node.to_save is None
    assert node.apply(gs.ones(1)).item() == 12.0


def test_functions_are_not_instantiated():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = Cubic()
    with pytest.raises(RuntimeError, match=r"call Cubic.apply\(\.\.\.\)"):
        instance(leaf([1.0]))
    with pytest.warns(DeprecationWarning):
        assert InplaceFunction(inplace=True).inplace
