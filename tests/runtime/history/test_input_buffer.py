"""Gradients that meet at one place, and what is made of those that do not fit."""

import re
import tracemalloc

import numpy as np
import pytest
from custom_functions import make

import gradsmith as gs
from gradsmith.autograd import grad


def leaf(*values):
    return gs.tensor(values, dtype=gs.float64, requires_grad=True)


def addresses_at(tensor):
    """Addresses of the gradients of `tensor` as they arrive; filled during backward."""
    found = []
    tensor.register_hook(lambda gradient: found.append(gradient.data_ptr()))
    return found


# ---- sums


def test_gradients_are_summed_as_they_arrive():
    """R60: a hundred branches need no more memory than two."""
    x = gs.ones(100_000, requires_grad=True)
    y = x * 1
    total = sum((y * i for i in range(1, 100)), start=y)
    end = total.sum()
    tracemalloc.start()
    try:
        end.backward()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10 * 400_000
    np.testing.assert_array_equal(x.grad.numpy(), np.full(100_000, 1 + sum(range(100)), np.float32))


def branches():
    """A tensor used twice: gradients in two new arrays meet at it."""
    x = leaf(*range(50))
    y = x * 1
    first, second = y * 2, y * 3
    return x, y, first, second


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_gradient_that_nobody_holds_is_added_to_in_place(create_graph):
    """R61: the sum lies where the first of the two lay, unless gradients have a graph."""
    x, y, first, second = branches()
    nodes = []
    second.grad_fn.register_hook(lambda inputs, outputs: nodes.append(inputs[0].data_ptr()))
    sums = addresses_at(y)
    (found,) = grad((first + second).sum(), x, create_graph=create_graph)
    assert (sums == nodes) == (not create_graph)
    assert found.tolist() == [5.0] * 50


@pytest.mark.parametrize("which", ["first", "second"])
def test_a_gradient_that_somebody_holds_is_not_added_to(which):
    """R61."""
    x, _, first, second = branches()
    held = []
    node = {"first": first, "second": second}[which].grad_fn
    node.register_hook(lambda inputs, outputs: held.append(inputs[0]))
    (first + second).sum().backward()
    assert held[0].tolist() == [{"first": 2.0, "second": 3.0}[which]] * 50
    assert x.grad.tolist() == [5.0] * 50


def test_a_gradient_with_a_graph_is_not_added_to():
    """R61: with `create_graph` each gradient is a value of its own."""
    x = leaf(1.0, 2.0)
    y = x * 1
    first, second = y * y, y.exp()
    parts = []
    for branch in (first, second):
        branch.grad_fn.register_hook(lambda inputs, outputs: parts.append(inputs[0]))
    (found,) = grad((first + second).sum(), x, create_graph=True)
    values = x.detach().numpy()
    np.testing.assert_allclose(parts[0].detach().numpy(), np.exp(values))
    np.testing.assert_allclose(parts[1].detach().numpy(), values)  # of the first factor
    np.testing.assert_allclose(found.detach().numpy(), 2 * values + np.exp(values))
    (second_derivative,) = grad(found.sum(), x)
    np.testing.assert_allclose(second_derivative.numpy(), 2 + np.exp(values))


def test_the_gradient_that_one_node_passes_on_twice():
    """R61: an addition gives one array to both operands."""
    a, b = leaf(1.0, 2.0), leaf(3.0, 4.0)
    held = []
    for tensor in (a, b):
        tensor.register_hook(held.append)
    (a + b + a).sum().backward()
    assert [gradient.tolist() for gradient in held] in ([[1, 1], [2, 2]], [[2, 2], [1, 1]])
    assert (a.grad.tolist(), b.grad.tolist()) == ([2, 2], [1, 1])
    a.grad.mul_(10)
    assert b.grad.tolist() == [1, 1] and sorted(g.tolist() for g in held) == [[1, 1], [2, 2]]


def test_an_undefined_gradient_adds_nothing():
    """R60, R70: of several that meet, and where it comes alone."""

    nothing = function_giving(None)
    x = leaf(1.0, 2.0)
    y = x * 1
    (nothing(y) + y * 3 + nothing(y)).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    z = leaf(1.0)
    (nothing(z * 2) + 1).sum().backward()
    assert z.grad is None


# ---- what does not fit


def function_giving(gradient):
    """A Function whose backward gives the same, whatever comes."""
    return make(lambda ctx, x: x * 1, lambda ctx, incoming: gradient, name="Given").apply


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("dtype", [gs.float32, gs.float64])
@pytest.mark.parametrize("shape", [(2, 3), (4, 2, 3), (5, 1, 2, 3)])
def test_a_broadcast_gradient_is_summed(shape, dtype, create_graph):
    """R65: to the shape of what it is the gradient of."""
    x = gs.zeros(2, 3, dtype=gs.float64, requires_grad=True)
    given = gs.tensor(np.random.default_rng(0).normal(size=shape)).to(dtype)
    (found,) = grad(function_giving(given)(x).sum(), x, create_graph=create_graph)
    np.testing.assert_allclose(found.numpy(), given.numpy().reshape(-1, 2, 3).sum(0), rtol=1e-6)


@pytest.mark.parametrize("shape", [(), (3,), (1, 3), (2, 1), (3, 2), (4, 1, 3)])
def test_a_gradient_is_not_broadcast(shape):
    """R65."""
    x = gs.zeros(2, 3, dtype=gs.float64, requires_grad=True)
    message = f"Function GivenBackward returned an invalid gradient at index 0 - got {list(shape)} but expected"
    with pytest.raises(RuntimeError, match=re.escape(message) + r" shape compatible with \[2, 3\]"):
        function_giving(gs.ones(shape, dtype=gs.float64))(x).sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("dtype", [gs.float16, gs.float32, gs.float64, gs.int64, gs.bool])
@pytest.mark.parametrize("inside", [False, True])
def test_a_gradient_is_cast_to_the_dtype_of_its_tensor(dtype, inside):
    """R66: at a leaf, and at a node."""
    x = gs.ones(2, requires_grad=True)
    y = x * 1 if inside else x
    seen = []
    y.register_hook(lambda gradient: seen.append(gradient.dtype))
    function_giving(gs.tensor([1, 0]).to(dtype))(y).sum().backward()
    assert seen == [gs.float32] and x.grad.tolist() == [1.0, 0.0]


def test_a_complex_gradient_of_a_real_tensor():
    """R67: refused where the user made it; the formulas of ops give the real part."""
    x = leaf(1.0, 2.0)
    with pytest.raises(
        RuntimeError, match="at index 0 - got complex128 but expected a real gradient, of dtype float64"
    ):
        function_giving(gs.tensor([1j, 1.0], dtype=gs.complex128))(x).sum().backward()
    z = gs.tensor([1 + 2j, 3 - 1j], dtype=gs.complex128)
    (x * z).backward(gs.tensor([1.0 + 0j, 1j], dtype=gs.complex128))
    assert x.grad.dtype == gs.float64
    np.testing.assert_allclose(x.grad.numpy(), [1.0, -1.0])


def test_a_real_gradient_of_a_complex_tensor():
    """R67."""
    z = gs.tensor([1j, 1.0], dtype=gs.complex128, requires_grad=True)
    function_giving(gs.ones(2, dtype=gs.float64))(z).abs().sum().backward()
    assert z.grad.dtype == gs.complex128 and z.grad.tolist() == [1 + 0j, 1 + 0j]
