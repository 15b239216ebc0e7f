"""Steps of networks for handwritten digits: forward, cross entropy, backward, and a step of an optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case, Run
from ...contestants.eager import eager
from ...contestants.functional import by_hand, jitted
from ..data import labels, normal

RATE = 0.01
Sizes = tuple[int, ...]


def parameters(sizes: Sizes) -> list[Array]:
    """Weight and bias of each layer in turn."""
    shapes = [(out, into) for into, out in pairwise(sizes)]
    return [array for shape in shapes for array in (normal(*shape), np.zeros(shape[0], np.float32))]


def step(sizes: Sizes, batch: int, optimizer: str) -> Builders:
    """A step with SGD or Adam through `optim`."""
    x, target = normal(batch, sizes[0], seed=1), labels(batch, sizes[-1])

    def build(lib: Any, *params: Any) -> Run:
        data, wanted = lib.tensor(x), lib.tensor(target)
        steps = optimizer_of(lib, optimizer, params)

        def run() -> None:
            loss(lib, params, data, wanted).backward()
            steps.step()
            steps.zero_grad()

        return run

    found = eager(build, *parameters(sizes))
    return found | rivals(sizes, x, target) if optimizer == "SGD" else found


def optimizer_of(lib: Any, name: str, params: Any) -> Any:
    """PyTorch's SGD in its fastest form."""
    settings = {"fused": True} if name == "SGD" else {}
    return getattr(lib.optim, name)(params, lr=RATE if name == "SGD" else 1e-4, **settings)


def loss(lib: Any, params: Any, x: Any, target: Any) -> Any:
    functional = lib.nn.functional
    for weight, bias in zip(params[:-2:2], params[1:-2:2]):
        x = functional.relu(functional.linear(x, weight, bias))
    return functional.cross_entropy(functional.linear(x, *params[-2:]), target)


def step_without_optimizer(sizes: Sizes, batch: int) -> Builders:
    """The same step with parameters that are changed under `no_grad`; PyTorch's by its fused SGD."""
    x, target = normal(batch, sizes[0], seed=1), labels(batch, sizes[-1])

    def build(lib: Any, *params: Any) -> Run:
        data, wanted = lib.tensor(x), lib.tensor(target)
        advance = fused_sgd(lib, params) if lib.__name__ == "torch" else descent(lib, params)

        def run() -> None:
            loss(lib, params, data, wanted).backward()
            advance()

        return run

    return eager(build, *parameters(sizes)) | rivals(sizes, x, target)


def fused_sgd(lib: Any, params: Any) -> Run:
    optimizer = optimizer_of(lib, "SGD", params)

    def advance() -> None:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return advance


def descent(lib: Any, params: Any) -> Run:
    def advance() -> None:
        with lib.no_grad():
            for p in params:
                p.add_(p.grad, alpha=-RATE)
                p.grad = None

    return advance


# ---- JAX, and NumPy by hand: the parameters after the first step are compared


def rivals(sizes: Sizes, x: Array, target: Array) -> Builders:
    params = parameters(sizes)
    return jitted(jax_step(target), params, x) | by_hand(hand_step, params, x, target)


def jax_step(target: Array) -> Callable[[Any, Any], Callable[..., Any]]:
    def build(jax: Any, jnp: Any) -> Callable[..., Any]:
        def objective(params: Any, x: Any) -> Any:
            for weight, bias in zip(params[:-2:2], params[1:-2:2]):
                x = jax.nn.relu(x @ weight.T + bias)
            scores = jax.nn.log_softmax(x @ params[-2].T + params[-1])
            return -scores[jnp.arange(len(target)), target].mean()

        def step(params: Any, x: Any) -> Any:
            return [p - RATE * g for p, g in zip(params, jax.grad(objective)(params, x))]

        return step

    return build


def hand_step(params: list[Array], x: Array, target: Array) -> list[Array]:
    values = [x]
    for weight, bias in zip(params[:-2:2], params[1:-2:2]):
        values.append(np.maximum(values[-1] @ weight.T + bias, 0))
    grad = hand_softmax(values[-1] @ params[-2].T + params[-1], target)
    found: list[Array] = []
    for layer in reversed(range(len(params) // 2)):
        found = [grad.T @ values[layer], grad.sum(0), *found]
        if layer:
            grad = (grad @ params[2 * layer]) * (values[layer] > 0)
    return [p - np.float32(RATE) * g for p, g in zip(params, found)]


def hand_softmax(scores: Array, target: Array) -> Array:
    """The gradient of the mean cross entropy by the scores."""
    exponentials = np.exp(scores - scores.max(1, keepdims=True))
    grad: Array = exponentials / exponentials.sum(1, keepdims=True)
    grad[np.arange(len(target)), target] -= 1
    return np.asarray(grad / np.float32(len(target)))


def rows() -> Iterator[Case]:
    digits, small = (64, 128, 128, 10), (4, 5, 3)
    yield Case(
        "digits 64-128-128-10, batch 32, SGD", step, (digits, 32, "SGD"), (small, 3, "SGD"), "torch 0.12", "torch 0.10"
    )
    yield Case("digits step 64-128-128-10, batch 32, Adam", step, (digits, 32, "Adam"), (small, 3, "Adam"), "torch 1/5")
    for sizes, batch, must in (((8, 16, 4), 1, "torch 1/20"), ((784, 256, 10), 32, "torch 1/1.5")):
        name = "-".join(map(str, sizes))
        yield Case(f"training step {name}, batch {batch}", step_without_optimizer, (sizes, batch), (small, 3), must)
    large = (784, 1024, 1024, 10)
    yield Case(
        "MLP 784-1024-1024-10, batch 256, SGD", step, (large, 256, "SGD"), (small, 3, "SGD"), "torch 1.0", "torch 0.92",
        threads=(1, 2), rounds=9,
    )  # fmt: skip
