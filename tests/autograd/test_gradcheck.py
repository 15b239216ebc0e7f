"""gradcheck: right derivatives pass, wrong ones of every kind are found, and each option does what it says."""

import re
import warnings

import numpy as np
import pytest
from own_derivatives import custom, with_gradient

import gradsmith as gs
from gradsmith.autograd import gradcheck
from gradsmith.autograd.checking import analytical
from gradsmith.autograd.forward_ad import make_dual, unpack_dual
from gradsmith.autograd.gradcheck import (
    GradcheckError,
    get_analytical_jacobian,
    get_numerical_jacobian,
    get_numerical_jacobian_wrt_specific_input,
)

RANDOM = np.random.default_rng(0)


def real(*shape):
    return gs.tensor(RANDOM.uniform(0.5, 1.5, shape), requires_grad=True)


def complex_(*shape):
    values = RANDOM.uniform(0.5, 1.5, shape) + 1j * RANDOM.uniform(0.2, 0.6, shape)
    return gs.tensor(values, requires_grad=True)


def flipped(values):
    """The same elements in the opposite order."""
    return values.flip([0])


# ---- right derivatives

RIGHT = {
    "elementwise": (lambda x: x.sin(), lambda: (real(2, 3),)),
    "broadcasting": (lambda x, y: x * y.exp(), lambda: (real(2, 3), real(3))),
    "several outputs": (lambda x, y: (x @ y, x.sum(), y.tanh()), lambda: (real(2, 3), real(3))),
    "one number": (lambda x: x**3, lambda: (real(),)),
    "no elements": (lambda x: x * 2, lambda: (real(0, 3),)),
    "a view of an input": (lambda x: x[1:], lambda: (real(3),)),
    "an input itself": (lambda x: x, lambda: (real(3),)),
    "an unused input": (lambda x, y: x * 2, lambda: (real(3), real(2))),
    "a constant input": (lambda x, y: x * y, lambda: (real(3), gs.ones(3))),
    "an input that is no tensor": (lambda x, n: x**n, lambda: (real(3), 2.0)),
    "an integer output": (lambda x: (x * 2, x.argmax()), lambda: (real(3),)),
    "a constant output": (lambda x: (x.detach() * 2, x * x), lambda: (real(3),)),
    "analytic": (lambda z: z * z.exp(), lambda: (complex_(2, 2),)),
    "not analytic": (lambda z: z.conj() * z.abs(), lambda: (complex_(3),)),
    "complex to real": (lambda z: z.abs(), lambda: (complex_(3),)),
    "real to complex": (lambda x: x * (2 + 1j), lambda: (real(3),)),
    "real and complex": (lambda x, z: (x * z, z.real * x), lambda: (real(3), complex_(3))),
}


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize("name", RIGHT)
def test_right_derivatives_pass(name, fast_mode):
    function, inputs = RIGHT[name]
    assert gradcheck(
        function,
        inputs(),
        check_forward_ad=True,
        check_batched_grad=True,
        check_batched_forward_grad=True,
        check_grad_dtypes=True,
        fast_mode=fast_mode,
    )


def test_a_single_tensor_needs_no_tuple():
    assert gradcheck(gs.sin, real(3))
    assert gradcheck(lambda x: [x.sin(), x.cos()], [real(3)])


def test_a_function_may_reach_the_input_otherwise():
    """It is moved where it stands in memory."""
    x = real(3)
    assert gradcheck(lambda _: x * x, x)


def test_one_tensor_may_be_two_inputs():
    x = real(3)
    assert gradcheck(lambda x, y: x * y, (x, x))
    assert gradcheck(lambda x, y: x * y, (x, x), method="complex_step")


def test_inputs_need_not_be_leaves():
    assert gradcheck(lambda x: x * x, real(3) * 2)


# ---- wrong derivatives, found in slow and in fast mode

