"""Train a small convolutional network on 1,797 handwritten digits.

    python examples/convolutional_digits.py

The network of digits.py sees 64 numbers in a row. This one sees images: two convolutions, each with a pooling that
halves the sizes, and a linear layer. It learns from digits that `grid_sample` turns, stretches and moves a little. The
exit code is 0 when the accuracy on digits that it has not seen is at least 99 %.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

import numpy as np
from digits import Progress, batches, split

import gradsmith as gs
import gradsmith.nn.functional as F

REQUIRED_ACCURACY = 0.99
CHANNELS = (32, 64)
CLASSES = 10
LEARNING_RATE = 0.1
MOMENTUM = 0.9
DISTORTION = 0.1
PIXEL_NOISE = 0.05


class Network:
    """Two convolutions and a linear layer, for images of 8 x 8 pixels."""

    def __init__(self) -> None:
        one, two = CHANNELS
        self.first = gs.randn(one, 1, 3, 3) * (2 / 9) ** 0.5
        self.second = gs.randn(two, one, 3, 3) * (2 / (9 * one)) ** 0.5
        self.last = gs.randn(CLASSES, two * 2 * 2) * (1 / (two * 2 * 2)) ** 0.5
        self.biases = [gs.zeros(one), gs.zeros(two), gs.zeros(CLASSES)]
        self.parameters = [self.first, self.second, self.last, *self.biases]
        for parameter in self.parameters:
            parameter.requires_grad_()

    def __call__(self, images: gs.Tensor) -> gs.Tensor:
        """One score per class, of images of shape (n, 1, 8, 8)."""
        values = F.conv2d(images, self.first, self.biases[0], padding=1)
        values = F.max_pool2d(gs.relu(values), 2)
        values = F.conv2d(values, self.second, self.biases[1], padding=1)
        values = F.max_pool2d(gs.relu(values), 2)
        return F.linear(values.flatten(1), self.last, self.biases[2])

    def accuracy(self, images: gs.Tensor, labels: gs.Tensor) -> float:
        with gs.no_grad():
            return (self(images).argmax(1) == labels).to(gs.float32).mean().item()


class Momentum:
    """Gradient descent whose steps are running sums of gradients."""

    def __init__(self, parameters: list[gs.Tensor]) -> None:
        self.parameters = parameters
        self.steps = [gs.zeros_like(parameter) for parameter in parameters]

    def step(self, rate: float) -> None:
        with gs.no_grad():
            for parameter, step in zip(self.parameters, self.steps, strict=True):
                step.mul_(MOMENTUM).add_(parameter.grad)
                parameter.add_(step, alpha=-rate)
                parameter.grad = None


def as_images(rows: gs.Tensor) -> gs.Tensor:
    return rows.reshape(len(rows), 1, 8, 8)


def disturbed(images: gs.Tensor) -> gs.Tensor:
    """Each turned, stretched and moved a little, and noisy."""
    maps = gs.eye(2, 3) + DISTORTION * gs.randn(len(images), 2, 3)
    moved = F.grid_sample(images, F.affine_grid(maps, images.shape), align_corners=False)
    return moved + PIXEL_NOISE * gs.randn(*images.shape)


def train(network: Network, images: gs.Tensor, labels: gs.Tensor, epochs: int) -> Iterator[list[float]]:
    """Losses of each epoch as it ends. The rate falls to zero, so that the last steps settle."""
    optimizer = Momentum(network.parameters)
    for epoch in range(epochs):
        losses = []
        for chosen in batches(len(images)):
            loss = F.cross_entropy(network(disturbed(images[chosen])), labels[chosen], label_smoothing=0.1)
            loss.backward()
            optimizer.step(LEARNING_RATE * (1 - epoch / epochs))
            losses.append(loss.item())
        yield losses


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    gs.manual_seed(options.seed)
    images, labels, images_held_out, labels_held_out = split(options.seed)
    images, images_held_out = as_images(images[: options.digits]), as_images(images_held_out)
    network = Network()
    print(f"{len(images)} handwritten digits to learn from, {len(images_held_out)} held out.")
    progress, start, steps = Progress(options.epochs), time.perf_counter(), 0
    for epoch, losses in enumerate(train(network, images, labels[: options.digits], options.epochs), start=1):
        accuracy = network.accuracy(images_held_out, labels_held_out)
        progress.show(epoch, f"loss {np.mean(losses):.3f}  held-out accuracy {accuracy:.1%}")
        steps += len(losses)
    print(f"{steps} steps in {time.perf_counter() - start:.1f} s.")
    accuracy = network.accuracy(images_held_out, labels_held_out)
    print(f"Held-out accuracy: {accuracy:.1%} (at least {options.required:.0%} is required).")
    return 0 if accuracy >= options.required else 1


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a small convolutional network on handwritten digits.")
    parser.add_argument("--epochs", type=int, default=40, help="passes over the training digits (default: 40)")
    parser.add_argument("--digits", type=int, default=None, help="how many digits to learn from (default: all)")
    parser.add_argument("--required", type=float, default=REQUIRED_ACCURACY, help="accuracy that is a success")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers (default: 0)")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
