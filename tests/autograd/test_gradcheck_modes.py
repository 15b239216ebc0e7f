"""gradcheck: forward mode, several gradients at once, and gradients and tangents that are undefined."""

import numpy as np
import pytest
from own_derivatives import complex_, custom, real, square, with_gradient

import gradsmith as gs
from gradsmith.autograd import gradcheck
from gradsmith.autograd.forward_ad import make_dual, unpack_dual
from gradsmith.autograd.gradcheck import (
    GradcheckError,
)
from gradsmith.runtime.batching.batch import is_batched_tensor

ON_BY_DEFAULT = "New undefined gradient support checking feature is enabled by default"


def three(gradient):
    """An operation of three outputs whose backward gets None for what is undefined."""
    return custom(lambda x: (x.sin(), x * x, x * 3), gradient, materialize=False)


def total(x, f, g, h):
    parts = [grad * slope for grad, slope in ((f, x.cos()), (g, 2 * x), (h, 3)) if grad is not None]
    return sum(parts[1:], start=parts[0]) if parts else None


def test_careful_backwards_pass():
    assert gradcheck(three(lambda f, g, h, x: total(x, f, g, h)), real(3))


def test_check_undefined_grad():
    """Gradients of one output at a time are right, and those of two are not."""

    def gradient(f, g, h, x):
        return f * x.cos() + g * 2 * x + h * 3 if f is not None and g is not None else total(x, f, g, h)

    message = r"handle undefined output grads, but with those of outputs \[2\]"
    with pytest.warns(UserWarning, match=ON_BY_DEFAULT), pytest.raises(GradcheckError, match=message):
        gradcheck(three(gradient), real(3))
    assert gradcheck(three(gradient), real(3), check_undefined_grad=False)


def test_undefined_gradients_must_give_zeros():
    def gradient(f, g, h, x):
        return f + 1 if f is not None and h is not None and g is None else total(x, f, g, h)

    message = r"undefined or zero, .* input 0 is not, .* outputs \[1\] undefined"
    with pytest.warns(UserWarning, match=ON_BY_DEFAULT), pytest.raises(GradcheckError, match=message):
        gradcheck(three(gradient), real(3))
    with pytest.warns(UserWarning, match=ON_BY_DEFAULT):
        assert not gradcheck(three(gradient), real(3), raise_exception=False)


def test_a_hook_that_wants_a_gradient_fails_the_check():
    """PyTorch fails with the same error, and warns that the check is on by default."""

    def refuse(grads):
        if grads[0] is None:
            raise RuntimeError("the gradient is undefined")

    def function(x):
        y = x.clone()
        y.grad_fn.register_prehook(refuse)
        return y

    with pytest.warns(UserWarning, match=ON_BY_DEFAULT), pytest.raises(GradcheckError, match="handle undefined output"):
        gradcheck(function, real(3))
    assert gradcheck(function, real(3), check_undefined_grad=False)


def tangents(rule):
    return custom(lambda x, y: x * y, lambda g, x, y: (g * y, g * x), rule, materialize=False)


def test_undefined_tangents():
    wrong = tangents(lambda s, t, x, y: s * y if t is None else t * x * 2 if s is None else s * y + t * x)
    with pytest.raises(GradcheckError, match="index 0 when input 0 has an undefined tangent value"):
        gradcheck(wrong, (real(3), real(3)), check_forward_ad=True, check_backward_ad=False)
    careless = tangents(lambda s, t, x, y: s * y + (0 if t is None else t * x))
    with pytest.raises(GradcheckError, match="handle undefined tangents, but without that of input 0"):
        gradcheck(careless, (real(3), real(3)), check_forward_ad=True, check_backward_ad=False)


# ---- forward mode


WRONG_TANGENT = custom(square, lambda g, x: g * 2 * x, lambda t, x: t * x)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_check_forward_ad(fast_mode):
    assert gradcheck(WRONG_TANGENT, real(3), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="Jacobian computed with forward mode mismatch for output 0"):
        gradcheck(WRONG_TANGENT, real(3), fast_mode=fast_mode, check_forward_ad=True)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_check_backward_ad(fast_mode):
    wrong = custom(square, lambda g, x: g * x, lambda t, x: t * 2 * x)
    assert gradcheck(wrong, real(3), fast_mode=fast_mode, check_forward_ad=True, check_backward_ad=False)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(wrong, real(3), fast_mode=fast_mode, check_forward_ad=True)


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize(
    ("part", "tangent"), [("imaginary", lambda t, z: t.real * 2 * z), ("real", lambda t, z: t.conj() * 2j * z)]
)
def test_wrong_complex_tangents_are_found(part, tangent, fast_mode):
    wrong = custom(square, lambda g, z: g * 2 * z.conj(), tangent)
    text = f"While considering the {part} part of complex inputs only, Jacobian computed with forward mode"
    with pytest.raises(GradcheckError, match=text):
        gradcheck(wrong, complex_(3), fast_mode=fast_mode, check_forward_ad=True)


def test_the_output_is_named_in_forward_mode():
    wrong = custom(lambda x: (x * 1, x * x), lambda g, h, x: g + h * 2 * x, lambda t, x: (t * 1, t * x))
    with pytest.raises(GradcheckError, match="forward mode mismatch for output 1 with respect to input 0"):
        gradcheck(wrong, real(3), check_forward_ad=True)


# ---- several at once


def test_check_batched_grad():
    """A backward that changes its mind once single gradients have been compared."""
    calls = []

    def change(grad):
        calls.append(grad)
        return grad if len(calls) <= 4 else grad * 2

    x = real(1)
    function = with_gradient(change)
    assert gradcheck(function, x, check_undefined_grad=False)
    calls.clear()
    with pytest.raises(GradcheckError, match="batched gradient computation: the gradient of output 0"):
        gradcheck(function, x, check_undefined_grad=False, check_batched_grad=True)


def test_check_batched_forward_grad():
    """A function that computes tangents with NumPy, and one that gives other tangents of a batch."""

    def function(x):
        primal, tangent = unpack_dual(x)
        if tangent is None:
            return primal.exp()
        value = np.exp(primal.detach().numpy())
        return make_dual(gs.tensor(value), gs.tensor(value * tangent.detach().numpy()))

    assert gradcheck(function, real(3), check_forward_ad=True)
    with pytest.raises(GradcheckError, match=r"While computing batched gradients, got: .*: numpy\(\) is not possible"):
        gradcheck(function, real(3), check_forward_ad=True, check_batched_forward_grad=True)

    def changing(x):
        primal, tangent = unpack_dual(x)
        if tangent is None:
            return primal.exp()
        return make_dual(primal.exp(), tangent * primal.exp() * (1 + is_batched_tensor(tangent)))

    assert gradcheck(changing, real(3), check_forward_ad=True)
    with pytest.raises(GradcheckError, match="batched gradient computation: the tangent of output 0"):
        gradcheck(changing, real(3), check_forward_ad=True, check_batched_forward_grad=True)