square = lambda x: x * x  # noqa: E731
WRONG = {
    "factor": custom(square, lambda g, x: g * x),
    "sign": custom(square, lambda g, x: g * -2 * x),
    "other elements": custom(square, lambda g, x: flipped(g * 2 * x)),
    "zero": custom(square, lambda g, x: g * 0),
    "None": custom(square, lambda g, x: None),
    "does not multiply": custom(square, lambda g, x: 2 * x),
    "one element": custom(square, lambda g, x: g * 2 * x * gs.tensor([1.0, 1.0, 1.1])),
    "NaN": custom(square, lambda g, x: g * float("nan")),
    "infinite": custom(square, lambda g, x: g * float("inf")),
    "sum and mean confused": custom(lambda x: x.sum(), lambda g, x: (g / 3).expand(3)),
    "depends on a neighbour": custom(square, lambda g, x: g * 2 * x + flipped(g)),
}


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize("name", WRONG)
def test_wrong_gradients_are_found(name, fast_mode):
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradcheck(WRONG[name], real(3), fast_mode=fast_mode)


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize(
    ("place", "gradient"),
    [
        (0, lambda g, x, y: (g * x, g * x)),
        (1, lambda g, x, y: (g * y, g * y)),
        (1, lambda g, x, y: (g * y, None)),
        (0, lambda g, x, y: (g * x, g * y)),
    ],
)
def test_the_input_is_named(place, gradient, fast_mode):
    with pytest.raises(GradcheckError, match=f"Jacobian mismatch for output 0 with respect to input {place},"):
        gradcheck(custom(lambda x, y: x * y, gradient), (real(3), real(3)), fast_mode=fast_mode)


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize(
    ("output", "gradient"),
    [
        (0, lambda g, h, x: g * x.exp() + h * 2 * x),
        (1, lambda g, h, x: g * x.cos() + h * x),
        (1, lambda g, h, x: g * x.cos()),
        (0, lambda g, h, x: h * x.cos() + g * 2 * x),
    ],
)
def test_the_output_is_named(output, gradient, fast_mode):
    with pytest.raises(GradcheckError, match=f"Jacobian mismatch for output {output} with respect to input 0,"):
        gradcheck(custom(lambda x: (x.sin(), x * x), gradient), real(3), fast_mode=fast_mode)


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize(
    ("part", "value", "gradient"),
    [
        ("real", lambda z: z * z, lambda g, z: g * 2 * z),  # not conjugated
        ("imaginary", lambda z: z.conj(), lambda g, z: g),
        ("real", lambda z: z * z, lambda g, z: (g * 2 * z.conj()).real + 0j),  # a part is lost
        ("imaginary", lambda z: z * 1, lambda g, z: g.real + 0j),
    ],
)
def test_wrong_complex_gradients_are_found(part, value, gradient, fast_mode):
    with pytest.raises(GradcheckError, match=f"While considering the {part} part of complex outputs only, Jacobian"):
        gradcheck(custom(value, gradient), complex_(3), fast_mode=fast_mode)


def test_a_wrong_gradient_of_a_real_function_of_complex_numbers_is_found():
    halved = custom(lambda z: (z * z.conj()).real, lambda g, z: g * z)
    with pytest.raises(GradcheckError, match="^Jacobian mismatch"):
        gradcheck(halved, complex_(3))


def test_a_hook_that_changes_gradients_is_found():
    def function(x):
        y = x * 1
        y.register_hook(lambda grad: grad * 2)
        return y.exp()

    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(function, real(3))


# ---- the message


def test_the_message_shows_both_and_the_largest_deviation():
    x = gs.tensor([[1.0, 2.0]], dtype=gs.float64, requires_grad=True)
    wrong = custom(square, lambda g, x: g * 2 * x + gs.tensor([[0.0, 0.5]]) * g)
    with pytest.raises(GradcheckError) as caught:
        gradcheck(wrong, x)
    text = str(caught.value)
    assert re.search(r"numerical:tensor\(\[\[2\.0+, 0\.0+\],\n\s+\[0\.0+, 4\.0+\]\]", text)
    assert re.search(r"analytical:tensor\(\[\[2\.0+, 0\.0+\],\n\s+\[0\.0+, 4\.50+\]\]", text)
    assert "largest deviation is 0.5, at element (0, 1) of the output and (0, 1) of the input" in text
    assert "numerical 4, analytical 4.5" in text


