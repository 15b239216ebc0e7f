"""Views and in-place changes: versions, history of bases and views, refusals."""

import numpy as np
import pytest

import gradsmith as gs


def leaf(values):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=True)


def test_views_share_memory_and_version():
    x = gs.zeros(4)
    v = x.view(2, 2)
    w = v[0]
    assert v._is_view() and v._base is x and w._base is x
    w.add_(1)
    np.testing.assert_array_equal(x.numpy(), [1, 1, 0, 0])
    assert x._version == v._version == w._version == 1


def test_detach_shares_version_and_memory_but_no_history():
    x = leaf([1.0, 2.0])
    d = x.detach()
    assert not d.requires_grad and d.is_leaf
    d.add_(1)
    assert x._version == 1
    np.testing.assert_array_equal(x.detach().numpy(), [2.0, 3.0])
    assert x.data._version == 0


def test_inplace_on_a_view_changes_the_history_of_the_base():
    x = leaf([1.0, 2.0, 3.0, 4.0])
    y = x * 1
    y[1:3].mul_(10)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [1, 10, 10, 1])


def test_the_graph_of_a_written_base():
    """R113, R114: the gradient that came in stays as it is; each requested input gets its own."""
    x, factor = leaf([1.0, 2.0, 3.0]), leaf([10.0])
    y = x * 1
    before = y.grad_fn
    view = y[1:]
    view.mul_(factor)
    node = y.grad_fn
    assert node.name() == "CopySlices" and view.grad_fn is not before
    assert [(target.name(), nr) for target, nr in node.next_functions] == [("MulBackward0", 0), ("AccumulateGrad", 0)]
    assert node.next_functions[0][0] is before
    given = gs.tensor([1.0, 2.0, 3.0], dtype=gs.float64)
    (of_x,) = gs.autograd.grad(y, x, given, retain_graph=True)
    (of_factor,) = gs.autograd.grad(y, factor, given, retain_graph=True)
    (of_view,) = gs.autograd.grad(view, x, given[1:])
    assert of_x.tolist() == [1, 20, 30] and of_factor.tolist() == [13] and of_view.tolist() == [0, 20, 30]
    assert given.tolist() == [1, 2, 3]


def test_view_taken_before_the_base_changed():
    x = leaf([1.0, 2.0])
    y = x * 1
    v = y.view(2, 1)
    y.mul_(3)
    assert v.grad_fn.name() == "AsStridedBackward0"
    v.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [3.0, 3.0])


def test_sibling_view_sees_the_change():
    x = leaf([1.0, 2.0, 3.0, 4.0])
    y = x * 1
    a, b = y[:2], y.view(2, 2)
    a.mul_(10)
    b.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [10, 10, 1, 1])


def test_the_history_of_a_sibling_is_renewed_before_what_uses_it():
    x = leaf([1.0, 2.0, 3.0, 4.0])
    y = x * 1
    a, b = y[:2], y.view(2, 2)
    a.mul_(10)
    first, second = b.sum(), (b * 2).sum()
    assert first.grad_fn._sequence_nr() > b.grad_fn._sequence_nr()
    seen = []
    b.register_hook(lambda gradient: seen.append(gradient.numpy().copy()))
    (first + second).backward()
    np.testing.assert_array_equal(seen, [[[3, 3], [3, 3]]])
    np.testing.assert_array_equal(x.grad.numpy(), [30, 30, 3, 3])


def test_assigning_into_a_buffer_makes_it_require_grad():
    w = leaf([1.0, 2.0])
    buffer = gs.zeros(4, dtype=gs.float64)
    early = buffer[0:2]
    buffer[1:3] = w * 3
    assert buffer.requires_grad
    (buffer * gs.tensor([1.0, 2.0, 3.0, 4.0], dtype=gs.float64)).sum().backward()
    np.testing.assert_array_equal(w.grad.numpy(), [6.0, 9.0])
    assert early.requires_grad


def test_double_backward_through_a_written_view():
    x = leaf([1.0, 2.0, 3.0])

    def f(x):
        y = x * 1
        y[1:].mul_(x[:2])
        y[0] = y[1].clone() * y[2].clone()
        return (y * y).sum()

    (first,) = gs.autograd.grad(f(x), x, create_graph=True)
    (second,) = gs.autograd.grad((first * first).sum(), x)
    a, b, c = 1.0, 2.0, 3.0
    # y = [b a * c b, b a, c b]; f = (a b^2 c)^2 + (a b)^2 + (b c)^2
    expected = np.array(
        [
            2 * a * b**4 * c * c + 2 * a * b * b,
            4 * a * a * b**3 * c * c + 2 * a * a * b + 2 * b * c * c,
            2 * a * a * b**4 * c + 2 * b * b * c,
        ]
    )
    np.testing.assert_allclose(first.detach().numpy(), expected)
    eps = 1e-6
    numeric = []
    for i in range(3):
        values = []
        for sign in (1, -1):
            p = np.array([a, b, c])
            p[i] += sign * eps
            q = leaf(p)
            (g,) = gs.autograd.grad(f(q), q)
            values.append((g.numpy() ** 2).sum())
        numeric.append((values[0] - values[1]) / (2 * eps))
    np.testing.assert_allclose(second.numpy(), numeric, rtol=1e-6)


