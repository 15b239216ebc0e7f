"""gradcheck: steps and tolerances, fast mode, the complex step, and what is checked besides the values."""

import numpy as np
import pytest
from own_derivatives import complex_, custom, real, square, with_gradient

import gradsmith as gs
from gradsmith.autograd import gradcheck
from gradsmith.autograd.gradcheck import (
    GradcheckError,
    analytical,
)


def flipped(values):
    """The same elements in the opposite order."""
    return values.flip([0])


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
