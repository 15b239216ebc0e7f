"""Forward mode: levels, dual numbers, views and in-place writes, and how it mixes with reverse mode."""

import gc
import threading
import weakref

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import forward_ad, grad
from gradsmith.autograd.forward_ad import (
    dual_level,
    enter_dual_level,
    exit_dual_level,
    make_dual,
    set_fwd_grad_enabled,
    unpack_dual,
)

X = np.array([0.3, -0.7, 1.1])
T = np.array([1.0, 0.5, -2.0])


def dual(x=X, t=T, **level):
    return make_dual(gs.tensor(x), gs.tensor(t), **level)


def tangent(value, **level):
    found = unpack_dual(value, **level).tangent
    return None if found is None else found.detach().numpy()


# ---- levels


def test_tangents_end_with_their_level():
    with dual_level():
        x = dual()
        y = x * 2
        np.testing.assert_array_equal(tangent(y), 2 * T)
    assert unpack_dual(y) == (y, None)
    with dual_level():
        assert tangent(x) is None
        assert tangent(y) is None


def test_the_tensor_itself_gets_no_tangent():
    with dual_level():
        x = gs.tensor(X)
        make_dual(x, gs.tensor(T))
        assert tangent(x) is None
        assert tangent(x * 2) is None


def test_a_level_may_be_opened_and_closed_by_hand():
    level = enter_dual_level()
    assert level == 0
    inner = enter_dual_level()
    assert inner == 1
    with pytest.raises(RuntimeError, match="last one that was entered is 1"):
        exit_dual_level(level=0)
    exit_dual_level(level=1)
    exit_dual_level()
    with pytest.raises(RuntimeError, match="last one that was entered is none"):
        exit_dual_level()


def test_an_exception_closes_the_level():
    with pytest.raises(ZeroDivisionError), dual_level():
        raise ZeroDivisionError
    with dual_level() as level:
        assert level == 0


def test_the_level_decorates_functions():
    @dual_level()
    def derivative():
        return tangent(dual().sin())

    np.testing.assert_allclose(derivative(), np.cos(X) * T)
    np.testing.assert_allclose(derivative(), np.cos(X) * T)


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_any_number_of_levels(depth):
    """The derivative of exp(2x) of order `depth`, each level along one."""
    x = gs.tensor(X)
    for _ in range(depth):
        enter_dual_level()
        x = make_dual(x, gs.ones(3, dtype=gs.float64))
    y = (x * 2).exp()
    for level in reversed(range(depth)):
        y = unpack_dual(y, level=level).tangent
        exit_dual_level(level=level)
        y = y if y is None else y + 0
    # tangents of outer levels stay with the tangent of an inner one until their own level ends
    np.testing.assert_allclose(y.numpy(), 2**depth * np.exp(2 * X), rtol=1e-12)


def test_perturbations_are_not_confused():
    """d/dx (x * d/dy (x + y)) = 1: the inner derivative must not see the outer direction."""
    one = gs.tensor(1.0, dtype=gs.float64)
    with dual_level() as outer:
        x = make_dual(gs.tensor(3.0, dtype=gs.float64), one)
        with dual_level():
            y = make_dual(gs.tensor(5.0, dtype=gs.float64), one)
            inner = unpack_dual(x + y).tangent
        result = x * inner
        assert tangent(result, level=outer) == 1.0


def test_a_primal_keeps_the_tangents_of_outer_levels():
    with dual_level() as outer:
        x = dual()
        with dual_level() as inner:
            y = make_dual(x, gs.tensor(T)) ** 2
            primal = unpack_dual(y, level=inner).primal
            assert tangent(primal, level=inner) is None
            np.testing.assert_allclose(tangent(primal, level=outer), 2 * X * T)