def test_the_message_of_fast_mode_has_the_whole_jacobians():
    wrong = with_gradient(lambda g: 2 * g)
    with pytest.raises(GradcheckError) as caught:
        gradcheck(lambda x: wrong(x) * 3, real(2), fast_mode=True)
    text = str(caught.value)
    assert "computed in fast mode" in text
    assert re.search(r"Analytical:\ntensor\(\[\[6\., 0\.\],\n\s+\[0\., 6\.\]\]", text)
    assert "max per-element difference (slow mode) is: 3" in text
    assert "fast_mode=False" not in text


def test_fast_mode_says_when_slow_mode_would_have_passed():
    """The projection adds up to little, and the deviation of one element is large beside it."""
    signs = gs.tensor([1.0, -1.0], dtype=gs.float64)
    nearly = custom(lambda x: x * signs, lambda g, x: g * signs * gs.tensor([1.0009, 1.0], dtype=gs.float64))
    x = gs.ones(2, dtype=gs.float64, requires_grad=True)
    assert gradcheck(nearly, x, atol=0, rtol=1e-3, check_undefined_grad=False)
    with pytest.raises(GradcheckError, match="might have passed with fast_mode=False"):
        gradcheck(nearly, x, atol=0, rtol=1e-3, fast_mode=True)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_raise_exception(fast_mode):
    assert gradcheck(WRONG["factor"], real(3), raise_exception=False, fast_mode=fast_mode) is False


