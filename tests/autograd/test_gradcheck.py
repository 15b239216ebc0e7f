"""gradcheck: right derivatives pass, wrong ones of every kind are found, and the message says where."""

import re
import warnings

import pytest
from own_derivatives import complex_, custom, real, square, with_gradient

import gradsmith as gs
from gradsmith.autograd import gradcheck
from gradsmith.autograd.gradcheck import (
    GradcheckError,
)


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
    assert re.search(r"max per-element difference \(slow mode\) is: (3|2\.9999)", text)
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
    base = real(3, 4).detach()
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
