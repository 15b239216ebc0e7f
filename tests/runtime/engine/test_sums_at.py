"""Gradients of parts, which are added to a sum where they lie: see runtime/engine/sums_at.pyx."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradsmith as gs
from gradsmith import Tensor

WEIGHTS = np.arange(1.0, 13.0).reshape(3, 4)

# What is read of a matrix of 3 x 4; the gradient of the sum of these parts counts how often each element is read.
PARTS: dict[str, Callable[[Any], list[Any]]] = {
    "rows": lambda x: [x[0], x[1], x[0], x[-1]],
    "columns": lambda x: [x[:, 1], x[:, 2], x[:, 1]],
    "spans": lambda x: [x[1:], x[:-1], x[:, 1:3], x[::2, ::3]],
    "elements": lambda x: [x[0, 1], x[2, 3], x[0, 1]],
    "new dimensions": lambda x: [x[None], x[..., 1:], x[1, None]],
    "nothing": lambda x: [x[0], x[3:], x[1:1, 2]],
    "whole and parts": lambda x: [x, x[0], x * 1, x[1:]],
    "parts of parts": lambda x: [x[1:][0], x[1:][:, 2:], x[0]],
}


def counted(read: Callable[[Any], list[Any]]) -> np.ndarray:
    counts = np.zeros((3, 4))
    for element in np.ndindex(3, 4):
        x = np.zeros((3, 4))
        x[element] = 1
        counts[element] = sum(part.sum() for part in read(x))
    return counts


def total(read: Callable[[Any], list[Any]], x: Tensor) -> Tensor:
    return sum((part.sum() for part in read(x)), gs.zeros((), dtype=x.dtype))


def matrix() -> Tensor:
    return gs.tensor(WEIGHTS, requires_grad=True)


parts = pytest.mark.parametrize("read", PARTS.values(), ids=PARTS)


@parts
def test_parts_of_a_leaf(read: Callable[[Any], list[Any]]) -> None:
    x = matrix()
    assert np.array_equal(gs.autograd.grad(total(read, x), x)[0], counted(read))
    total(read, x).backward()
    assert np.array_equal(x.grad, counted(read))
    total(read, x).backward()
    assert np.array_equal(x.grad, 2 * counted(read))


@parts
def test_parts_of_a_result(read: Callable[[Any], list[Any]]) -> None:
    x = matrix()
    total(read, x * x).backward()
    assert np.array_equal(x.grad, 2 * WEIGHTS * counted(read))


@parts
def test_parts_whose_gradient_is_recorded(read: Callable[[Any], list[Any]]) -> None:
    x = matrix()
    (first,) = gs.autograd.grad(total(read, x**3), x, create_graph=True)
    (second,) = gs.autograd.grad(total(read, first), x)
    assert np.allclose(second, 6 * WEIGHTS * counted(read) ** 2)


@parts
def test_parts_within_a_batch(read: Callable[[Any], list[Any]]) -> None:
    batch = gs.tensor(np.stack([WEIGHTS, 2 * WEIGHTS]))
    found = gs.vmap(gs.grad(lambda x: total(read, x * x)))(batch)
    assert np.array_equal(found, 2 * batch.numpy() * counted(read))


@parts
def test_parts_with_tangents(read: Callable[[Any], list[Any]]) -> None:
    x = gs.tensor(WEIGHTS)
    _, found = gs.func.jvp(gs.grad(lambda x: total(read, x**3)), (x,), (gs.ones_like(x),))
    assert np.allclose(found, 6 * WEIGHTS * counted(read))


def test_select_and_narrow() -> None:
    x = matrix()
    (x.select(1, 2).sum() + x.narrow(0, 1, 2).sum() + x.select(-1, 2).sum()).backward()
    expected = np.zeros((3, 4))
    expected[:, 2] += 2
    expected[1:] += 1
    assert np.array_equal(x.grad, expected)


def test_hooks_see_gradients_of_the_whole() -> None:
    x, seen = matrix(), []
    y = x * 1
    first, second = y[0], y[1]
    assert first.grad_fn is not None
    first.grad_fn.register_hook(lambda gradients, _: seen.append(gradients[0].shape))
    y.register_hook(lambda grad: seen.append(grad.sum().item()))
    (first + second).sum().backward()
    assert seen == [(3, 4), 8.0]


def test_a_leaf_with_a_hook_has_it_called_with_the_sum() -> None:
    x, seen = matrix(), []
    x.register_hook(lambda grad: seen.append(grad.sum().item()))
    (x[0] * x[1] * x[0]).sum().backward()
    assert seen == [x.grad.sum().item()] and len(seen) == 1


def test_the_gradient_of_the_caller_stays() -> None:
    x = matrix()
    y = x * 1
    given, other = gs.ones(3, 4, dtype=gs.float64), gs.ones(4, dtype=gs.float64)
    gs.autograd.backward([y, y[1]], [given, other])
    assert given.sum() == 12 and other.sum() == 4
    assert x.grad.sum() == 16


def test_a_gradient_that_is_held_stays() -> None:
    x, held = matrix(), []
    y = x * 1
    z = y + 0
    z.register_hook(held.append)
    (y[0].sum() + z.sum()).backward()
    assert np.array_equal(held[0], np.ones((3, 4)))
    assert x.grad.sum() == 16


def test_holders_of_grad_see_the_sum_and_its_version() -> None:
    x = matrix()
    x.sum().backward()
    held = x.grad
    before = held._version
    x[1].sum().backward()
    assert x.grad is held and held._version == before + 1
    assert held.tolist() == [[1.0] * 4, [2.0] * 4, [1.0] * 4]


def test_grad_as_the_gradient_of_itself() -> None:
    x = matrix()
    x.sum().backward()
    x[1:].backward(x.grad[:-1])
    assert x.grad.tolist() == [[1.0] * 4, [2.0] * 4, [2.0] * 4]


def test_a_leaf_of_another_shape_is_refused() -> None:
    x = matrix()
    part = x[0].sum()
    x.data = gs.ones(5, 4, dtype=gs.float64)
    x.grad = gs.ones(5, 4, dtype=gs.float64)
    with pytest.raises(RuntimeError, match="shape"):
        part.backward()
    assert x.grad.sum() == 20


def test_other_dtypes_are_converted() -> None:
    x = gs.tensor(WEIGHTS.astype(np.float32), requires_grad=True)
    x.grad_dtype = gs.float64
    x.grad = gs.ones(3, 4, dtype=gs.float64)
    x[0].sum().backward()
    assert x.grad.dtype == gs.float64 and x.grad[0].tolist() == [2.0] * 4


@pytest.mark.filterwarnings("ignore:grad and param do not obey")
def test_grad_that_is_columns_first() -> None:
    x = matrix()
    x.grad = gs.zeros(4, 3, dtype=gs.float64).t()
    (x[0] + x[1]).sum().backward()
    assert x.grad.tolist() == [[1.0] * 4, [1.0] * 4, [0.0] * 4]


def test_in_anomaly_mode() -> None:
    x = matrix()
    with pytest.warns(UserWarning, match="Anomaly"), gs.autograd.detect_anomaly():
        (x[0] + (x * 1)[1] + x[2]).sum().backward()
    assert np.array_equal(x.grad, np.ones((3, 4)))


def test_a_compiled_function_has_them_too() -> None:
    x = gs.tensor(WEIGHTS)
    gradient = gs.grad(lambda x: total(PARTS["spans"], x * x))
    assert gs.equal(gs.compile(gradient)(x), gradient(x))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex128])
def test_dtypes(dtype: Any) -> None:
    x = gs.tensor(WEIGHTS.astype(dtype), requires_grad=True)
    found = gs.autograd.grad((x * 1)[0].sum().real + x[1:].sum().real + x[0].sum().real, x)[0]
    assert found.dtype == x.dtype and found.tolist() == [[2] * 4, [1] * 4, [1] * 4]


def test_large_parts_that_are_first() -> None:
    """Zeros are written around what is large."""
    x = gs.ones(5, 300, 70, requires_grad=True)
    for index in [(2,), (slice(None), slice(3, 9)), (..., -1), (slice(1, 4), 7, slice(None, None, 3)), (slice(2, 2),)]:
        expected = np.zeros(x.shape, np.float32)
        expected[index] = 1
        assert np.array_equal(gs.autograd.grad(x[index].sum(), x)[0], expected)
