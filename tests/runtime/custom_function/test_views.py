"""Custom Functions that return inputs and views, or write to their inputs."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import Function, grad


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


class Same(Function):
    """Returns its input, with three times the gradient."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, g):
        return g * 3


class Head(Function):
    """A view: the first two, with three times the gradient."""

    @staticmethod
    def forward(ctx, x):
        return x[:2]

    @staticmethod
    def backward(ctx, g):
        return gs.cat([g * 3, gs.zeros(1, dtype=g.dtype)])


class Double(Function):
    """In place."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2


class ScaleSecond(Function):
    """Multiplies its second argument by the first, in place."""

    @staticmethod
    def forward(ctx, factor, x):
        ctx.save_for_backward(factor, x.clone())
        ctx.mark_dirty(x)
        return x.mul_(factor)

    @staticmethod
    def backward(ctx, g):
        factor, x = ctx.saved_tensors
        needs = ctx.needs_input_grad
        return (g * x).sum().view(1) if needs[0] else None, g * factor if needs[1] else None


IN_FUNCTION = "created inside a custom Function .* cloning the output of the custom Function"


# ---- F11: an input as it is


def test_an_input_returned_is_a_view_of_it():
    x = leaf([1.0, 2.0])
    y = Same.apply(x)
    assert y is not x and x.is_leaf and y._is_view() and y._base is x
    assert y.data_ptr() == x.data_ptr() and y.grad_fn.name() == "SameBackward"
    y.sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_an_input_returned_without_recording():
    x = gs.ones(2)
    y = Same.apply(x)
    assert y is not x and y._is_view() and not y.requires_grad
    y.mul_(2)
    assert x.tolist() == [2, 2]
    x = leaf([1.0])
    with gs.no_grad():
        y = Same.apply(x)
    assert y is not x and not y.requires_grad and not y._is_view() and x.requires_grad


def test_an_input_marked_non_differentiable():
    x = leaf([1.0]) * 1
    y = type(
        "Plain", (Function,), {"forward": staticmethod(lambda ctx, x: (ctx.mark_non_differentiable(x), x)[1])}
    ).apply(x)
    assert y is not x and not y.requires_grad and x.requires_grad


def test_another_input_returned_takes_part():
    x, constant = leaf([1.0]), gs.ones(1, dtype=gs.float64)
    second = type(
        "Second",
        (Function,),
        {"forward": staticmethod(lambda ctx, a, b: b), "backward": staticmethod(lambda ctx, g: (g * 5, g))},
    )
    y = second.apply(x, constant)
    assert y.requires_grad and not constant.requires_grad
    y.backward()
    assert x.grad.item() == 5.0


def test_setup_context_cannot_save_an_input_as_output():
    custom = type(
        "Saves",
        (Function,),
        {
            "forward": staticmethod(lambda x: x),
            "setup_context": staticmethod(lambda ctx, inputs, output: ctx.save_for_backward(output)),
        },
    )
    with pytest.raises(RuntimeError, match=r"returned as-is as output is being saved .* x.view_as\(x\)"):
        custom.apply(leaf([1.0]))


# ---- F11: views made inside


@pytest.mark.parametrize("function", [Same, Head])
@pytest.mark.parametrize("of_leaf", [True, False])
def test_such_views_cannot_be_written(function, of_leaf):
    x = leaf([1.0, 2.0, 3.0])
    base = x if of_leaf else x * 1
    for view in (function.apply(base), function.apply(base)[:1]):
        with pytest.raises(RuntimeError, match=IN_FUNCTION):
            view.mul_(2)
    np.testing.assert_array_equal(x.numpy(force=True), [1, 2, 3])


def test_such_views_of_what_needs_no_gradient_cannot_be_written_either():
    x = leaf([1.0, 2.0, 3.0])
    with gs.no_grad():
        view = Head.apply(x)
    assert view.requires_grad and view._is_view()
    with pytest.raises(RuntimeError, match=IN_FUNCTION):
        view.mul_(2)


@pytest.mark.parametrize("function", [Same, Head])
def test_after_a_write_to_the_base_such_a_view_is_of_no_use(function):
    base = leaf([1.0, 2.0, 3.0]) * 1
    view = function.apply(base)
    base.mul_(2)
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified.*" + IN_FUNCTION):
        view * 2
    (base * 2).sum().backward()


@pytest.mark.parametrize("function", [Same, Head])
def test_such_a_view_does_not_get_a_history_by_a_write_to_its_base(function):
    """It would lead around the custom backward."""
    base = gs.tensor([1.0, 2.0, 3.0], dtype=gs.float64)
    view = function.apply(base)
    base.mul_(leaf(2.0))
    with pytest.raises(RuntimeError, match="its base or another view of its base has been modified.*" + IN_FUNCTION):
        view * 2


def test_a_write_unseen_by_the_graph_counts_too():
    base = leaf([1.0, 2.0, 3.0]) * 1
    view = Same.apply(base)
    with gs.no_grad():
        view.mul_(2)
    with pytest.raises(RuntimeError, match=IN_FUNCTION):
        view.grad_fn  # noqa: B018


def test_a_clone_can_be_written():
    x = leaf([1.0, 2.0, 3.0])
    y = Head.apply(x).clone().mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [6, 6, 0]


def test_several_views_cannot_be_written():
    halves = type(
        "Halves",
        (Function,),
        {
            "forward": staticmethod(lambda ctx, x: (x[:2], x[2:])),
            "backward": staticmethod(lambda ctx, g, h: gs.cat([g, h])),
        },
    )
    for view in halves.apply(leaf([1.0, 2.0, 3.0]) * 1):
        with pytest.raises(RuntimeError, match="output of a function that returns multiple views"):
            view.mul_(2)


def test_a_pure_view_can_be_written():
    def forward(ctx, x):
        ctx._is_pure_view = True
        return x.view(3, 1)

    column = type(
        "Column", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(lambda ctx, g: g.view(3))}
    )
    x = leaf([1.0, 2.0, 3.0])
    base = x * 1
    column.apply(base).mul_(4)
    base.sum().backward()
    assert x.grad.tolist() == [4, 4, 4]


# ---- F6: inputs that forward writes to


def test_a_dirty_input_is_returned_itself():
    x = leaf([1.0, 2.0])
    y = x * 1
    before = y.grad_fn
    result = Double.apply(y)
    assert result is y and y._version == 2 and y.grad_fn.name() == "DoubleBackward"
    assert y.grad_fn.next_functions == ((before, 0),)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_dirty_input_makes_what_saved_it_stale():
    y = leaf([1.0]) * 1
    z = y * y
    Double.apply(y)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


def test_a_dirty_leaf_comes_to_require_grad():
    x, target = leaf([3.0]), gs.ones(1, dtype=gs.float64)
    result = ScaleSecond.apply(x, target)
    assert result is target and target.requires_grad and target.item() == 3.0
    target.backward()
    assert x.grad.item() == 1.0


def test_without_recording_a_dirty_input_stays_what_it_is():
    x = gs.ones(2)
    assert Double.apply(x) is x and x.tolist() == [2, 2] and x._version == 2
    x = leaf([1.0])
    with gs.no_grad():
        y = Double.apply(x)
    assert y is not x and not y.requires_grad and x.requires_grad and x.item() == 2.0


def test_a_leaf_that_requires_grad_cannot_be_dirty():
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad .* in-place operation: Double"):
        Double.apply(leaf([1.0]))
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        Double.apply(leaf([1.0, 2.0])[:1])


def test_what_is_dirty_has_to_be_returned():
    forget = type("Forget", (Function,), {"forward": staticmethod(lambda ctx, x: (ctx.mark_dirty(x), x * 2)[1])})
    with pytest.raises(
        RuntimeError, match="argument 0 of mark_dirty is not returned.*must all be outputs of the Function"
    ):
        forget.apply(leaf([1.0]) * 1)
    wrong = type("Wrong", (Function,), {"forward": staticmethod(lambda ctx, x: (ctx.mark_dirty(x, 3), x)[1])})
    with pytest.raises(RuntimeError, match="mark_dirty can only accept variables, .* but argument 1 is of type int"):
        wrong.apply(leaf([1.0]) * 1)


def test_what_is_dirty_should_be_an_input():
    def forward(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    needless = type(
        "Needless", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(lambda ctx, g: g)}
    )
    with pytest.warns(UserWarning, match="received a tensor that was not an input"):
        y = needless.apply(leaf([1.0]))
    assert y.grad_fn.name() == "NeedlessBackward"


def test_a_dirty_view_writes_to_its_base():
    x = leaf([1.0, 2.0, 3.0])
    base = x * 1
    view = base[:2]
    assert Double.apply(view) is view
    assert base.grad_fn.name() == "CopySlices"
    (base * gs.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [2, 20, 100]


def test_a_dirty_view_need_not_be_the_first_input():
    x, factor = leaf([1.0, 2.0, 3.0]), leaf([5.0])
    base = x * 1
    ScaleSecond.apply(factor, base[:2])
    weights = gs.tensor([1.0, 10.0, 100.0])
    (base * weights).sum().backward(retain_graph=True)
    assert x.grad.tolist() == [5, 50, 100] and factor.grad.tolist() == [21.0]
    assert grad((base * weights).sum(), factor, retain_graph=True)[0].tolist() == [21.0]
    assert grad((base * weights).sum(), x)[0].tolist() == [5, 50, 100]


def test_a_dirty_view_of_what_needs_no_gradient():
    factor, base = leaf([5.0]), gs.ones(3, dtype=gs.float64)
    ScaleSecond.apply(factor, base[:2])
    assert base.requires_grad
    base.sum().backward()
    assert factor.grad.tolist() == [2.0]


@pytest.mark.parametrize("position", [0, 5, 40])
def test_a_dirty_view_among_many_inputs(position):
    """Run for one input at a time, so that the needs of each have to be handed on in the right order."""
    count = 45
    needed = []

    def forward(ctx, *xs):
        ctx.mark_dirty(xs[position])
        for i, x in enumerate(xs):
            if i != position:
                xs[position].add_(x)
        return xs[position]

    def backward(ctx, g):
        needed.append([i for i, needs in enumerate(ctx.needs_input_grad) if needs])
        return tuple(g * (i + 1) if i in needed[-1] else None for i in range(count))

    add = type("Add", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})
    inputs = [leaf([float(i)]) for i in range(count)]
    x = leaf([1.0, 2.0])
    base = x * 1
    add.apply(*inputs[:position], base[:1], *inputs[position + 1 :])
    for i in range(count):
        if i != position:
            assert grad(base.sum(), inputs[i], retain_graph=True)[0].item() == i + 1
    assert grad(base.sum(), x)[0].tolist() == [position + 1, 1]
    assert needed == [[i] for i in range(count) if i != position] + [[position]]


def test_a_dirty_view_must_be_all_that_is_returned():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2), 5

    several = type("Several", (Function,), {"forward": staticmethod(forward)})
    with pytest.raises(RuntimeError, match="Function cannot return more than one Tensor; it returned 2 values"):
        several.apply((leaf([1.0, 2.0]) * 1)[:1])


def test_second_derivative_through_a_dirty_view():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x.exp_()

    exp_ = type(
        "Exp_",
        (Function,),
        {"forward": staticmethod(forward), "backward": staticmethod(lambda ctx, g: g * ctx.saved_tensors[0])},
    )
    x = leaf([0.5, 2.0])
    base = x * 1
    exp_.apply(base[:1])
    (first,) = grad(base.sum(), x, create_graph=True)
    (second,) = grad(first.sum(), x)
    np.testing.assert_allclose(first.numpy(force=True), [np.exp(0.5), 1.0])
    np.testing.assert_allclose(second.numpy(), [np.exp(0.5), 0.0])
