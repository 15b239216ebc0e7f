"""Recover a signal from what a blurred and saturated sensor has seen of it.

    python examples/own_ops.py

The ops of the sensor are those of examples/my_ops.yaml, which is no part of gradsmith: `gradsmith.load_ops` compiles it
the first time. The exit code is 0 when their gradient is right and the signal is found.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import gradsmith as gs

HERE = Path(__file__).resolve().parent
ops = gs.load_ops(HERE / "my_ops.yaml", functions=HERE / "my_functions.py", methods=True)

LIMIT, STEPS, RATE, MOMENTUM = 2, 400, 0.1, 0.9
GRADIENT_TOLERANCE, REQUIRED_ERROR = 1e-6, 0.01


def gradient_error() -> float:
    """The gradient of `measured` beside differences of its values."""
    values, step = np.linspace(-2, 2, 9), 1e-5
    x = gs.tensor(values, requires_grad=True)
    ops.measured(x).sum().backward()
    above, below = (ops.measured(gs.tensor(values + sign * step * np.eye(9))).sum(1) for sign in (1, -1))
    return ((above - below) / (2 * step) - x.grad).abs().max().item()


def recover(seen: gs.Tensor) -> gs.Tensor:
    """Gradient descent on the difference between what was seen and what would be."""
    guess, velocity = gs.zeros_like(seen, requires_grad=True), gs.zeros_like(seen)
    for step in range(STEPS + 1):
        loss = (guess.blur().soft_clip(LIMIT) - seen).square().sum()
        if step % 100 == 0:
            print(f"step {step:3d}   loss {loss.item():.1e}")
        (slope,) = gs.autograd.grad(loss, guess)
        velocity.mul_(MOMENTUM).sub_(RATE * slope)
        with gs.no_grad():
            guess.add_(velocity)
    return guess.detach()


def main() -> int:
    wrong = gradient_error()
    print(f"The gradient differs from finite differences by {wrong:.1e}.")
    signal = gs.tensor(np.sin(np.linspace(0, 6, 40)) * 1.5)
    seen = ops.measured(signal, limit=LIMIT)
    found = recover(seen)
    before, error = ((x - signal).abs().mean().item() for x in (seen, found))
    print(f"What was seen is off by {before:.3f} on average, what was found by {error:.3f}.")
    return 0 if wrong < GRADIENT_TOLERANCE and error < REQUIRED_ERROR else 1


if __name__ == "__main__":
    sys.exit(main())
