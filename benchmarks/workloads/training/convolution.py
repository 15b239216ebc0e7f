"""A whole step of a network for images of 28 x 28 pixels, 32 at once: the loss and all gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...cases import Builders, Case, Run
from ...contestants.eager import eager
from ...contestants.functional import jitted
from ..data import images, labels

WINDOW = (1, 1, 2, 2)


def convolutional_step(batch: int, pixels: int) -> Builders:
    shapes = ((16, 1, 3, 3), (16,), (32, 16, 3, 3), (32,), (10, 32 * (pixels // 4) ** 2), (10,))
    x, target = images(batch, 1, pixels, pixels), labels(batch, 10)
    parameters = [images(*shape) * np.float32(0.1) for shape in shapes]

    def build(lib: Any, *parameters: Any) -> Run:
        data, wanted = lib.tensor(x), lib.tensor(target)

        def run() -> Any:
            for parameter in parameters:
                parameter.grad = None
            value = lib.nn.functional.cross_entropy(scores(lib, data, *parameters), wanted)
            value.backward()
            return value

        return run

    return eager(build, *parameters) | jitted(in_jax(x, target), *parameters)


def scores(lib: Any, x: Any, first: Any, first_bias: Any, second: Any, second_bias: Any, last: Any, bias: Any) -> Any:
    functional = lib.nn.functional
    for weight, offset in ((first, first_bias), (second, second_bias)):
        x = functional.max_pool2d(functional.relu(functional.conv2d(x, weight, offset, padding=1)), 2)
    return functional.linear(x.flatten(1), last, bias)


def in_jax(x: Any, target: Any) -> Any:
    def build(jax: Any, jnp: Any) -> Any:
        def layer(x: Any, weight: Any, bias: Any) -> Any:
            x = jax.lax.conv(x, weight, (1, 1), "SAME") + bias[:, None, None]
            return jax.lax.reduce_window(jax.nn.relu(x), -jnp.inf, jax.lax.max, WINDOW, WINDOW, "VALID")

        def objective(first: Any, a: Any, second: Any, b: Any, last: Any, c: Any) -> Any:
            values = layer(layer(x, first, a), second, b)
            found = jax.nn.log_softmax(values.reshape(len(x), -1) @ last.T + c)
            return -found[jnp.arange(len(target)), target].mean()

        def flat(*parameters: Any) -> Any:
            value, gradients = jax.value_and_grad(objective, tuple(range(6)))(*parameters)
            return (value, *gradients)

        return flat

    return build


def rows() -> Iterator[Case]:
    yield Case(
        "convolutional network, whole step", convolutional_step, (32, 28), (2, 8), "torch 0.9", "torch 0.7", rounds=7
    )
