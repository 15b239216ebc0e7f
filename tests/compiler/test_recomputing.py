"""What a recorded call keeps for its backward, and what it computes again."""

from typing import Any

import numpy as np
import pytest

import gradsmith as gs

N = 50_000


def chain(x: Any) -> Any:
    for _ in range(10):
        x = (x * 1.01).tanh()
        x = (x + 0.5 * x - 0.1).exp() * 0.1
    return x


def mixed(x: Any, w: Any) -> Any:
    hidden = (x.reshape(100, 500) @ w).tanh()
    return (hidden.sigmoid() * hidden + x.reshape(100, 500).sin()[:, :500]).exp()


def gradients(function: Any, *arrays: Any) -> list[Any]:
    tensors = [gs.tensor(array, requires_grad=True) for array in arrays]
    (function(*tensors) ** 2).sum().backward()
    return [tensor.grad.numpy() for tensor in tensors]


def kept(memory: Any, function: Any = chain, *shapes: Any) -> int:
    """How many values a call saves beside its inputs."""
    compiled = gs.compile(function, memory=memory)
    compiled(*[gs.zeros(shape, dtype=gs.float64).requires_grad_() for shape in shapes or [(N,)]])
    (variant,) = compiled.programs
    return len(variant.kept)


@pytest.mark.parametrize("memory", [None, "balanced", "min", 0, 10**9])
@pytest.mark.parametrize("function", [chain, mixed])
def test_same_gradients(memory: Any, function: Any) -> None:
    compiled = gs.compile(function, memory=memory)
    shapes = [(N,)] if function is chain else [(N,), (500, 500)]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        arrays = [rng.standard_normal(shape) * 0.1 for shape in shapes]
        for found, expected in zip(gradients(compiled, *arrays), gradients(function, *arrays)):
            np.testing.assert_array_equal(found, expected)
    assert len(compiled.programs) == 1


def test_less_is_kept() -> None:
    assert kept("min") == 0
    assert 0 < kept("balanced") < kept(None)
    assert kept(3 * 8 * N) == 3
    assert kept(10**9) == kept(None)


def test_products_are_kept() -> None:
    assert 0 < kept("min", mixed, (N,), (500, 500)) < kept(None, mixed, (N,), (500, 500))


def test_an_input_that_has_changed_is_an_error() -> None:
    compiled, x = gs.compile(chain, memory="min"), gs.zeros(N).requires_grad_()
    compiled(x)
    y = compiled(x)
    with gs.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_random_numbers_are_kept() -> None:
    def function(x: Any) -> Any:
        return (x * gs.rand(N)).tanh().exp()

    compiled = gs.compile(function, memory="min")
    for seed in (1, 2):
        found = []
        for called in (compiled, function):
            gs.manual_seed(seed)
            x = gs.ones(N, requires_grad=True)
            called(x).sum().backward()
            found.append(x.grad.numpy())
        np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("memory", ["max", -1, 1.5, True, []])
def test_what_memory_may_be(memory: Any) -> None:
    with pytest.raises(ValueError, match="memory must be 'min', 'balanced' or a number of bytes"):
        gs.compile(chain, memory=memory)