def test_other_errors_are_raised_all_the_same():
    def function(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        gradcheck(function, real(3), raise_exception=False)


# ---- tolerances and steps


def test_eps():
    seen = []

    def function(x):
        seen.append(x.detach().numpy().copy())
        return x * x

    x = gs.tensor([1.0], dtype=gs.float64, requires_grad=True)
    gradcheck(function, x, eps=0.125)
    assert {float(value[0]) for value in seen} == {0.875, 1.0, 1.125}


def test_atol():
    nearly = with_gradient(lambda g: g + 1e-4 * flipped(g))
    with pytest.raises(GradcheckError):
        gradcheck(nearly, real(3))
    assert gradcheck(nearly, real(3), atol=1e-3)


def test_rtol():
    nearly = with_gradient(lambda g: g * 1.01)
    with pytest.raises(GradcheckError):
        gradcheck(nearly, real(3))
    assert gradcheck(nearly, real(3), rtol=0.02)
    assert gradcheck(nearly, real(3), rtol=0.02, fast_mode=True)


def test_inputs_are_as_before_whatever_happens():
    x = real(3)
    before = x.detach().numpy().copy()
    count = 0

    def function(x):
        nonlocal count
        count += 1
        if count == 4:
            raise OSError("now")
        return x * x

    with pytest.raises(OSError, match="now"):
        gradcheck(function, x)
    np.testing.assert_array_equal(x.detach().numpy(), before)


# ---- what is checked besides the values


@pytest.mark.parametrize("fast_mode", [False, True])
def test_a_backward_has_to_repeat_itself(fast_mode):
    noise = np.random.default_rng(1)
    noisy = with_gradient(lambda g: g * (1 + 1e-9 * noise.random()))
    with pytest.raises(GradcheckError, match="Backward is not reentrant.*tolerance for nondeterminism was 0.0"):
        gradcheck(noisy, real(3), fast_mode=fast_mode)
    assert gradcheck(noisy, real(3), nondet_tol=1e-6, fast_mode=fast_mode)


def test_gradients_of_zeros_are_zeros():
    shifted = with_gradient(lambda g: g + 1e-12)
    with pytest.raises(GradcheckError, match="backward not multiplied by grad_output: the gradient of input 1"):
        gradcheck(lambda x, y: x * shifted(y), (real(3), real(3)))


def test_masked():
    shifted = with_gradient(lambda g: g + 1e-12)
    assert gradcheck(shifted, real(3), masked=True, check_undefined_grad=False)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_size_of_gradients(monkeypatch, fast_mode):
    grad = analytical.grad
    monkeypatch.setattr(analytical, "grad", lambda *a, **k: [g.reshape(3, 1) for g in grad(*a, **k)])
    with pytest.raises(GradcheckError, match="Analytical gradient has incorrect size"):
        gradcheck(gs.sin, real(3), fast_mode=fast_mode)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_check_grad_dtypes(monkeypatch, fast_mode):
    grad = analytical.grad
    monkeypatch.setattr(analytical, "grad", lambda *a, **k: [g.to(gs.float32) for g in grad(*a, **k)])
    assert gradcheck(gs.sin, real(3), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="Gradient has dtype mismatch"):
        gradcheck(gs.sin, real(3), fast_mode=fast_mode, check_grad_dtypes=True)


def test_check_grad_dtypes_of_tangents(monkeypatch):
    unpack = analytical.unpack_dual
    monkeypatch.setattr(analytical, "unpack_dual", lambda x: (unpack(x).primal, unpack(x).tangent.to(gs.float32)))
    options = {"check_forward_ad": True, "check_backward_ad": False, "check_undefined_grad": False}
    assert gradcheck(gs.sin, real(3), **options)
    with pytest.raises(GradcheckError, match="Forward AD gradient has dtype mismatch"):
        gradcheck(gs.sin, real(3), check_grad_dtypes=True, **options)


# ---- undefined gradients and tangents


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

    with pytest.raises(GradcheckError, match=r"handle undefined output grads, but with those of outputs \[2\]"):
        gradcheck(three(gradient), real(3))
    assert gradcheck(three(gradient), real(3), check_undefined_grad=False)


def test_undefined_gradients_must_give_zeros():
    def gradient(f, g, h, x):
        return f + 1 if f is not None and h is not None and g is None else total(x, f, g, h)

    with pytest.raises(GradcheckError, match=r"undefined or zero, .* input 0 is not, .* outputs \[1\] undefined"):
        gradcheck(three(gradient), real(3))


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
    """A function that carries along the tangent of the innermost level alone."""

    def function(x):
        primal, tangent = unpack_dual(x)
        if tangent is None:
            return primal.exp()
        value = np.exp(primal.detach().numpy())
        return make_dual(gs.tensor(value), gs.tensor(value * tangent.detach().numpy()))

    assert gradcheck(function, real(3), check_forward_ad=True)
    with pytest.raises(GradcheckError, match="batched gradient computation: the tangent of output 0"):
        gradcheck(function, real(3), check_forward_ad=True, check_batched_forward_grad=True)


# ---- fast mode


def test_fast_mode_evaluates_less():
    counts = []
    for fast_mode in (False, True):
        calls = []
        gradcheck(lambda x, calls=calls: (calls.append(x), x.sin())[1], real(20), fast_mode=fast_mode)
        counts.append(len(calls))
    assert counts[0] > 40 > 10 > counts[1]


# ---- outputs without gradient


@pytest.mark.parametrize("fast_mode", [False, True])
def test_an_output_without_gradient_must_be_constant(fast_mode):
    assert gradcheck(lambda x: x.detach() * 0 + 1, real(3), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="expected to be zero, .* output 0 changes with input 0"):
        gradcheck(lambda x: x.detach() * 2, real(3), fast_mode=fast_mode)


def test_nondet_tol_of_constants_in_fast_mode():
    assert gradcheck(lambda x: x.detach() * 1e-9, real(3), fast_mode=True, nondet_tol=1e-6)


# ---- the complex step


@pytest.mark.parametrize("fast_mode", [False, True])
def test_the_complex_step_is_exact(fast_mode):
    def function(x, y):
        return (x * y.exp()).tanh(), (x.log() / y).sum()

    inputs = real(2, 3), real(3)
    tight = {"atol": 1e-14, "rtol": 1e-13, "fast_mode": fast_mode, "check_forward_ad": True}
    assert gradcheck(function, inputs, method="complex_step", **tight)
    assert not gradcheck(function, inputs, raise_exception=False, **tight)


@pytest.mark.parametrize("fast_mode", [False, True])
def test_the_complex_step_finds_what_is_wrong(fast_mode):
    slightly = custom(square, lambda g, x: g * 2 * x.conj() * (1 + 1e-10))
    tight = {"atol": 1e-13, "rtol": 1e-13, "fast_mode": fast_mode}
    with pytest.raises(GradcheckError, match="largest deviation"):
        gradcheck(slightly, real(3), method="complex_step", **tight)


@pytest.mark.parametrize(
    ("function", "inputs", "why"),
    [
        (lambda x: x.abs(), lambda: real(3), "analytic, and output 0 of func is not"),
        (lambda x: (x, x * x.conj()), lambda: real(3), "analytic, and output 1 of func is not"),
        (lambda x: x * 2, lambda: complex_(3), "inputs that become complex, and some are complex already"),
        (lambda x: x * 2j, lambda: real(3), "outputs that become complex, and some are complex already"),
        (lambda x: x.max(), lambda: real(3), "calls func with complex tensors, which raised"),
    ],
)
def test_where_the_complex_step_does_not_apply(function, inputs, why):
    with pytest.raises(ValueError, match=f"{why}.*[Uu]se method='difference'"):
        gradcheck(function, inputs(), method="complex_step")


# ---- arguments


def test_some_input_has_to_require_grad():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(gs.sin, gs.ones(3))


def test_a_warning_for_single_precision():
    x = gs.ones(3, dtype=gs.float32, requires_grad=True)
    with pytest.warns(UserWarning, match="Input #1 requires gradient and is not a double precision") as caught:
        gradcheck(lambda n, x: x * n, (2, x), atol=0.1)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradcheck(lambda x, y: x * y, (real(3), gs.ones(3)))


@pytest.mark.parametrize(
    "overlapping",
    [lambda x: x.expand(2, 3), lambda x: x.as_strided((2, 2), (1, 1))],
)
def test_overlapping_inputs_are_refused(overlapping):
    with pytest.raises(RuntimeError, match="The 1th input has elements that share memory.*contiguous"):
        gradcheck(lambda x, y: x * y.sum(), (real(3), overlapping(real(3))))


def test_inputs_that_cannot_be_written_are_refused():
    with gs.autograd.graph.write_guard(), pytest.raises(RuntimeError, match="The 0th input is read-only.*write_guard"):
        gradcheck(lambda x: x * x, real(3))


def test_spread_inputs_are_not_overlapping():
    base = gs.tensor(RANDOM.random((3, 4)))
    assert gradcheck(gs.sin, base[:, ::2].requires_grad_())
    assert gradcheck(gs.sin, base.T.requires_grad_())


@pytest.mark.parametrize("kind", ["shape", "dtype"])
def test_outputs_must_keep_their_kind(kind):
    x = gs.ones(3, dtype=gs.float64, requires_grad=True)

    def function(x):
        if (x.detach() == 1).all().item():
            return x
        return x[:2] if kind == "shape" else x.to(gs.float32)

    with pytest.raises(AssertionError, match=f"outputs with the same {kind} when inputs are perturbed"):
        gradcheck(function, x)


def test_outputs_must_be_tensors():
    with pytest.raises(TypeError, match="must return a Tensor or a tuple of Tensors, got float at index 1"):
        gradcheck(lambda x: (x, 2.0), real(3))


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"check_backward_ad": False}, AssertionError, "at least one of check_forward_ad or check_backward_ad"),
        (
            {"check_batched_grad": True, "check_backward_ad": False, "check_forward_ad": True},
            AssertionError,
            "check_batched_grad=True requires check_backward_ad",
        ),
        ({"check_batched_forward_grad": True}, AssertionError, "requires check_forward_ad"),
        ({"method": "guess"}, ValueError, "method must be one of 'difference', 'complex_step', got 'guess'"),
        ({"order": 0}, ValueError, "order must be at least 1, got 0"),
    ],
)
def test_options_that_make_no_sense(options, error, text):
    with pytest.raises(error, match=text):
        gradcheck(gs.sin, real(3), **options)


