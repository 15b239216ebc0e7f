"""Train a small transformer to turn sequences of digits around.

    python examples/transformer.py

Each of its blocks is attention with several heads and two linear layers, each after a normalization and beside a
connection that goes around it. The exit code is 0 when the loss on sequences that it has not seen has become small.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import gradsmith as gs
import gradsmith.nn.functional as F

REQUIRED_LOSS = 0.05  # that of guessing is log(10) = 2.3
DIGITS, LENGTH = 10, 8
WIDTH, HEADS, BLOCKS = 32, 4, 2
BATCH, STEPS = 64, 150
LEARNING_RATE = 0.005


# ---- the network


class Block:
    """Attention, then two linear layers."""

    def __init__(self) -> None:
        self.norms = [(gs.ones(WIDTH), gs.zeros(WIDTH)) for _ in range(2)]
        self.projection = (matrix(3 * WIDTH, WIDTH), gs.zeros(3 * WIDTH))
        self.out = (matrix(WIDTH, WIDTH), gs.zeros(WIDTH))
        self.wide = (matrix(4 * WIDTH, WIDTH), gs.zeros(4 * WIDTH))
        self.narrow = (matrix(WIDTH, 4 * WIDTH), gs.zeros(WIDTH))

    def __call__(self, x: gs.Tensor) -> gs.Tensor:
        """Of shape (places, sequences, WIDTH), like its result."""
        y = F.layer_norm(x, (WIDTH,), *self.norms[0])
        x = (
            x
            + F.multi_head_attention_forward(
                y, y, y, WIDTH, HEADS, *self.projection, None, None, False, 0.0, *self.out, need_weights=False
            )[0]
        )
        y = F.layer_norm(x, (WIDTH,), *self.norms[1])
        return x + F.linear(F.gelu(F.linear(y, *self.wide)), *self.narrow)

    def parameters(self) -> Iterator[gs.Tensor]:
        for pair in (*self.norms, self.projection, self.out, self.wide, self.narrow):
            yield from pair


class Transformer:
    """Scores of digits for each place of some sequences."""

    def __init__(self) -> None:
        self.digits, self.places = gs.randn(DIGITS, WIDTH) * 0.5, gs.randn(LENGTH, 1, WIDTH) * 0.5
        self.blocks = [Block() for _ in range(BLOCKS)]
        self.norm, self.out = (gs.ones(WIDTH), gs.zeros(WIDTH)), matrix(DIGITS, WIDTH)
        for parameter in self.parameters():
            parameter.requires_grad_()

    def __call__(self, sequences: gs.Tensor) -> gs.Tensor:
        """From (places, sequences) to (places, sequences, DIGITS)."""
        x = F.embedding(sequences, self.digits) + self.places
        for block in self.blocks:
            x = block(x)
        return F.linear(F.layer_norm(x, (WIDTH,), *self.norm), self.out)

    def parameters(self) -> Iterator[gs.Tensor]:
        yield from (self.digits, self.places, *self.norm, self.out)
        for block in self.blocks:
            yield from block.parameters()


def matrix(rows: int, columns: int) -> gs.Tensor:
    return gs.randn(rows, columns) / columns**0.5


# ---- training


class Adam:
    """Steps of about the same length, whatever the size of the gradients (Kingma and Ba, 2015)."""

    def __init__(self, parameters: list[gs.Tensor]) -> None:
        self.parameters, self.count = parameters, 0
        self.means = [gs.zeros_like(parameter) for parameter in parameters]
        self.squares = [gs.zeros_like(parameter) for parameter in parameters]

    @gs.no_grad()
    def step(self, rate: float) -> None:
        self.count += 1
        rate *= (1 - 0.98**self.count) ** 0.5 / (1 - 0.9**self.count)
        for parameter, mean, square in zip(self.parameters, self.means, self.squares, strict=True):
            mean.mul_(0.9).add_(parameter.grad, alpha=0.1)
            square.mul_(0.98).add_(parameter.grad.square(), alpha=0.02)
            parameter.sub_(rate * mean / (square.sqrt() + 1e-8))
            parameter.grad = None


def loss_on(network: Transformer, sequences: gs.Tensor) -> gs.Tensor:
    return F.cross_entropy(network(sequences).reshape(-1, DIGITS), sequences.flip(0).reshape(-1))


def train(steps: int = STEPS) -> Iterator[tuple[int, float]]:
    """The number of steps done, and the loss on sequences that are not among those to learn from."""
    network = Transformer()
    optimizer = Adam(list(network.parameters()))
    held_out = gs.randint(0, DIGITS, (LENGTH, 500))
    for step in range(1, steps + 1):
        loss_on(network, gs.randint(0, DIGITS, (LENGTH, BATCH))).backward()
        optimizer.step(LEARNING_RATE * min(1, step / 20, (steps + 1 - step) / 100))
        if step % 50 == 0 or step == steps:
            with gs.no_grad():
                yield step, loss_on(network, held_out).item()


def main() -> int:
    gs.manual_seed(0)
    start = time.perf_counter()
    loss = float("inf")
    for step, loss in train():
        print(f"   step {step:3d}  loss {loss:.4f}")
    print(f"{STEPS} steps took {time.perf_counter() - start:.1f} s; a loss below {REQUIRED_LOSS} is required.")
    return 0 if loss < REQUIRED_LOSS else 1


if __name__ == "__main__":
    sys.exit(main())
