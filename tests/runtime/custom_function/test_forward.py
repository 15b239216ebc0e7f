"""Forward mode through custom Functions: `jvp`."""

import numpy as np
import pytest

import gradsmith as gs
from gradsmith.autograd import Function, forward_ad, grad


def double(values, requires_grad=False):
    return gs.tensor(np.asarray(values, np.float64), requires_grad=requires_grad)


def make(forward, jvp=None, backward=None, **members):
    functions = {"forward": forward, "jvp": jvp, "backward": backward} | members
    return type("Custom", (Function,), {k: staticmethod(v) for k, v in functions.items() if v})


@pytest.fixture
def level():
    with forward_ad.dual_level():
        yield


def dual(values, tangent, requires_grad=False):
    return forward_ad.make_dual(double(values, requires_grad), double(tangent))


def tangent_of(t):
    return forward_ad.unpack_dual(t).tangent


class Cubic(Function):
    """x**3 with NumPy in both directions."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)
        return gs.from_numpy(x.numpy(force=True) ** 3)

    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return 3 * x * x * tangent

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x * x * g


def test_value_and_tangent(level):
    y = Cubic.apply(dual([1.0, 2.0], [1.0, 10.0]))
    assert y.tolist() == [1.0, 8.0] and tangent_of(y).tolist() == [3.0, 120.0]


def test_forward_sees_no_tangents(level):
    seen = []
    custom = make(lambda ctx, x: (seen.append(tangent_of(x * 2)), x * 2)[1], lambda ctx, t: t * 7)
    y = custom.apply(dual([1.0], [1.0]))
    assert seen == [None] and tangent_of(y).tolist() == [7.0]


def test_setup_context(level):
    def setup_context(ctx, inputs, output):
        ctx.save_for_forward(*inputs)
        ctx.factor = 3.0

    custom = make(lambda x: x * x, lambda ctx, t: t * ctx.saved_tensors[0] * ctx.factor, setup_context=setup_context)
    assert tangent_of(custom.apply(dual([5.0], [2.0]))).tolist() == [30.0]


def test_other_inputs_get_zeros_or_none(level):
    seen = []

    def forward(ctx, x, y, index, n, materialize):
        ctx.set_materialize_grads(materialize)
        return x + y

    custom = make(forward, lambda ctx, *tangents: (seen.append(tangents), tangents[0])[1])
    for materialize in (True, False):
        custom.apply(dual([1.0], [2.0]), double([1.0]), gs.arange(1), 3, materialize)
    first, second = seen
    assert [t if t is None else t.tolist() for t in first] == [[2.0], [0.0], None, None, None]
    assert [t if t is None else t.tolist() for t in second] == [[2.0], None, None, None, None]


def test_none_is_a_zero_tangent(level):
    y, z = make(lambda ctx, x: (x * 2, x * 3), lambda ctx, t: (None, t)).apply(dual([1.0], [2.0]))
    assert tangent_of(y) is None and tangent_of(z).tolist() == [2.0]


def test_without_tangents_jvp_is_not_called(level):
    assert make(lambda ctx, x: x * 2, pytest.fail).apply(double([1.0])).tolist() == [2.0]


def test_jvp_is_needed(level):
    with pytest.raises(NotImplementedError, match="must implement the jvp function"):
        make(lambda ctx, x: x * 2).apply(dual([1.0], [1.0]))


@pytest.mark.parametrize(
    ("jvp", "message"),
    [
        (lambda ctx, t: (t, t, t), r"invalid number of forward gradients \(expected 2 but got 3\)"),
        (lambda ctx, t: (3, None), r"expected Tensor or None \(got int\) for grad output 0"),
        (lambda ctx, t: (t[:1], None), r"size \[2\] while the given forward gradient is of size \[1\]"),
        (lambda ctx, t: (t, t), "gradient at position 1, but the corresponding forward output is not a differentiable"),
    ],
)
def test_wrong_tangents(jvp, message, level):
    with pytest.raises(RuntimeError, match=message):
        make(lambda ctx, x: (x * 2, x.max(0)[1]), jvp).apply(dual([1.0, 2.0], [1.0, 1.0]))


def test_outputs_marked_non_differentiable_have_no_tangent(level):
    def forward(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        return y

    assert tangent_of(make(forward, lambda ctx, t: None).apply(dual([1.0], [1.0]))) is None
    with pytest.raises(RuntimeError, match="not a differentiable Tensor"):
        make(forward, lambda ctx, t: t).apply(dual([1.0], [1.0]))


def test_a_written_input_and_its_written_tangent(level):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    x = dual([1.0], [5.0])
    assert make(forward, lambda ctx, t: t.mul_(2)).apply(x) is x
    assert x.tolist() == [2.0] and tangent_of(x).tolist() == [10.0]
    with pytest.raises(RuntimeError, match="not returning the forward mode gradients as-is"):
        make(forward, lambda ctx, t: t * 2).apply(dual([1.0], [5.0]))


def test_a_written_input_that_had_no_tangent(level):
    def forward(ctx, x, y):
        ctx.mark_dirty(x)
        return x.add_(y)

    x = double([1.0])
    make(forward, lambda ctx, t, u: t.add_(u)).apply(x, dual([1.0], [5.0]))
    assert tangent_of(x).tolist() == [5.0]


def test_a_written_view(level):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    x = dual([1.0, 2.0], [5.0, 7.0])
    make(forward, lambda ctx, t: t.mul_(2)).apply(x[:1])
    assert x.tolist() == [2.0, 2.0] and tangent_of(x).tolist() == [10.0, 7.0]


def test_views(level):
    x = dual([1.0, 2.0], [5.0, 7.0])
    y = make(lambda ctx, x: x[:1], lambda ctx, t: t[:1]).apply(x)
    assert y._is_view() and tangent_of(y).tolist() == [5.0]
    assert tangent_of(make(lambda ctx, x: x, lambda ctx, t: t.view_as(t)).apply(x)).tolist() == [5.0, 7.0]
    other = make(lambda ctx, x: x, lambda ctx, t: (t * 3).view_as(t)).apply(x)
    assert tangent_of(other).tolist() == [15.0, 21.0] and tangent_of(x).tolist() == [5.0, 7.0]
    assert tangent_of(other * 2).tolist() == [30.0, 42.0]
    zero = make(lambda ctx, x: x[:1], lambda ctx, t: None).apply(x)
    assert tangent_of(zero).tolist() == [0.0]
    with pytest.raises(RuntimeError, match="is returning a view .* but the jvp is not returning a view"):
        make(lambda ctx, x: x[:1], lambda ctx, t: t[:1].clone()).apply(x)


def test_forward_over_reverse_and_reverse_over_forward(level):
    x = double([2.0], requires_grad=True)
    y = Cubic.apply(forward_ad.make_dual(x, double([1.0])))
    (first,) = grad(y, x, create_graph=True)
    assert first.item() == 12.0 and tangent_of(first).item() == 12.0
    assert grad(tangent_of(y), x)[0].item() == 12.0


def test_levels_inside_levels():
    with forward_ad.dual_level():
        x = dual([2.0], [1.0])
        with forward_ad.dual_level():
            y = Cubic.apply(forward_ad.make_dual(x, double([1.0])))
            inner = tangent_of(y)
            assert inner.item() == 12.0
        assert tangent_of(inner).item() == 12.0 and tangent_of(y).item() == 12.0


def slope(function, x):
    """The derivative of a function at x, by a level of its own."""
    with forward_ad.dual_level():
        return tangent_of(function(forward_ad.make_dual(x, gs.ones_like(x))))


class CubicBySlopes(Cubic):
    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        return tangent * slope(lambda y: y**3, x)


class CubicBySwitches(Cubic):
    @staticmethod
    def jvp(ctx, tangent):
        (x,) = ctx.saved_tensors
        with forward_ad.set_fwd_grad_enabled(False):
            assert slope(lambda y: y**3, x) is None
            with forward_ad.set_fwd_grad_enabled(True):
                return tangent * slope(lambda y: y**3, x)


@pytest.mark.parametrize("function", [Cubic, CubicBySlopes, CubicBySwitches])
def test_a_level_inside_of_a_rule(function):
    """It carries tangents, and those of the rule's own level are not seen."""
    first = lambda x: slope(function.apply, x)  # noqa: E731
    second = lambda x: slope(first, x)  # noqa: E731
    x = double([2.0])
    assert (first(x).item(), second(x).item(), slope(second, x).item()) == (12.0, 12.0, 6.0)


def test_without_recording_tangents_are_carried(level):
    with gs.no_grad():
        assert tangent_of(Cubic.apply(dual([2.0], [1.0]))).item() == 12.0


def test_keyword_only_arguments_have_no_tangent(level):
    def forward(x, *, k):
        return x * k

    custom = make(forward, lambda ctx, t: t, setup_context=lambda ctx, inputs, output: None)
    with pytest.raises(TypeError, match="keyword-only argument 'k' requires grad or has a tangent"):
        custom.apply(double([1.0]), k=dual([1.0], [1.0]))