# ---- Jacobians by themselves


def test_numerical_jacobian():
    x, y = real(2), real(2)
    found = get_numerical_jacobian(lambda inputs: (inputs[0] * inputs[1], inputs[0]), (x, y), eps=1e-6)
    for matrix, diagonal in zip(found, (y, x)):
        np.testing.assert_allclose(matrix.numpy(), np.diag(diagonal.detach().numpy()), rtol=1e-8, atol=1e-9)


def test_numerical_jacobian_of_a_target_that_is_no_input():
    weight = real(2)
    (found,) = get_numerical_jacobian(lambda inputs: inputs[0] * weight, (gs.ones(2),), target=weight)
    np.testing.assert_allclose(found.numpy(), np.eye(2), rtol=1e-8, atol=1e-9)


def test_numerical_jacobian_of_one_input():
    x, y = real(2), real(3)

    def function(x, y):
        return x * 2, y * y

    first, second = get_numerical_jacobian_wrt_specific_input(function, 1, (x, y), function(x, y), 1e-6)
    np.testing.assert_array_equal(first.numpy(), np.zeros((3, 2)))
    np.testing.assert_allclose(second.numpy(), np.diag(2 * y.detach().numpy()), rtol=1e-8, atol=1e-9)
    with pytest.raises(AssertionError, match="requires_grad=True"):
        get_numerical_jacobian_wrt_specific_input(function, 0, (gs.ones(2), y), function(x, y), 1e-6)


