"""ADBench's LSTM: a network that predicts the next character of a text, whose gates work element by element.

Two layers of 14 elements over 1,024 characters, as in the first published problem; weights and text are random.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...cases import Array, Builders, Case
from ...contestants import eager, functional

LAYERS, CHARACTERS, WIDTH = 2, 1024, 14
Gate = Callable[[Any], Any]


def data(layers: int, characters: int, width: int) -> tuple[Array, ...]:
    """Weights and biases of the gates, what scales inputs and outputs; the states at the beginning, and the text."""
    rng = np.random.default_rng(0)
    main, extra = rng.standard_normal((layers, 2, 4, width)) / 2, rng.standard_normal((3, width)) / 2
    return main, extra, rng.standard_normal((layers, 2, width)) / 2, rng.uniform(0, 1, (characters, width))


def step(lib: Any, sigmoid: Gate, x: Any, hidden: Any, cell: Any, weight: Any, bias: Any) -> tuple[Any, Any]:
    """The state and the cell of a layer after one character."""
    forget = sigmoid(x * weight[0] + bias[0])
    accept = sigmoid(hidden * weight[1] + bias[1])
    output = sigmoid(x * weight[2] + bias[2])
    cell = cell * forget + accept * lib.tanh(hidden * weight[3] + bias[3])
    return output * lib.tanh(cell), cell


def predicted(lib: Any, sigmoid: Gate, x: Any, states: list[Any], main: list[Any], extra: Any) -> tuple[Any, list[Any]]:
    """The scores of the next character, and the states of all layers."""
    x, after = x * extra[0], []
    for (hidden, cell), (weight, bias) in zip(states, main):
        x, cell = step(lib, sigmoid, x, hidden, cell, weight, bias)
        after.append((x, cell))
    return x * extra[1] + extra[2], after


def surprise(lib: Any, scores: Any, wanted: Any) -> Any:
    return ((lib.log(lib.exp(scores).sum() + 2) - scores) * wanted).sum()


def loss(lib: Any, sigmoid: Gate, main: Any, extra: Any, state: Any, text: Any) -> Any:
    states, total = [(pair[0], pair[1]) for pair in state], 0.0
    layers = [([*layer[0]], [*layer[1]]) for layer in main]
    scales = [*extra]
    for now in range(len(text) - 1):
        scores, states = predicted(lib, sigmoid, text[now], states, layers, scales)
        total = total + surprise(lib, scores, text[now + 1])
    return total / ((len(text) - 1) * text.shape[1])


def of_tensors(lib: Any, *arguments: Any) -> Any:
    return loss(lib, lib.sigmoid, *arguments)


def of_arrays(np: Any, *arguments: Any) -> Any:
    return loss(np, lambda x: 1 / (1 + np.exp(-x)), *arguments)


def in_jax(jax: Any, jnp: Any) -> Callable[..., Any]:
    """The steps are scanned: unrolled, they would take minutes to compile."""

    def scanned(main: Any, extra: Any, state: Any, text: Any) -> Any:
        def advance(states: Any, pair: Any) -> Any:
            scores, after = predicted(jnp, jax.nn.sigmoid, pair[0], states, main, extra)
            return jnp.array(after), surprise(jnp, scores, pair[1])

        return jax.lax.scan(advance, state, (text[:-1], text[1:]))[1].sum() / ((len(text) - 1) * text.shape[1])

    return scanned


def jax_gradient(jax: Any, jnp: Any) -> Callable[..., Any]:
    def flat(*arguments: Any) -> Any:
        value, gradients = jax.value_and_grad(in_jax(jax, jnp), (0, 1))(*arguments)
        return (value, *gradients)

    return flat


# ---- NumPy by hand: backpropagation through time, written out


def by_hand(main: Array, extra: Array, state: Array, text: Array) -> Any:
    tape: list[Any] = []
    hidden, cell, total = state[:, 0].copy(), state[:, 1].copy(), 0.0
    for now in range(len(text) - 1):
        x = text[now] * extra[0]
        saved = []
        for layer, (weight, bias) in enumerate(main):
            inputs = np.stack([x, hidden[layer], x, hidden[layer]])
            gates = inputs * weight + bias
            forget, accept, output = 1 / (1 + np.exp(-gates[:3]))
            change, before = np.tanh(gates[3]), cell[layer].copy()
            cell[layer] = before * forget + accept * change
            tanh = np.tanh(cell[layer])
            x = hidden[layer] = output * tanh
            saved.append((inputs, forget, accept, output, change, before, tanh))
        scores = x * extra[1] + extra[2]
        exponentials = np.exp(scores)
        rest = exponentials.sum() + 2
        total += ((np.log(rest) - scores) * text[now + 1]).sum()
        tape.append((saved, x.copy(), exponentials / rest))
    count = (len(text) - 1) * text.shape[1]
    grad_main, grad_extra = hand_back(tape, main, extra, text)
    return total / count, grad_main / count, grad_extra / count


def hand_back(tape: list[Any], main: Array, extra: Array, text: Array) -> tuple[Array, Array]:
    grad_main, grad_extra = np.zeros_like(main), np.zeros_like(extra)
    grad_hidden, grad_cell = np.zeros((2, len(main), text.shape[1]))
    for now in reversed(range(len(tape))):
        saved, x, part = tape[now]
        wanted = text[now + 1]
        grad_scores = part * wanted.sum() - wanted
        grad_extra[1] += grad_scores * x
        grad_extra[2] += grad_scores
        grad = grad_scores * extra[1]
        for layer in reversed(range(len(main))):
            grad_hidden[layer] += grad
            grad, gates = hand_step(saved[layer], layer, main[layer, 0], grad_hidden, grad_cell)
            grad_main[layer, 0] += gates * saved[layer][0]
            grad_main[layer, 1] += gates
        grad_extra[0] += grad * text[now]
    return grad_main, grad_extra


def hand_step(saved: Any, layer: int, weight: Array, grad_hidden: Array, grad_cell: Array) -> tuple[Array, Array]:
    """Gradients of a layer's input and of its gates; those of its states are moved one step back."""
    _, forget, accept, output, change, before, tanh = saved
    by_cell = grad_cell[layer] + grad_hidden[layer] * output * (1 - tanh * tanh)
    gates = np.stack(
        [
            by_cell * before * forget * (1 - forget), by_cell * change * accept * (1 - accept),
            grad_hidden[layer] * tanh * output * (1 - output), by_cell * accept * (1 - change * change),
        ]
    )  # fmt: skip
    grad_cell[layer] = by_cell * forget
    back = gates * weight
    grad_hidden[layer] = back[1] + back[3]
    return back[0] + back[2], gates


def objective(*sizes: int) -> Builders:
    arrays = data(*sizes)
    numpy = {"numpy": functional.values_of(of_arrays, *arrays)["numpy"]}
    return eager.values_of(of_tensors, *arrays) | functional.jitted(in_jax, *arrays) | numpy


def gradient(*sizes: int) -> Builders:
    main, extra, state, text = data(*sizes)
    found = eager.gradients_of(of_tensors, main, extra, constants=(state, text))
    found |= functional.jitted(jax_gradient, main, extra, state, text)
    found |= {"autograd": functional.gradients_of(of_arrays, main, extra, constants=(state, text))["autograd"]}
    return found | functional.by_hand(by_hand, main, extra, state, text)


def rows() -> Iterator[Case]:
    sizes, small = (LAYERS, CHARACTERS, WIDTH), (2, 5, 3)
    name = "character LSTM, 2 layers, 1,024 characters"
    yield Case(f"{name}, objective", objective, sizes, small, tolerance=1e-9, rounds=5)
    yield Case(
        f"{name}, gradient", gradient, sizes, small, tolerance=1e-8, rounds=5, objective=f"{name}, objective"
    )  # fmt: skip
