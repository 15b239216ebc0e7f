"""Custom Functions: what forward and backward get, what becomes of what they return, and every misuse.

Memory and threads are in test_custom_function_memory.py, in-place changes and views in test_custom_function_views.py.
"""

import traceback
import weakref

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import Function, grad
from gradsmith.autograd.function import FunctionCtx, InplaceFunction, once_differentiable


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


def make(forward, backward=None, name="Custom", **members):
    """A Function of the given functions."""
    functions = {"forward": forward, "backward": backward} if backward else {"forward": forward}
    functions |= members
    return type(name, (Function,), {k: staticmethod(v) if callable(v) else v for k, v in functions.items()})


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


class Cubic(Function):
    """x**3 with NumPy, so that nothing but `backward` can know the gradient."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return gs.from_numpy(x.numpy(force=True) ** 3)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


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
    with pytest.raises(NotImplementedError, match="must implement the forward"):
        type("Empty", (Function,), {}).apply(leaf([1.0]))


# ---- F5: what is kept


def test_inputs_outputs_intermediates_and_none_are_kept():
    seen = []

    def forward(ctx, x):
        middle = x * 2
        result = middle.exp()
        ctx.save_for_backward(x, None, middle, result)
        ctx.note = "kept"
        assert ctx.saved_tensors == ()
        return result

    def backward(ctx, g):
        seen.append((ctx.saved_tensors, ctx.note))
        return 2 * ctx.saved_tensors[3] * g

    x = leaf([1.0, 2.0])
    y = make(forward, backward).apply(x)
    y.sum().backward()
    (saved, note), expected = seen[0], np.exp([2.0, 4.0])
    assert saved[0] is x and saved[1] is None and note == "kept"
    np.testing.assert_array_equal(saved[2].numpy(), [2.0, 4.0])
    np.testing.assert_allclose(saved[3].numpy(force=True), expected)
    np.testing.assert_allclose(x.grad.numpy(), 2 * expected)


def test_outputs_are_kept_after_they_died():
    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            result = x.exp()
            ctx.save_for_backward(result)
            return result

        @staticmethod
        def backward(ctx, g):
            (result,) = ctx.saved_tensors
            return g * result

    x = leaf([0.5])
    total = Exp.apply(x).sum()  # the output is dropped at once
    (first,) = grad(total, x, create_graph=True)
    (second,) = grad(first, x, create_graph=True)
    (third,) = grad(second, x)
    np.testing.assert_allclose([first.item(), second.item(), third.item()], np.exp(0.5))


def test_many_tensors_are_kept():
    def forward(ctx, x):
        ctx.save_for_backward(*[x * i for i in range(1000)])
        return x * 1

    x = leaf([1.0])
    make(forward, lambda ctx, g: g * sum(ctx.saved_tensors)).apply(x).backward()
    assert x.grad.item() == 499_500


def test_only_tensors_can_be_kept():
    custom = make(lambda ctx, x: (ctx.save_for_backward(x, 3), x * 2)[1])
    with pytest.raises(TypeError, match="save_for_backward .* argument 1 is of type int"):
        custom.apply(leaf([1.0]))
    with pytest.raises(AssertionError, match="save_for_forward .* argument 0 is of type str"):
        make(lambda ctx, x: (ctx.save_for_forward("x"), x * 2)[1]).apply(leaf([1.0]))


def test_a_kept_tensor_must_not_change():
    base = leaf([1.0, 2.0])
    x = base * 1
    y = Cubic.apply(x)
    x.mul_(2)
    with pytest.raises(
        RuntimeError, match=r"output 0 of MulBackward0 and was saved by CubicBackward.*expected version 0"
    ):
        y.sum().backward()


def test_a_detached_output_is_still_kept():
    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(y)
        return y

    y = make(forward, lambda ctx, g: g).apply(leaf([1.0]))
    node = y.grad_fn
    y.detach_()
    (kept,) = node.saved_tensors
    assert kept.item() == 2.0 and kept.grad_fn is node


def test_kept_tensors_are_freed_by_backward():
    y = Cubic.apply(leaf([1.0]))
    y.backward()
    for use in (y.backward, lambda: y.grad_fn.saved_tensors):
        with pytest.raises(RuntimeError, match="a second time"):
            use()


def test_save_for_forward_is_read_during_forward_only():
    seen = []

    def forward(ctx, x):
        ctx.save_for_forward(x)
        seen.append(ctx.saved_tensors)
        return x * 2

    x = leaf([1.0])
    y = make(forward, lambda ctx, g: g).apply(x)
    assert seen[0][0] is x and y.grad_fn.saved_tensors == ()


def test_context_stands_alone():
    ctx, x = FunctionCtx(), leaf([1.0])
    ctx.save_for_backward(x)
    ctx.mark_dirty(x)
    ctx.mark_non_differentiable(x)
    ctx.set_materialize_grads(False)
    assert (ctx.to_save, ctx.dirty_tensors, ctx.non_differentiable, ctx.materialize_grads) == ((x,), (x,), (x,), False)


# ---- F6: gradients that do not arrive, outputs without gradient


def test_missing_gradients_are_zeros():
    seen = []
    custom = make(
        lambda ctx, x: (x * 1, x.to(gs.float32), x.max(0)[1], 7),
        lambda ctx, *grads: (seen.append(grads), grads[0])[1],
    )
    outputs = custom.apply(leaf([1.0, 3.0]))
    outputs[0].sum().backward()
    first, second, third, fourth = seen[0]
    assert first.tolist() == [1, 1] and second.tolist() == [0, 0] and second.dtype == gs.float32
    assert third.item() == 0 and third.dtype == gs.int64 and fourth is None


def test_missing_gradients_are_none_when_asked_for():
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1, x * 2

    y, _ = make(forward, lambda ctx, g, h: (seen.append(h), g)[1]).apply(leaf([1.0]))
    y.backward()
    assert seen == [None] and y.grad_fn.materialize_grads is False
    with pytest.raises(TypeError, match="expects a bool, got int"):
        make(lambda ctx, x: ctx.set_materialize_grads(1)).apply(leaf([1.0]))


def test_outputs_marked_non_differentiable():
    seen = []

    def forward(ctx, x):
        mask = x * 2
        ctx.mark_non_differentiable(mask)
        return x * 1, mask

    y, mask = make(forward, lambda ctx, g, h: (seen.append(h), g)[1]).apply(leaf([1.0]))
    assert y.requires_grad and not mask.requires_grad and mask.grad_fn is None
    y.backward()
    assert seen[0].tolist() == [0]
    with pytest.raises(RuntimeError, match="mark_non_differentiable .* argument 0 is of type int"):
        make(lambda ctx, x: (ctx.mark_non_differentiable(3), x)[1]).apply(leaf([1.0]))


def test_what_forward_recorded_is_cut_off():
    def forward(ctx, x, differentiable):
        with gs.enable_grad():
            y = x * 3
        if not differentiable:
            ctx.mark_non_differentiable(y)
        return y

    custom = make(forward, lambda ctx, g: (g * 10, None))
    x = leaf([1.0])
    y = custom.apply(x, True)
    assert y.grad_fn.name() == "CustomBackward"
    assert grad(y, x)[0].item() == 10.0
    assert not custom.apply(x, False).requires_grad


# ---- F7: which gradients are needed


def test_needs_input_grad_in_forward():
    seen = []
    custom = make(lambda ctx, *args: (seen.append(ctx.needs_input_grad), args[0] * 1)[1])
    x, constant = leaf([1.0]), gs.ones(1)
    custom.apply(x, constant, 3)
    custom.apply(constant, constant)
    with gs.no_grad():
        custom.apply(x)
    assert seen == [(True, False, False), (False, False), (True,)]


def test_needs_input_grad_is_that_of_the_run():
    seen = []
    custom = make(lambda ctx, a, n, b: a * b, lambda ctx, g: (seen.append(ctx.needs_input_grad), g, None, g)[1:])
    a, b = leaf([1.0]), leaf([2.0])
    y = custom.apply(a, 3, b)
    grad(y, b, retain_graph=True)
    grad(y, a, retain_graph=True)
    y.backward()
    assert seen == [(False, False, True), (True, False, False), (True, False, True)]
    assert y.grad_fn.needs_input_grad == (True, False, True)


def test_needs_input_grad_of_nested_runs():
    seen = []

    def backward(ctx, g):
        before = ctx.needs_input_grad
        if len(seen) == 0:
            seen.append("inner")
            grad(y, b, retain_graph=True)
        seen.append((before, ctx.needs_input_grad))
        return g, g

    a, b = leaf([1.0]), leaf([2.0])
    y = make(lambda ctx, a, b: a * b, backward).apply(a, b)
    grad(y, a)
    assert seen == ["inner", ((False, True), (False, True)), ((True, False), (True, False))]


# ---- F8: once_differentiable


def twice(save):
    def forward(ctx, x):
        if save:
            ctx.save_for_backward(x)
        return x * x

    def backward(ctx, g):
        assert not gs.is_grad_enabled()
        return g * 2 * (ctx.saved_tensors[0] if save else 1.0)

    return make(forward, once_differentiable(backward))


def test_once_differentiable_is_differentiable_once():
    x = leaf([3.0])
    twice(save=True).apply(x).backward()
    assert x.grad.item() == 6.0


@pytest.mark.parametrize("allow_unused", [False, True])
def test_once_differentiable_refuses_a_second_time(allow_unused):
    x = leaf([3.0])
    (first,) = grad(twice(save=True).apply(x), x, create_graph=True)
    assert first.item() == 6.0 and first.grad_fn.name() == "Error"
    with pytest.raises(RuntimeError, match="trying to differentiate twice a function that was marked with @once_diff"):
        grad(first, x, allow_unused=allow_unused)


def test_once_differentiable_through_the_gradient_that_came_in():
    x, seed = leaf([3.0]), leaf([1.0])
    (first,) = grad(twice(save=False).apply(x), x, seed, create_graph=True)
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        first.backward()


def test_once_differentiable_is_no_error_when_nothing_depends():
    x = leaf([3.0])
    (first,) = grad(twice(save=False).apply(x), x, create_graph=True)
    assert not first.requires_grad


def test_once_differentiable_with_none_and_several():
    custom = make(lambda ctx, a, n, b: a * b, once_differentiable(lambda ctx, g: (g, None, g * 2)))
    a, b, seed = leaf([1.0]), leaf([1.0]), leaf([1.0])
    first, second = grad(custom.apply(a, 3, b), (a, b), seed, create_graph=True)
    assert (first.item(), second.item()) == (1.0, 2.0) and second.output_nr == 2


# ---- F9: reading once, one list of gradients


def test_saved_tensors_are_freed_as_they_are_read():
    dead = []

    def forward(ctx, x):
        middle = x * 2
        dead.append(weakref.ref(middle))
        ctx.save_for_backward(middle)
        return x * 1

    def backward(ctx, g):
        (middle,) = ctx.saved_tensors
        del middle
        assert dead[-1]() is None
        with pytest.raises(RuntimeError, match="can only be accessed once"):
            ctx.saved_tensors  # noqa: B018
        return g

    y = make(forward, backward, clear_saved_tensors_on_access=True).apply(leaf([1.0]))
    y.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="can only be accessed once"):
        y.backward()


def test_gradients_in_one_list_can_be_freed():
    def backward(ctx, grads):
        assert type(grads) is list and len(grads) == 2
        first = grads.pop(0)
        result, reference = first * 2, weakref.ref(first)
        del first
        assert reference() is None
        return result + grads[0]

    y, z = make(lambda ctx, x: (x * 1, x * 2), backward, boxed_grads_call=True).apply(leaf([1.0, 2.0]))
    (y * 3 + z * 5).sum().backward()


# ---- F10: what backward returns


def test_trailing_none_is_tolerated():
    x = leaf([1.0])
    make(lambda ctx, x: x * 2, lambda ctx, g: (g, None, None)).apply(x).backward()
    assert x.grad.item() == 1.0


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda g: g, r"incorrect number of gradients \(expected 2, got 1\)"),
        (lambda g: (g, None, g), r"incorrect number of gradients \(expected 2, got 3\)"),
        (lambda g: (3, None), r"position 1: expected Tensor or None \(got int\)"),
        (lambda g: ([g], None), r"position 1: expected Tensor or None \(got list\)"),
        (lambda g: (g, g), "gradient different than None at position 2, but the corresponding forward input was not a"),
        (
            lambda g: (gs.ones(2), None),
            r"invalid gradient at index 0 - got \[2\] but expected shape compatible with \[3\]",
        ),
    ],
)
def test_wrong_results(result, message):
    y = make(lambda ctx, x, n: x * n, lambda ctx, g: result(g)).apply(leaf([1.0, 2.0, 3.0]), 2)
    with pytest.raises(RuntimeError, match="CustomBackward returned an? .*" + message):
        y.sum().backward()


def test_results_are_summed_to_the_shape_and_cast_to_the_dtype():
    x = gs.ones(3, requires_grad=True)
    make(lambda ctx, x: x * 2, lambda ctx, g: gs.ones(2, 3, dtype=gs.float64)).apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2, 2] and x.grad.dtype == gs.float32


def test_the_gradient_of_what_needs_none_is_ignored():
    x, constant = leaf([1.0]), gs.ones(3)
    make(lambda ctx, x, c: x * 2, lambda ctx, g: (g, gs.ones(77))).apply(x, constant).backward()
    assert x.grad.item() == 1.0 and constant.grad is None


def test_returning_what_came_in_twice_or_what_was_saved():
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    make(lambda ctx, a, b: a + b, lambda ctx, g: (g, g)).apply(a, b).sum().backward()
    a.grad.mul_(10)
    assert a.grad.tolist() == [10, 10] and b.grad.tolist() == [1, 1]
    keep = make(lambda ctx, a: (ctx.save_for_backward(a), a * 1)[1], lambda ctx, g: ctx.saved_tensors[0])
    x = leaf([5.0])
    (keep.apply(x) + keep.apply(x)).backward()
    assert x.grad.item() == 10.0 and x.item() == 5.0


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


# ---- F12: higher derivatives


def test_any_order():
    x = leaf([0.5, -1.5])
    y = Cubic.apply(x).sum()
    (first,) = grad(y, x, create_graph=True)
    (second,) = grad(first.sum(), x, create_graph=True)
    (third,) = grad(second.sum(), x)
    np.testing.assert_allclose(first.numpy(force=True), 3 * x.numpy(force=True) ** 2)
    np.testing.assert_allclose(second.numpy(force=True), 6 * x.numpy(force=True))
    np.testing.assert_allclose(third.numpy(), [6.0, 6.0])


def test_backward_is_recorded_only_when_asked():
    seen = []
    custom = make(lambda ctx, x: x * 1, lambda ctx, g: (seen.append(gs.is_grad_enabled()), g)[1])
    x = leaf([1.0])
    custom.apply(x).backward()
    grad(custom.apply(x), x, create_graph=True)
    assert seen == [False, True]


def test_backward_by_another_function():
    custom = make(
        lambda ctx, x: (ctx.save_for_backward(x), x.sin())[1], lambda ctx, g: g * Cubic.apply(ctx.saved_tensors[0])
    )
    x = leaf([2.0])
    (first,) = grad(custom.apply(x), x, create_graph=True)
    assert first.item() == 8.0 and grad(first, x)[0].item() == 12.0


def test_functions_inside_functions():
    outer = make(
        lambda ctx, x: (ctx.save_for_backward(x), Cubic.apply(x) * 2)[1],
        lambda ctx, g: g * 6 * ctx.saved_tensors[0] ** 2,
    )
    x = leaf([2.0])
    y = outer.apply(x)
    assert y.item() == 16.0
    y.backward()
    assert x.grad.item() == 24.0


# ---- F14: classes


def test_each_function_has_a_class_of_nodes():
    node = Cubic.apply(leaf([1.0])).grad_fn
    assert type(node) is Cubic._backward_cls and type(node).__name__ == node.name() == "CubicBackward"
    assert node._forward_cls is Cubic and type(node).__module__ == __name__

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


# ---- exceptions


def test_exceptions_keep_type_and_traceback():
    def backward(ctx, g):
        raise ValueError("boom")

    x, other = leaf([1.0]), leaf([1.0])
    y = make(lambda ctx, x: x * 2, backward).apply(x)
    with pytest.raises(ValueError, match="boom") as caught:
        (y * other).backward()
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "backward"
    assert gs.is_grad_enabled() and x.grad is None
    assert grad(x * 2, x)[0].item() == 2.0


def test_after_an_exception_backward_can_be_tried_again():
    fail = [True]

    def backward(ctx, g):
        if fail:
            assert ctx.needs_input_grad == (True,)
            raise KeyError(fail.pop())
        return g * ctx.saved_tensors[0]

    x = leaf([3.0])
    y = make(lambda ctx, x: (ctx.save_for_backward(x), x * 1)[1], backward).apply(x)
    with pytest.raises(KeyError):
        y.backward()
    y.backward()
    assert x.grad.item() == 3.0


def test_an_exception_in_forward_changes_nothing():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        make(forward).apply(leaf([1.0]))
    assert gs.is_grad_enabled()


def test_hooks_of_the_node():
    seen = []
    x = leaf([1.0])
    y = make(lambda ctx, x, n: x * n, lambda ctx, g: (g * 2, None)).apply(x, 2)
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 10,))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs[0].item(), outputs[0].item(), len(inputs))))
    y.backward()
    assert seen == [(20.0, 10.0, 1)] and x.grad.item() == 20.0
