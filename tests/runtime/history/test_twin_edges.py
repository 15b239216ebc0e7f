"""Both edges of ``x * x`` lead to one place and get one gradient, computed once."""

import numpy as np
import pytest

import gradsmith as gs

X = np.array([1.0, -2.0, 0.3])


def leaf(values=X, dtype=np.float64):
    return gs.tensor(values, dtype=dtype, requires_grad=True)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 3, 5000])
def test_square_of_a_leaf_and_of_a_result(dtype, size):
    values = np.linspace(-3, 3, size).astype(dtype)
    of_leaf = leaf(values, dtype)
    (of_leaf * of_leaf).sum().backward()
    of_result = leaf(values, dtype)
    y = of_result + 0
    (y * y).sum().backward()
    np.testing.assert_array_equal(of_leaf.grad.numpy(), values + values)
    np.testing.assert_array_equal(of_result.grad.numpy(), values + values)


def test_bits_are_those_of_adding_one_after_the_other():
    values = np.random.default_rng(0).standard_normal(1000)
    x = leaf(values)
    y = x + 0
    (y * y + y * 0.1).sum().backward()
    assert np.array_equal(x.grad.numpy(), (0.1 + values) + values)


def test_of_two_outputs_of_one_node():
    x = leaf(np.arange(4.0))
    a, b = (x + 0).chunk(2)
    (a * a + a * b).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2, 5, 0, 1])


def test_kernels_of_more_than_two_inputs():
    x = leaf()
    y = x + 0
    gs.hypot(y, y).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.sign(X) * np.sqrt(2))


def test_incoming_gradient_of_the_user_is_not_overwritten():
    x, grad = leaf(), gs.tensor([1.0, 2.0, 3.0])
    (x * x).backward(grad, retain_graph=True)
    np.testing.assert_array_equal(grad.numpy(), [1, 2, 3])
    np.testing.assert_array_equal(x.grad.numpy(), 2 * X * [1, 2, 3])


def test_kept_graph_gives_the_same_again():
    x = leaf()
    y = ((x + 0) * x.detach() * 1).exp()
    z = (y * y).sum()
    first = gs.autograd.grad(z, x, retain_graph=True)[0].clone()
    np.testing.assert_array_equal(gs.autograd.grad(z, x)[0].numpy(), first.numpy())


def test_gradient_asked_of_the_factor_itself():
    x = leaf()
    y = x.exp()
    found = gs.autograd.grad((y * y).sum(), [y, x])
    np.testing.assert_allclose(found[0].numpy(), 2 * np.exp(X))
    np.testing.assert_allclose(found[1].numpy(), 2 * np.exp(X) ** 2)


def test_hook_of_the_factor_keeps_the_sum():
    x, seen = leaf(), []
    y = x + 0
    y.register_hook(seen.append)
    y.retain_grad()
    (y * y).sum().backward()
    np.testing.assert_array_equal(seen[0].numpy(), 2 * X)
    np.testing.assert_array_equal(y.grad.numpy(), 2 * X)


def test_hooks_of_the_node_may_write_one_gradient_alone():
    x = leaf()
    y = (x + 0) * 1
    z = y * y

    def double_the_first(grad_inputs, grad_outputs):
        grad_inputs[0].mul_(2)

    z.grad_fn.register_hook(double_the_first)
    z.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), 3 * X)


def test_tangents_and_graphs_of_gradients():
    x = leaf()
    y = x + 0
    first = gs.autograd.grad((y * y * y).sum(), x, create_graph=True)[0]
    second = gs.autograd.grad(first.sum(), x)[0]
    np.testing.assert_allclose(first.detach().numpy(), 3 * X**2)
    np.testing.assert_allclose(second.numpy(), 6 * X)
    tangent = gs.func.jvp(gs.func.grad(lambda t: (t * t).sum()), (gs.tensor(X),), (gs.tensor(np.ones(3)),))[1]
    np.testing.assert_array_equal(tangent.numpy(), [2, 2, 2])


def test_views_of_one_tensor_are_no_twins():
    x = leaf(np.arange(9.0).reshape(3, 3))
    y = x + 0
    (y * y.T).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), 2 * np.arange(9.0).reshape(3, 3).T)


def test_two_outputs_with_one_history_are_no_twins():
    x = leaf(np.arange(4.0))
    y = x + 0
    (y.view(4) * y.view(4)).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), 2 * np.arange(4.0))
