"""Recurrent layers over 50 steps, and losses of alignments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case, Run
from ...contestants.eager import eager
from ...contestants.functional import by_hand, jitted
from ..data import images

LAYERS = {
    "lstm": (4, "torch 0.30", "torch 0.2"),
    "gru": (3, "torch 0.5", ""),
    "rnn_tanh": (1, "torch 0.5", ""),
    "rnn_relu": (1, "torch 0.5", ""),
}
Sizes = tuple[int, int, int]  # steps, sequences, features


def data(gates: int, sizes: Sizes) -> list[Array]:
    """Inputs, first state, and the four parameters of a layer with as many elements as features."""
    steps, batch, width = sizes
    weights = [images(gates * width, width) * np.float32(0.1) for _ in range(2)]
    biases = [images(gates * width) for _ in range(2)]
    return [images(steps, batch, width), images(1, batch, width) * np.float32(0.1), *weights, *biases]


def sequence_and_back(name: str, sizes: Sizes) -> Builders:
    """A layer over all steps, and the gradients of its parameters."""
    x, h, *weights = data(LAYERS[name][0], sizes)

    def build(lib: Any, *params: Any) -> Run:
        inputs, first = lib.tensor(x), lib.tensor(h)
        state = (first, first) if name == "lstm" else first

        def run() -> Any:
            for tensor in params:
                tensor.grad = None
            value = getattr(lib, name)(inputs, state, list(params), True, 1, 0.0, True, False, False)[0].sum()
            value.backward()
            return value

        return run

    found = eager(build, *weights)
    return found | jitted(jax_lstm(x, h), *weights) | by_hand(hand_lstm, x, h[0], *weights) if name == "lstm" else found


def jax_lstm(x: Array, h: Array) -> Any:
    def build(jax: Any, jnp: Any) -> Any:
        def objective(w: Any, u: Any, b: Any, c: Any) -> Any:
            def step(state: Any, x: Any) -> Any:
                h, cell = state
                i, f, g, o = jnp.split(x @ w.T + b + h @ u.T + c, 4, axis=1)
                cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
                h = jax.nn.sigmoid(o) * jnp.tanh(cell)
                return (h, cell), h

            return jax.lax.scan(step, (h[0], h[0]), x)[1].sum()

        def flat(*weights: Any) -> Any:
            value, gradients = jax.value_and_grad(objective, (0, 1, 2, 3))(*weights)
            return (value, *gradients)

        return flat

    return build


def hand_lstm(x: Array, h: Array, w: Array, u: Array, b: Array, c: Array) -> Any:
    """The sum of all states, and the gradients of the four parameters: backpropagation through time, written out."""
    cell, saved, total = h, [], np.float32(0)
    projected = x @ w.T + (b + c)
    for step in projected:
        gates = step + h @ u.T
        i, f, g, o = np.split(gates, 4, axis=1)
        i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
        g, before, cell_before = np.tanh(g), h, cell
        cell = f * cell + i * g
        tanh = np.tanh(cell)
        h = o * tanh
        saved.append((i, f, g, o, tanh, before, cell_before))
        total += h.sum()
    grads, grad_u = hand_lstm_back(saved, u)
    grad_w = np.tensordot(grads, x, ((0, 1), (0, 1)))
    grad_b = grads.sum((0, 1))
    return total, grad_w, grad_u, grad_b, grad_b


def hand_lstm_back(saved: Sequence[tuple[Array, ...]], u: Array) -> tuple[Array, Array]:
    """The gradients of the gates at each step, and that of the weight of the state."""
    grad_h = grad_cell = np.zeros_like(saved[0][0])
    grads, grad_u = [], np.zeros_like(u)
    for i, f, g, o, tanh, before, cell_before in reversed(saved):
        grad_h = grad_h + 1
        grad_cell = grad_cell + grad_h * o * (1 - tanh * tanh)
        parts = (grad_cell * g * i * (1 - i), grad_cell * cell_before * f * (1 - f), grad_cell * i * (1 - g * g))
        gates = np.concatenate([*parts, grad_h * tanh * o * (1 - o)], axis=1)
        grads.append(gates)
        grad_u += gates.T @ before
        grad_h, grad_cell = gates @ u, grad_cell * f
    return np.stack(grads[::-1]), grad_u


def alignments_and_back(steps: int, batch: int, classes: int, wanted: int) -> Builders:
    """The loss of labels in the steps of sequences, and the gradient of the scores of all classes."""
    labels = np.random.default_rng(4).integers(1, classes, (batch, wanted))

    def build(lib: Any, x: Any) -> Run:
        targets, functional = lib.tensor(labels), lib.nn.functional

        def run() -> None:
            x.grad = None
            scores = functional.log_softmax(x, 2)
            functional.ctc_loss(scores, targets, [steps] * batch, [wanted] * batch).backward()

        return run

    return eager(build, images(steps, batch, classes))


def rows() -> Iterator[Case]:
    for name, (_, must, aim) in LAYERS.items():
        arguments, small = (name, (50, 32, 64)), (name, (3, 2, 4))
        yield Case(f"{name} of 50 steps there and back", sequence_and_back, arguments, small, must, aim)
    yield Case("ctc_loss there and back", alignments_and_back, (400, 16, 40, 50), (6, 2, 4, 2), "torch 0.9", rounds=7)