def test_threads_have_levels_of_their_own():
    found = {}

    def run(name):
        with dual_level() as level:
            found[name] = (level, tangent(dual().exp()))

    with dual_level():
        threads = [threading.Thread(target=run, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for level, value in found.values():
        assert level == 0
        np.testing.assert_allclose(value, np.exp(X) * T)


def test_a_tensor_may_outlive_its_level_and_its_thread():
    """The tangent of another thread's level is seen, as long as that level is open."""
    with dual_level():
        x = dual()
        found = []
        thread = threading.Thread(target=lambda: found.append(x.sin()))
        thread.start()
        thread.join()
        np.testing.assert_allclose(tangent(found[0]), np.cos(X) * T)


# ---- errors


def test_outside_a_level():
    with pytest.raises(RuntimeError, match="outside a level"):
        dual()


@pytest.mark.parametrize(
    ("x", "t", "error", "message"),
    [
        (X, T[:2], RuntimeError, r"tangent of shape \[2\] for a primal of shape \[3\]"),
        (np.arange(3), np.arange(3), ValueError, "expected tensor to be floating point or complex, got dtype int64"),
        (X, np.arange(3), ValueError, "expected tangent to be floating point or complex"),
    ],
)
def test_what_is_no_dual_number(x, t, error, message):
    with dual_level(), pytest.raises(error, match=message):
        dual(x, t)


def test_what_is_no_tensor():
    with dual_level():
        with pytest.raises(TypeError, match="tensor must be a Tensor, got ndarray"):
            make_dual(X, gs.tensor(T))
        with pytest.raises(TypeError, match="tangent must be a Tensor, got float"):
            make_dual(gs.tensor(X), 1.0)
        with pytest.raises(TypeError, match="expected a Tensor, got float"):
            unpack_dual(1.0)


def test_a_dual_number_has_one_tangent_for_a_level():
    with dual_level():
        x = dual()
        with pytest.raises(RuntimeError, match="already has a forward gradient at this level"):
            make_dual(x, gs.tensor(T))


def test_a_tangent_of_another_layout_is_copied():
    """It has the strides of its tensor, so that a view of the one is a view of the other. One that fits is taken."""
    value = gs.tensor(np.arange(6.0).reshape(2, 3)).t()
    direction = gs.tensor(np.arange(6.0).reshape(3, 2))
    with dual_level():
        tangent = unpack_dual(make_dual(value, direction)).tangent
        assert tangent.tolist() == direction.tolist()
        assert tangent.stride() == value.stride() != direction.stride()
        assert not np.shares_memory(tangent.numpy(), direction.numpy())
        fitting = unpack_dual(make_dual(value.contiguous(), direction)).tangent
        assert np.shares_memory(fitting.numpy(), direction.numpy())


def test_a_level_that_is_not_open():
    with dual_level(), pytest.raises(RuntimeError, match="level 3 is not open; open are 0 to 0"):
        dual(level=3)


def test_out_is_refused():
    with dual_level():
        with pytest.raises(NotImplementedError, match=r"^mul.*out=.*, but one of the arguments has a tangent. Use the"):
            gs.mul(dual(), 2.0, out=gs.zeros(3, dtype=gs.float64))
        with pytest.raises(NotImplementedError, match=r"^mul.*out=.*, but the out tensor has a tangent. Use the form"):
            gs.mul(gs.tensor(X), 2.0, out=dual())


# ---- modes


def test_no_grad_does_not_stop_tangents():
    with dual_level(), gs.no_grad():
        np.testing.assert_array_equal(tangent(dual() * 3), 3 * T)


def test_tangents_can_be_switched_off():
    with dual_level():
        x = dual()
        with set_fwd_grad_enabled(False):
            y = x * 2
        assert tangent(y) is None
        np.testing.assert_array_equal(tangent(x * 2), 2 * T)


def test_detach_drops_the_tangent():
    with dual_level():
        assert tangent(dual().detach()) is None


def test_a_result_that_has_no_derivative_has_no_tangent():
    with dual_level():
        x = dual()
        assert tangent(x > 0) is None
        assert tangent(x.argmax()) is None
        values, indices = x.max(0)
        assert tangent(values) == -2.0
        assert tangent(indices) is None


def test_broadcasting_and_dtype():
    with dual_level():
        x = make_dual(gs.tensor(X.astype("float32")), gs.tensor(T.astype("float32")))
        y = x + gs.ones((2, 1), dtype=gs.float64)
        found = unpack_dual(y).tangent
        assert (found.shape, found.dtype) == ((2, 3), np.float64)
        np.testing.assert_array_equal(found.numpy(), [T.astype("float32")] * 2)


# ---- views and in-place writes


def test_the_tangent_of_a_view_is_a_view_of_the_tangent():
    with dual_level():
        base = dual() + 0
        view = base[1:]
        np.testing.assert_array_equal(tangent(view), T[1:])
        base.mul_(2)
        np.testing.assert_array_equal(tangent(view), 2 * T[1:])
        view.mul_(5)
        np.testing.assert_array_equal(tangent(base), [2 * T[0], *(10 * T[1:])])


def test_a_base_gets_a_tangent_through_a_view():
    with dual_level():
        base = gs.zeros(3, dtype=gs.float64)
        before, other = base[:2], base.view((3, 1))
        before.copy_(dual()[:2])
        np.testing.assert_array_equal(tangent(base), [*T[:2], 0])
        np.testing.assert_array_equal(tangent(other), [[T[0]], [T[1]], [0]])
        assert tangent(gs.zeros(2)) is None


def test_a_view_gets_a_tangent_through_its_base():
    with dual_level():
        base = gs.ones(3, dtype=gs.float64)
        view = base[::2]
        base.mul_(dual())
        np.testing.assert_array_equal(tangent(view), T[::2])


def test_views_of_every_kind():
    with dual_level():
        x = make_dual(gs.tensor(np.arange(6.0).reshape(2, 3)), gs.tensor(np.arange(6.0).reshape(2, 3) * 10)) + 0
        views = [x.t(), x[:, 1], x.reshape(6), x.unsqueeze(0), x.flip(0), x.expand((4, 2, 3))]
        for view in views:
            np.testing.assert_array_equal(tangent(view), 10 * view.numpy())
        np.testing.assert_array_equal(tangent(x.unbind(0)[1]), 10 * x.numpy()[1])
        np.testing.assert_array_equal(tangent(x.split(2, 1)[1]), 10 * x.numpy()[:, 2:])


def test_parts_of_complex_numbers():
    z, t = X + 1j * T, T - 2j * X
    with dual_level():
        x = dual(z, t) + 0
        np.testing.assert_array_equal(tangent(x.real), t.real)
        np.testing.assert_array_equal(tangent(x.imag), t.imag)
        x.real.mul_(3)
        np.testing.assert_array_equal(tangent(x), 3 * t.real + 1j * t.imag)
        np.testing.assert_allclose(tangent(x.abs()), (np.conj(x.numpy()) * tangent(x)).real / np.abs(x.numpy()))


def test_a_result_does_not_share_the_memory_of_a_tangent():
    """x + 1 has the tangent of x: a write to one must not change the other."""
    with dual_level():
        x = dual()
        y = x + 1
        y.mul_(7)
        np.testing.assert_array_equal(tangent(x), T)
        np.testing.assert_array_equal(tangent(y), 7 * T)


def test_in_place_with_itself():
    with dual_level():
        x = dual() + 0
        x.mul_(x)
        np.testing.assert_allclose(tangent(x), 2 * X * T)
        y = dual() + 0
        y[1:].mul_(y[:-1])
        np.testing.assert_allclose(tangent(y)[1:], X[1:] * T[:-1] + T[1:] * X[:-1])


def test_what_is_overwritten_by_a_constant_has_the_tangent_zero():
    with dual_level():
        x = dual() + 0
        x[0] = 4.0
        np.testing.assert_array_equal(tangent(x), [0, *T[1:]])
        x.zero_()
        np.testing.assert_array_equal(tangent(x), [0, 0, 0])
        y = dual() + 0
        y.gt_(0)
        np.testing.assert_array_equal(tangent(y), [0, 0, 0])


def test_in_place_at_two_levels():
    with dual_level() as outer:
        a = dual()
        with dual_level() as inner:
            x = make_dual(a, gs.tensor(T)) + 0
            x.pow_(3)
            first = unpack_dual(x, level=inner).tangent
            np.testing.assert_allclose(tangent(x, level=outer), 3 * X**2 * T)
            np.testing.assert_allclose(first.numpy(), 3 * X**2 * T)
            np.testing.assert_allclose(tangent(first, level=outer), 6 * X * T * T)


# ---- with reverse mode


def test_the_gradient_of_a_tangent():
    x = gs.tensor(X, requires_grad=True)
    t = gs.tensor(T, requires_grad=True)
    with dual_level():
        y = unpack_dual(make_dual(x, t).tanh()).tangent
        by_x, by_t = grad(y.sum(), [x, t])
    slope = 1 - np.tanh(X) ** 2
    np.testing.assert_allclose(by_x.numpy(), -2 * np.tanh(X) * slope * T)
    np.testing.assert_allclose(by_t.numpy(), slope)


def test_the_tangent_of_a_gradient():
    """Hessian-vector product; the values that the nodes kept have tangents, also of tensors that are gone."""
    with dual_level():
        x = make_dual(gs.tensor(X, requires_grad=True), gs.tensor(T))
        y = (x.tanh().exp() * x).sum()  # tanh's and exp's results are held by nodes alone
        gc.collect()
        (g,) = grad(y, x)
        found = tangent(g)

    def gradient(at):
        leaf = gs.tensor(at, requires_grad=True)
        (leaf.tanh().exp() * leaf).sum().backward()
        return leaf.grad.numpy()

    step = 1e-5
    np.testing.assert_allclose(found, (gradient(X + step * T) - gradient(X - step * T)) / (2 * step), rtol=1e-8)


def test_a_gradient_that_is_accumulated_has_a_tangent():
    with dual_level():
        x = gs.tensor(X, requires_grad=True)
        d = make_dual(gs.tensor(X), gs.tensor(T))
        (x * d).sum().backward()
        (x * d * 2).sum().backward()
        np.testing.assert_allclose(tangent(x.grad), 3 * T)
        np.testing.assert_allclose(x.grad.numpy(), 3 * X)


def test_gradients_that_meet_keep_their_tangents():
    with dual_level():
        x = make_dual(gs.tensor(X, requires_grad=True), gs.tensor(T))
        y = x * 1
        (g,) = grad((y * y + y.sin() + y[:2].sum()).sum(), y)
        np.testing.assert_allclose(tangent(g), (2 - np.sin(X)) * T)


def test_a_tangent_grows_with_its_result():
    """Into more dimensions and into none, though the number of elements stays or falls."""
    with dual_level():
        x = make_dual(gs.tensor(np.ones((2, 3))), gs.tensor(np.full((2, 3), 5.0)))
        assert tangent(x + gs.tensor(np.ones((1, 2, 3)))).tolist() == [[[5.0] * 3] * 2]
        assert tangent(x[:, :1] + gs.tensor(np.ones((2, 0)))).shape == (2, 0)


def test_a_dual_of_a_tensor_that_requires_grad_may_not_be_written():
    x = gs.tensor(X, requires_grad=True)
    with dual_level():
        for of in (x * 1, x):
            d = make_dual(of, gs.tensor(T))
            for written in (d, d[:1]):
                with pytest.raises(RuntimeError, match=r"^mul_: .* shares its memory"):
                    written.mul_(2)
                with pytest.raises(RuntimeError, match=r"^unsqueeze_: .* shares its memory"):
                    written.unsqueeze_(0)  # which writes nothing
                assert d.tolist() == X.tolist() and written.ndim == d.ndim


def test_a_tensor_gets_no_other_history_beside_a_dual_of_it():
    """The dual number would keep the old one, and its gradient would be wrong."""
    x = gs.tensor(X, requires_grad=True)
    with dual_level():
        for of, factor in ((x * 1, 2), (gs.tensor(X), x)):
            d = make_dual(of, gs.tensor(T))
            for written in (of, of[:1]):
                with pytest.raises(RuntimeError, match="shares its memory"):
                    written.mul_(factor)
            assert of.tolist() == d.tolist() == X.tolist()
            del d
            of.mul_(factor).sum().backward()
    assert x.grad.tolist() == (2 + X).tolist()


def test_a_dual_gets_no_other_history_beside_what_it_was_made_of():
    """The tensor would be changed and have no history for it; PyTorch gives it one."""
    x = gs.tensor(X, requires_grad=True)
    with dual_level():
        of = gs.tensor(X)
        for held in (of, of[:1]):
            d = make_dual(held, gs.tensor(T[: len(held)]))
            for written in (d, d[:1]):
                with pytest.raises(RuntimeError, match="shares its memory"):
                    written.mul_(x[: len(written)])
            assert held.tolist() == d.tolist() == X[: len(held)].tolist()


def test_a_dual_that_alone_shows_its_memory_may_get_another_history():
    x = gs.tensor(X, requires_grad=True)
    with dual_level():
        dual = make_dual(gs.tensor(X), gs.tensor(T))
        primal = unpack_dual(make_dual(gs.tensor(X), gs.tensor(T))).primal
        for d in (dual, primal):
            d *= x
            d.sum().backward()
    assert x.grad.tolist() == (2 * X).tolist()


def test_the_tangent_of_nothing_is_the_given_one():
    with dual_level():
        tangent = gs.zeros(0, 0, 2, requires_grad=True)
        dual = make_dual(gs.from_numpy(np.zeros(3, np.float32)[3:].reshape(0, 0, 2)), tangent)
        assert unpack_dual(dual).tangent.is_leaf


def test_a_write_to_a_dual_is_a_change_of_the_tensor():
    x = gs.tensor(X, requires_grad=True)
    y = x * 1
    z = (y * y).sum()
    with dual_level(), gs.no_grad():
        make_dual(y, gs.tensor(T)).mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.backward()


WRITES = {
    "number": (lambda x, y: x.fill_(3), [0, 0, 0], [0, 0, 0]),
    "copy": (lambda x, y: x.copy_(y), [7, 8, 9], [0, 0, 0]),
    "index": (lambda x, y: x.__setitem__((), y), [7, 8, 9], [0, 0, 0]),
    "element": (lambda x, y: x.__setitem__(1, y[1]), [4, 8, 6], [1, 0, 1]),
    "number through a view": (lambda x, y: x.__setitem__(0, 5.0), [0, 5, 6], [0, 1, 1]),
    "view": (lambda x, y: x.view(3).copy_(y), [7, 8, 9], [0, 0, 0]),
    "part": (lambda x, y: x[:2].mul_(y[:2]), [4 + 7, 5 + 2 * 8, 6], [1, 1, 1]),
    "list": (lambda x, y: x.__setitem__([0, 2], y[:2]), [7, 5, 8], [0, 1, 0]),
    "sum": (lambda x, y: x.add_(y), [11, 13, 15], [1, 1, 1]),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("kind", ["leaf", "view of a leaf", "inference", "read-only"])
def test_a_tangent_that_may_not_be_written_is_replaced(name, kind):
    """In PyTorch the write fails, after it has changed the value."""
    write, expected, gradient = WRITES[name]
    given = leaf = gs.tensor([4.0, 5.0, 6.0], requires_grad="leaf" in kind)
    if kind == "view of a leaf":
        given = leaf.view(3)
    elif kind == "inference":
        with gs.inference_mode():
            given = gs.tensor([4.0, 5.0, 6.0])
    elif kind == "read-only":
        frozen = np.array([4, 5, 6], np.float32)
        frozen.flags.writeable = False
        given = gs.from_numpy(frozen)
    with dual_level():
        x = make_dual(gs.tensor([1.0, 2.0, 3.0]), given)
        write(x, make_dual(gs.ones(3), gs.tensor([7.0, 8.0, 9.0])))
        found = unpack_dual(x).tangent
        assert found.tolist() == expected
        assert given.tolist() == [4, 5, 6]
        if kind == "leaf" and any(gradient):
            found.sum().backward()
            assert leaf.grad.tolist() == gradient


def test_a_tangent_is_written_while_nothing_is_recorded():
    """As in PyTorch."""
    t = gs.tensor([4.0, 5.0, 6.0], requires_grad=True)
    with dual_level():
        x = make_dual(gs.ones(3), t)
        with gs.no_grad():
            x[0] = 5.0
            x.mul_(2)
        assert unpack_dual(x).tangent is t and t.tolist() == [0, 10, 12] and t._version == 2


# ---- memory


def test_a_level_lets_go_of_its_tangents():
    alive = []
    with dual_level():
        x = dual()
        y = x.exp() * x
        t = unpack_dual(y).tangent
        alive.append(weakref.ref(t))
        del t
        assert alive[0]() is not None
    assert alive[0]() is None


def test_tangents_die_with_their_tensors():
    with dual_level():
        x = dual()
        y = x.exp()
        t = weakref.ref(unpack_dual(y).tangent)
        del y
        assert t() is None


def test_private_names_of_forward_mode():
    assert forward_ad._current_level == -1
    with dual_level() as outer, dual_level() as inner:
        assert (outer, inner, forward_ad._current_level) == (0, 1, 1)
    assert forward_ad._current_level == -1
    with pytest.raises(AttributeError, match="_current_depth"):
        _ = forward_ad._current_depth


def test_forward_mode_is_off_while_it_is_disabled():
    with dual_level():
        x = make_dual(gs.ones(2), gs.ones(2))
        with forward_ad._set_fwd_grad_enabled(False):
            y, made_inside = x * 2, make_dual(gs.ones(2), gs.ones(2))
            assert not forward_ad._is_fwd_grad_enabled()
            assert all(unpack_dual(t).tangent is None for t in (x, y, made_inside))
        assert forward_ad._is_fwd_grad_enabled()
        assert unpack_dual(y).tangent is None
        assert unpack_dual(x).tangent.tolist() == unpack_dual(made_inside).tangent.tolist() == [1, 1]


def test_a_tangent_is_taken_where_it_lies_as_its_tensor_does():
    """PyTorch's rule: the same strides, at the same place of as much memory; else the tangent is copied."""
    rows, start, end = (lambda: gs.ones(3)), (lambda: gs.ones(4)[:3]), (lambda: gs.ones(4)[1:])
    with dual_level():
        for primal, tangent, taken in [
            (rows, rows, True),
            (start, start, True),
            (end, end, True),
            (rows, start, False),
            (rows, end, False),
            (end, rows, False),
            (start, end, False),
        ]:
            given = tangent()
            found = unpack_dual(make_dual(primal(), given)).tangent
            assert (found is given) == taken
            found.mul_(2)
            assert given.tolist() == ([2, 2, 2] if taken else [1, 1, 1])


def test_a_tangent_is_not_changed_through_a_tensor_that_lies_elsewhere():
    tangent = gs.ones(4)[:3]
    with dual_level():
        dual = make_dual(gs.ones(4)[1:], tangent).mul_(3)
        assert unpack_dual(dual).tangent.tolist() == [3, 3, 3]
    assert tangent.tolist() == [1, 1, 1]


def test_tangent_of_another_dtype():
    with dual_level():
        dual = make_dual(gs.ones(2, dtype=gs.float64), gs.ones(2))
        assert unpack_dual(dual * 2).tangent.dtype == gs.float64
        with pytest.raises(RuntimeError, match="take its real part"):
            make_dual(gs.ones(2), gs.ones(2, dtype=gs.complex64))


@pytest.mark.parametrize("op", [gs.unique, gs.unique_consecutive, lambda x: gs.unique(x, return_inverse=True)])
def test_a_rule_that_is_missing_says_so_beside_results_that_are_integers(op):
    with dual_level(), pytest.raises(NotImplementedError, match="the derivative for 'unique.*: self'"):
        op(make_dual(gs.tensor([1.0, 2.0, 1.0]), gs.ones(3)))