def test_write_through_a_transposed_and_reversed_view():
    x = leaf(np.arange(6.0).reshape(2, 3))
    y = x * 1
    y.T[1].mul_(5)
    y[:, 2].copy_(y[:, 0] * 7)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[8, 5, 0], [8, 5, 0]])


def test_base_over_a_strided_numpy_array():
    array = np.arange(12.0).reshape(3, 4)[:, ::-2]
    x = leaf([2.0, 3.0])
    base = gs.from_numpy(array)
    base[1] = x
    (base * base).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [4.0, 6.0])


def test_leaves_and_their_views_may_not_be_written():
    x = leaf([1.0, 2.0])
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        x[0] = 3.0
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        x.view(2).mul_(2)
    np.testing.assert_array_equal(x.detach().numpy(), [1.0, 2.0])
    with gs.no_grad():
        x.add_(1)
        x[0] = 9.0
    np.testing.assert_array_equal(x.detach().numpy(), [9.0, 3.0])
    assert x.requires_grad and x.is_leaf


def test_outputs_of_multi_view_ops_may_not_be_written():
    x = leaf([1.0, 2.0, 3.0, 4.0])
    a, _ = (x * 1).split(2)
    with pytest.raises(RuntimeError, match="returns multiple views"):
        a.mul_(2)
    with gs.no_grad():
        a.mul_(2)


def test_view_made_under_no_grad():
    x = leaf([1.0, 2.0])
    y = x * 1
    with gs.no_grad():
        v = y.view(2, 1)
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        v.mul_(2)


def test_inplace_keeps_shape_and_category():
    x = gs.ones(3)
    with pytest.raises(RuntimeError, match=r"output with shape \[3\] doesn't match the broadcast shape \[2, 3\]"):
        x.add_(gs.ones(2, 3))
    i = gs.tensor([1, 2])
    with pytest.raises(RuntimeError, match="can't be cast"):
        i.add_(0.5)
    assert i.tolist() == [1, 2] and i._version == 0


def test_inplace_self_and_result_are_saved_right():
    x = leaf([0.5, 2.0])
    y = x * 1
    y.mul_(x)
    y.exp_()
    y.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.array([0.5, 2.0]) * np.exp(np.array([0.5, 2.0]) ** 2))
    w = leaf([0.5, 2.0])
    z = w * 1
    z.sin_()
    z.pow_(3)
    z.sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), 3 * np.sin([0.5, 2.0]) ** 2 * np.cos([0.5, 2.0]))


def test_detach_inplace():
    x = leaf([1.0])
    y = x * 2
    y.detach_()
    assert y.is_leaf and not y.requires_grad
    with pytest.raises(RuntimeError, match="Can't detach views"):
        (x * 2).view(1).detach_()


def test_read_only_array_is_not_written():
    array = np.ones(3)
    array.flags.writeable = False
    t = gs.tensor(1.0).expand(3)
    with pytest.raises((RuntimeError, ValueError)):
        t.add_(1)


def test_out_form():
    a, b = gs.ones(3), gs.full((3,), 2.0)
    out = gs.empty(3)
    assert gs.mul(a, b, out=out) is out
    assert out.tolist() == [2, 2, 2] and out._version == 1
    empty = gs.empty(0)
    gs.add(a, b, out=empty)
    assert empty.tolist() == [3, 3, 3]
    with pytest.warns(UserWarning, match=r"resized since it had shape \[2\], .* required output shape \[3\]"):
        assert gs.mul(a, b, out=gs.empty(2)).tolist() == [2, 2, 2]
    for shared in (gs.empty(4)[:2], gs.from_numpy(np.empty(2, "float32"))):
        with pytest.raises(RuntimeError, match="out has shape.*that of other tensors"):
            gs.mul(a, b, out=shared)
    with pytest.raises(RuntimeError, match="out=.*automatic differentiation"):
        gs.mul(leaf([1.0]), leaf([1.0]), out=leaf([1.0]) * 1)


def test_inplace_on_a_view_of_an_op_that_saves_its_result():
    x = leaf([0.3, 0.5, 0.7])

    def f(x):
        y = x * 1
        y[1:].exp_()
        return (y * y).sum()

    (first,) = gs.autograd.grad(f(x), x, create_graph=True)
    (second,) = gs.autograd.grad(first.sum(), x)
    values = np.array([0.3, 0.5, 0.7])
    np.testing.assert_allclose(first.detach().numpy()[1:], 2 * np.exp(2 * values[1:]))
    np.testing.assert_allclose(second.numpy()[1:], 4 * np.exp(2 * values[1:]))
    np.testing.assert_allclose([first[0].item(), second[0].item()], [0.6, 2.0])


def test_values_may_not_have_more_dimensions_than_their_place():
    x = gs.zeros(3)
    with pytest.raises(RuntimeError, match="do not broadcast"):
        x.copy_(gs.ones(1, 1, 3))
    assert x.tolist() == [0, 0, 0]


