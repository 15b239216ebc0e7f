"""Numerical and analytical Jacobians by themselves."""

import numpy as np
import pytest
from own_derivatives import complex_, real, with_gradient

import gradsmith as gs
from gradsmith.autograd.gradcheck import (
    get_analytical_jacobian,
    get_numerical_jacobian,
    get_numerical_jacobian_wrt_specific_input,
)


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
