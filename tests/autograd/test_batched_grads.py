"""grad(..., is_grads_batched=True): products with several vectors in one call."""

import numpy as np
import pytest
from own_derivatives import custom

import gradsmith as gs
from gradsmith.autograd import grad

VECTORS = np.array([[1.0, 0.0, 2.0], [0.0, -1.0, 0.5]])


def batched(output, inputs, vectors=VECTORS, **options):
    return grad(output, inputs, gs.tensor(vectors), is_grads_batched=True, **options)


def test_one_product_for_each_vector():
    x, y = gs.tensor([1.0, 2.0, 3.0], dtype=gs.float64, requires_grad=True), gs.ones(3, requires_grad=True)
    of_x, of_y = batched(x * x * y, (x, y))
    np.testing.assert_array_equal(of_x.numpy(), VECTORS * [2, 4, 6])
    np.testing.assert_array_equal(of_y.numpy(), VECTORS * [1, 4, 9])


def test_gradients_of_batched_gradients():
    x = gs.tensor([1.0, 2.0, 3.0], dtype=gs.float64, requires_grad=True)
    (first,) = batched(x**3, x, create_graph=True)
    (second,) = grad(first.sum(), x)
    np.testing.assert_array_equal(second.numpy(), VECTORS.sum(0) * [6, 12, 18])


def test_the_graph_is_freed_at_the_end():
    x = gs.ones(3, dtype=gs.float64, requires_grad=True)
    y = x.exp()
    batched(y, x, retain_graph=True)
    batched(y, x)
    with pytest.raises(RuntimeError, match="second time"):
        batched(y, x)


def test_unused_inputs():
    x, y = gs.ones(3, dtype=gs.float64, requires_grad=True), gs.ones(2, requires_grad=True)
    assert batched(x * 2, (x, y), allow_unused=True)[1] is None


def test_a_backward_cannot_ask_for_the_value_of_one_vector():
    x = gs.ones(3, dtype=gs.float64, requires_grad=True)
    positive = custom(lambda x: x * 1, lambda g, x: g * float("inf") if (g >= 0).all().item() else None)
    with pytest.raises(RuntimeError, match=r"grad\(is_grads_batched=True\): the value of a tensor \(item\(\)"):
        batched(positive(x), x, [[1.0, 1.0, 1.0], [-1.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("vectors", "error", "text"),
    [
        (np.ones((2, 4)), RuntimeError, r"grad_output\[0\] has a shape of \[4\] and output\[0\] has a shape of \[3\]"),
        (np.ones(()), ValueError, "got a Tensor without dimensions at index 0"),
        (np.ones((0, 3)), IndexError, "at least one vector"),
    ],
)
def test_wrong_shapes(vectors, error, text):
    x = gs.ones(3, dtype=gs.float64, requires_grad=True)
    with pytest.raises(error, match=text):
        batched(x * 2, x, vectors)


def test_batches_of_one_size():
    x = gs.ones(3, dtype=gs.float64, requires_grad=True)
    with pytest.raises(ValueError, match=r"same batch size.*got \[2, 1\]"):
        grad((x * 2, x * 3), x, (gs.tensor(VECTORS), gs.tensor(VECTORS[:1])), is_grads_batched=True)
    with pytest.raises(ValueError, match="got NoneType at index 0"):
        grad(x * 2, x, is_grads_batched=True)