def test_a_cast_to_integers_has_no_history():
    assert not leaf([1.5]).to(gs.int64).requires_grad


def test_a_tensor_that_repeats_elements_takes_one_value_only():
    t = gs.tensor(1.0).expand(3)
    for write in (lambda: t.exp_(), lambda: t.copy_(gs.ones(3)), lambda: t.add_(gs.ones(3)), lambda: t.div_(2)):
        with pytest.raises(RuntimeError, match="more than one element"):
            write()
    assert t.tolist() == [1, 1, 1] and t._version == 0
    t.fill_(4)
    t[0] = 5.0
    assert t.tolist() == [5, 5, 5]


def test_what_is_empty_repeats_nothing():
    """Its strides are zero, but there is no place that is written twice."""
    for write in (lambda t: t.add_(gs.ones(2, 1)), lambda t: t.copy_(gs.ones(2, 1)), lambda t: t.sin_()):
        empty = gs.ones(2, 1) + gs.zeros(2, 0)
        write(empty)
        assert empty.shape == (2, 0) and empty._version == 1


def test_storage_offset():
    x = gs.zeros(3, 4)
    assert x.storage_offset() == 0
    assert x[1, 2:].storage_offset() == 6
    assert x[1, 2:].view(2, 1).storage_offset() == 6


# ---- views whose base is written


def no_grad_view(base):
    with gs.no_grad():
        return base[0]


def inference_view(base):
    with gs.inference_mode():
        return base[0]


def view_of_no_grad_view(base):
    return no_grad_view(base).view(-1)


def no_grad_view_of_view(base):
    view = base[0]
    with gs.no_grad():
        return view.view(-1)


def write_base(base, view):
    base.mul_(2.0)


def write_base_unrecorded(base, view):
    with gs.no_grad():
        base.mul_(2.0)


def write_sibling(base, view):
    base[1].mul_(2.0)


def write_view_unrecorded(base, view):
    with gs.no_grad():
        view.mul_(2.0)


WRITES = [write_base, write_base_unrecorded, write_sibling, write_view_unrecorded]


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            no_grad_view,
            "^A view was created in no_grad mode and its base or another view of its base has been modified",
        ),
        (inference_view, "^A view was created in inference mode and its base or another view .* in normal mode"),
        (
            view_of_no_grad_view,
            "^Output 0 of ViewBackward0 is a view of a view which was created in no_grad mode and its",
        ),
        (no_grad_view_of_view, "^A view was created in no_grad mode and its base .* with grad mode enabled"),
    ],
)
def test_a_view_made_unrecorded_has_no_history_after_a_write(make, message, write):
    base = leaf([[1.0, 2.0], [3.0, 4.0]]) * 1
    view = make(base)
    write(base, view)
    for use in (
        lambda: view.grad_fn,
        lambda: view.is_leaf,
        lambda: view * 3,
        lambda: view.view(-1),
        lambda: view.sum().backward(),
    ):
        with pytest.raises(RuntimeError, match=message):
            use()
    assert view.requires_grad
    assert "grad_fn=<Invalid>" in repr(view)
    with gs.no_grad():
        assert not (view * 3).requires_grad
    assert not view.detach().requires_grad


def test_a_view_made_unrecorded_of_what_never_requires_grad():
    base = gs.ones(2, 2)
    view = no_grad_view(base)
    base.mul_(2.0)
    assert view.grad_fn is None
    base.mul_(leaf(2.0))
    with pytest.raises(RuntimeError, match="created in no_grad mode"):
        view * 3


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("make", [lambda base: base.unbind()[0], lambda base: base.split(1)[0].view(-1)])
def test_the_history_of_one_of_several_views_is_renewed(make, write):
    """PyTorch refuses; the geometry of the view says what its history is."""
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    base = x * 1
    view = make(base)
    write(base, view)
    (gradient,) = gs.autograd.grad((view * 3).sum(), x)
    np.testing.assert_array_equal(gradient.numpy(), [[6.0, 6.0] if write is write_base else [3.0, 3.0], [0.0, 0.0]])


def test_the_restriction_is_told_before_that_of_leaves():
    x = leaf([[1.0, 2.0]])
    with pytest.raises(RuntimeError, match="is the output of a function that returns multiple views"):
        x.unbind()[0].mul_(2.0)
    with pytest.raises(RuntimeError, match="created in no_grad mode and is being modified inplace by mul_"):
        no_grad_view(x).mul_(2.0)


def test_what_a_write_to_a_view_saved_is_freed_with_the_graph():
    x, factor = gs.ones(2, 3, requires_grad=True), gs.full((3,), 5.0, requires_grad=True)
    y = x * 1
    y[0].mul_(factor)
    inner = y.grad_fn._function
    y.sum().backward(retain_graph=True)
    assert gs.equal(inner._saved_other, factor)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="freed"):
        _ = inner._saved_other
    assert factor.grad.tolist() == [2.0] * 3
