"""gradgradcheck, and gradcheck of any order."""

import numpy as np
import pytest
from own_derivatives import complex_, custom, real

import gradsmith as gs
from gradsmith.autograd import gradcheck, gradgradcheck
from gradsmith.autograd.gradcheck import GradcheckError

# The gradient is right, and what recording makes of it is not.
WRONG_SECOND = custom(lambda x: x**3, lambda g, x: g * 3 * x * x.detach())


@pytest.mark.parametrize("fast_mode", [False, True])
@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        (lambda x, y: (x * y.exp(), (x * x).sum()), lambda: (real(2, 3), real(3))),
        (lambda x: x * 2, lambda: (real(3),)),
        (lambda x, n: x**n, lambda: (real(3), 3)),
        (lambda z: z * z.exp(), lambda: (complex_(2),)),
        (lambda z: z.abs(), lambda: (complex_(2),)),
        (lambda x: (x.detach(), x * x), lambda: (real(3),)),
    ],
)
def test_right_second_derivatives_pass(function, inputs, fast_mode):
    assert gradgradcheck(
        function,
        inputs(),
        fast_mode=fast_mode,
        check_fwd_over_rev=True,
        check_batched_grad=True,
        check_grad_dtypes=True,
    )


@pytest.mark.parametrize("fast_mode", [False, True])
def test_wrong_second_derivatives_are_found(fast_mode):
    assert gradcheck(WRONG_SECOND, real(3), fast_mode=fast_mode)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradgradcheck(WRONG_SECOND, real(3), fast_mode=fast_mode)
    assert gradgradcheck(WRONG_SECOND, real(3), fast_mode=fast_mode, raise_exception=False) is False


def test_given_grad_outputs():
    seen = []

    def function(x):
        y = x * x
        y.register_hook(lambda grad: seen.append(grad.detach().numpy().copy()))
        return y

    vector = np.array([1.0, -2.0, 3.0])
    assert gradgradcheck(function, real(3), gs.tensor(vector), eps=1e-3, check_undefined_grad=False)
    assert seen and all(np.array_equal(one, vector) for one in seen)  # it does not require grad, so it is not moved
    with pytest.raises(ValueError, match="shorter|longer"):
        gradgradcheck(lambda x: (x * 1, x * 2), real(3), gs.ones(3))


@pytest.mark.parametrize("spread", [False, True])
def test_gen_non_contig_grad_outputs(spread):
    seen = []

    def function(x):
        y = x * x
        y.register_hook(lambda grad: seen.append(grad.is_contiguous()))
        return y

    assert gradgradcheck(function, real(3), gen_non_contig_grad_outputs=spread, check_undefined_grad=False)
    assert seen[0] is not spread


def test_random_grad_outputs_leave_the_users_generator_alone():
    gs.manual_seed(1)
    expected = gs.rand(3)
    gs.manual_seed(1)
    gradgradcheck(lambda x: x * x, real(3), fast_mode=True)
    np.testing.assert_array_equal(gs.rand(3).numpy(), expected.numpy())


def test_modes():
    """A gradient computed with an operation whose tangent is wrong, and one whose gradient is."""
    wrong_tangent = custom(lambda x: x * x, lambda g, x: g * 2 * x, lambda t, x: t * x)
    cube = custom(lambda x: x**3, lambda g, x: 3 * g * wrong_tangent(x), lambda t, x: 3 * t * x * x)
    assert gradgradcheck(cube, real(3))
    with pytest.raises(GradcheckError, match="computed with forward mode"):
        gradgradcheck(cube, real(3), check_fwd_over_rev=True)
    wrong_gradient = custom(lambda x: x * x, lambda g, x: g * x, lambda t, x: t * 2 * x)
    cube = custom(lambda x: x**3, lambda g, x: 3 * g * wrong_gradient(x), lambda t, x: 3 * t * x * x)
    only_forward = {"check_fwd_over_rev": True, "check_rev_over_rev": False, "check_undefined_grad": False}
    assert gradgradcheck(cube, real(3), **only_forward)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradgradcheck(cube, real(3))


def test_tolerances_reach_the_comparison():
    nearly = custom(lambda x: x * x, lambda g, x: g * (2.02 * x - 0.02 * x.detach()))
    with pytest.raises(GradcheckError):
        gradgradcheck(nearly, real(3))
    assert gradgradcheck(nearly, real(3), rtol=0.02)
    assert gradgradcheck(nearly, real(3), atol=0.1)


def test_the_complex_step_is_exact():
    def function(x, y):
        return x * y.exp(), (x.sin() / y).sum()

    inputs = real(2, 3), real(3)
    tight = {"atol": 1e-13, "rtol": 1e-13}
    assert gradgradcheck(function, inputs, method="complex_step", check_fwd_over_rev=True, **tight)
    assert not gradgradcheck(function, inputs, raise_exception=False, **tight)
    slightly = custom(lambda x: x * x, lambda g, x: g * ((2 + 1e-10) * x.conj() - 1e-10 * x.detach().conj()))
    with pytest.raises(GradcheckError):
        gradgradcheck(slightly, real(3), method="complex_step", **tight)


@pytest.mark.parametrize("method", ["difference", "complex_step"])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_any_order(order, method):
    assert gradcheck(lambda x, y: (x**3 * y.exp()).sum(), (real(2), real(2)), order=order, method=method)


def test_order_finds_what_lower_orders_do_not():
    cosine = custom(lambda x: x.cos(), lambda g, x: -g * x.detach().sin())
    sine = custom(lambda x: x.sin(), lambda g, x: g * cosine(x))
    assert gradcheck(sine, real(2), order=1)
    assert gradcheck(sine, real(2), order=2)
    with pytest.raises(GradcheckError, match="Jacobian mismatch"):
        gradcheck(sine, real(2), order=3)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"check_rev_over_rev": False}, "at least one of check_fwd_over_rev or check_rev_over_rev"),
        ({"check_rev_over_rev": False, "check_fwd_over_rev": True}, "check_undefined_grad=True requires"),
        (
            {
                "check_rev_over_rev": False,
                "check_fwd_over_rev": True,
                "check_undefined_grad": False,
                "check_batched_grad": True,
            },
            "check_batched_grad=True requires",
        ),
    ],
)
def test_options_that_make_no_sense(options, text):
    with pytest.raises(AssertionError, match=text):
        gradgradcheck(gs.sin, real(3), **options)