def test_numerical_jacobian_of_a_complex_input():
    z = complex_(2)
    arguments = (lambda z: z * z, 0, (z,), (z * z,), 1e-6)
    (found,) = get_numerical_jacobian_wrt_specific_input(*arguments, is_forward_ad=True)
    expected = 2 * z.detach().numpy()
    np.testing.assert_allclose(np.diag(found.numpy()), expected + 1j * (1j * expected), rtol=1e-8, atol=1e-8)
    with pytest.raises(ValueError, match="Expected output to be non-complex"):
        get_numerical_jacobian_wrt_specific_input(*arguments)


def test_analytical_jacobian():
    x = real(3)
    (found,), reentrant, sizes, dtypes = get_analytical_jacobian((x, gs.ones(2)), x.exp())
    np.testing.assert_allclose(found.numpy(), np.diag(np.exp(x.detach().numpy())))
    assert reentrant and sizes and dtypes


def test_analytical_jacobian_of_a_random_backward():
    noise = np.random.default_rng(1)
    x = real(3)
    output = with_gradient(lambda g: g * noise.random())(x)
    assert get_analytical_jacobian((x,), output)[1] is False
    assert get_analytical_jacobian((x,), output, nondet_tol=1.0)[1] is True


def test_only_one_as_grad_out():
    x = real(3)
    with pytest.raises(ValueError, match="Expected grad_out to be 1.0"):
        get_numerical_jacobian(lambda inputs: inputs[0], (x,), grad_out=2.0)
    with pytest.raises(ValueError, match="Expected grad_out to be 1.0"):
        get_analytical_jacobian((x,), x * 2, grad_out=2.0)
    with pytest.raises(ValueError, match="Expected output to be non-complex"):
        get_analytical_jacobian((x,), x * 2j)
    with pytest.raises(ValueError, match="Expected output to be non-complex"):
        get_numerical_jacobian(lambda inputs: inputs[0] * 1j, (x,))
