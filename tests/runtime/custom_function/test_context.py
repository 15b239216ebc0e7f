"""The ctx of a custom Function: saved tensors, marks of outputs, the gradients that are needed."""

import weakref

import numpy as np
import pytest
from custom_functions import Cubic, leaf, make

import gradsmith as gs
from gradsmith.autograd import Function, grad
from gradsmith.autograd.function import FunctionCtx

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


def test_needs_input_grad_of_more_than_thirty_two_inputs():
    seen = []

    def backward(ctx, g):
        seen.append([i for i, needed in enumerate(ctx.needs_input_grad) if needed])
        return (g,) * 70

    inputs = [leaf([1.0]) for _ in range(70)]
    middle = [x * 2 for x in inputs]
    y = make(lambda ctx, *xs: sum(xs), backward).apply(*middle)
    for wanted in ([0], [31], [32], [69], [3, 40, 41]):
        assert all(g.item() == 2 for g in grad(y, [inputs[i] for i in wanted], retain_graph=True))
        grad(y, [middle[i] for i in wanted], retain_graph=True)
        y.backward(inputs=[inputs[i] for i in wanted], retain_graph=True)
        assert seen == [wanted] * 3
        seen.clear()
    y.backward()
    assert seen == [list(range(70))]


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


def test_saved_variables_is_an_old_name():
    class Double(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            with pytest.warns(DeprecationWarning, match="'saved_variables' is deprecated; use 'saved_tensors'"):
                assert ctx.saved_variables[0] is x
            return grad * 2

    x = gs.ones(2, requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2]


@pytest.mark.parametrize("index_output", [False, True])
@pytest.mark.parametrize("materialize", [False, True])
def test_zeros_for_outputs_without_gradient_can_be_left_out(materialize, index_output):
    found = []

    class Split(gs.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            other = x.argmax() if index_output else x * 3
            ctx.mark_non_differentiable(other)
            ctx._materialize_non_diff_grads = materialize
            return x * 2, other, x * 4

        @staticmethod
        def backward(ctx, *grads):
            found.extend(None if grad is None else grad.sum().item() for grad in grads)
            return grads[0] * 2

    Split.apply(gs.ones(2, requires_grad=True))[0].sum().backward()
    assert found == [2, 0 if materialize else None, 0]


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_the_needs_of_each_backward_that_runs_inside_another(depth):
    """Of a context whose backward runs, however many others run inside it, they are those of its own run."""
    contexts, seen = [], []

    class Nested(gs.autograd.Function):
        @staticmethod
        def forward(ctx, a, b, level):
            ctx.level = level
            return a * b

        @staticmethod
        def backward(ctx, gradient):
            contexts.append(ctx)
            if ctx.level < depth:
                with gs.enable_grad():
                    x, y = gs.ones(1, requires_grad=True), gs.ones(1, requires_grad=True)
                    gs.autograd.grad(Nested.apply(x, y, ctx.level + 1), y if ctx.level % 2 else x)
            else:
                seen.extend(one.needs_input_grad[:2] for one in contexts)
            return gradient, gradient, None

    x, y = gs.ones(1, requires_grad=True), gs.ones(1, requires_grad=True)
    gs.autograd.grad(Nested.apply(x, y, 1), x)
    assert seen == [(True, False), *[(False, True) if level % 2 else (True, False) for level in range(1, depth)]]
    assert all(one.needs_input_grad[:2] == (True, True) for one in contexts)
