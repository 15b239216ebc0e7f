"""Train a small network on 1,797 handwritten digits.

    python examples/digits.py

What happens, in this order: one gradient is checked against finite differences, the graph of one training step is
printed, the network is trained, and its accuracy is measured on digits that it has not seen. With Matplotlib the loss
is drawn too. The exit code is 0 when the gradient is right and the accuracy is at least 96 %.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

import gradsmith as gs
import gradsmith.nn.functional as F

HERE = Path(__file__).resolve().parent
DATA = HERE / "data" / "digits.csv.gz"
PICTURE = HERE.parent / "build" / "digits_loss.png"

REQUIRED_ACCURACY = 0.96
GRADIENT_TOLERANCE = 1e-7
HELD_OUT = 360
LAYERS = (64, 128, 128, 10)
BATCH = 32
LEARNING_RATE = 0.3
PIXEL_NOISE = 0.2

Function = Callable[[gs.Tensor], gs.Tensor]


# ---- data


def load_digits() -> tuple[np.ndarray, np.ndarray]:
    """Pixels between 0 and 1, one row of 64 per digit, and what digit it is."""
    table = np.loadtxt(DATA, delimiter=",", dtype=np.float32)
    return table[:, :64] / 16, table[:, 64].astype(np.int64)


def split(seed: int) -> tuple[gs.Tensor, gs.Tensor, gs.Tensor, gs.Tensor]:
    """Images and labels to train on, images and labels held out."""
    images, labels = load_digits()
    order = np.random.default_rng(seed).permutation(len(images))
    train, held_out = order[HELD_OUT:], order[:HELD_OUT]
    parts = images[train], labels[train], images[held_out], labels[held_out]
    images_train, labels_train, images_held_out, labels_held_out = map(gs.from_numpy, parts)
    return images_train, labels_train, images_held_out, labels_held_out


def batches(count: int) -> Iterator[gs.Tensor]:
    """Indices of one pass over the training set, in random order."""
    order = gs.randperm(count)
    for start in range(0, count, BATCH):
        yield order[start : start + BATCH]


# ---- the network


class Network:
    """Linear layers with an activation between them."""

    def __init__(self, activation: Function) -> None:
        self.activation = activation
        self.weights = [gs.randn(n_out, n_in) * (2 / n_in) ** 0.5 for n_in, n_out in pairwise(LAYERS)]
        self.biases = [gs.zeros(n_out) for n_out in LAYERS[1:]]
        for parameter in self.parameters:
            parameter.requires_grad_()

    @property
    def parameters(self) -> list[gs.Tensor]:
        return [*self.weights, *self.biases]

    def __call__(self, images: gs.Tensor) -> gs.Tensor:
        """One score per class."""
        values = F.linear(images, self.weights[0], self.biases[0])
        for weight, bias in zip(self.weights[1:], self.biases[1:]):
            values = F.linear(self.activation(values), weight, bias)
        return values

    def loss(self, images: gs.Tensor, labels: gs.Tensor) -> gs.Tensor:
        return F.cross_entropy(self(images), labels, label_smoothing=0.1)

    def accuracy(self, images: gs.Tensor, labels: gs.Tensor) -> float:
        with gs.no_grad():
            return (self(images).argmax(1) == labels).to(gs.float32).mean().item()


def train_step(network: Network, images: gs.Tensor, labels: gs.Tensor, rate: float) -> float:
    """One step of gradient descent; the loss before it."""
    loss = network.loss(images, labels)
    loss.backward()
    with gs.no_grad():
        for parameter in network.parameters:
            parameter.add_(parameter.grad, alpha=-rate)
            parameter.grad = None
    return loss.item()


def train(network: Network, images: gs.Tensor, labels: gs.Tensor, epochs: int) -> Iterator[list[float]]:
    """Losses of each epoch as it ends. The rate falls to zero, so that the last steps settle."""
    for epoch in range(epochs):
        rate = LEARNING_RATE * (1 - epoch / epochs)
        losses = []
        for chosen in batches(len(images)):
            noisy = images[chosen] + PIXEL_NOISE * gs.randn(len(chosen), LAYERS[0])
            losses.append(train_step(network, noisy, labels[chosen], rate))
        yield losses


# ---- is the gradient right


def check_gradient(network: Network, images: gs.Tensor, labels: gs.Tensor) -> bool:
    """Compare the gradient of the first weights with differences of the loss itself, in float64."""
    exact = Network(network.activation)
    exact.weights = [weight.detach().to(gs.float64).requires_grad_() for weight in network.weights]
    exact.biases = [bias.detach().to(gs.float64).requires_grad_() for bias in network.biases]
    pixels = images.to(gs.float64)
    exact.loss(pixels, labels).backward()

    weight = exact.weights[0]
    print("Gradient of the loss with respect to some of the first weights, in float64:")
    print("   weight        backward   differences         error")
    errors = [
        show_entry(exact, pixels, labels, index, weight.grad[index].item()) for index in largest(weight.grad, count=5)
    ]
    passed = max(errors) < GRADIENT_TOLERANCE
    print(f"{'They agree' if passed else 'They do NOT agree'} to within {max(errors):.0e}.\n")
    return passed


def largest(gradient: gs.Tensor, count: int) -> list[tuple[int, int]]:
    """Places of the entries that matter most."""
    flat = np.argsort(-np.abs(gradient.numpy()), axis=None)[:count]
    return [(int(row), int(column)) for row, column in zip(*np.unravel_index(flat, gradient.shape))]


def show_entry(
    network: Network, images: gs.Tensor, labels: gs.Tensor, index: tuple[int, int], backward: float
) -> float:
    """Print one entry of a gradient beside the central difference; how far they are apart."""
    difference = central_difference(network, images, labels, index)
    error = abs(backward - difference)
    print(f"   {index!s:10} {backward:11.8f}   {difference:11.8f}   {error:11.1e}")
    return error


def central_difference(network: Network, images: gs.Tensor, labels: gs.Tensor, index: tuple[int, int]) -> float:
    step = 1e-5
    weight = network.weights[0]
    with gs.no_grad():
        weight[index] += step
        above = network.loss(images, labels).item()
        weight[index] -= 2 * step
        below = network.loss(images, labels).item()
        weight[index] += step
    return (above - below) / (2 * step)


# ---- what the user sees


def print_graph(loss: gs.Tensor) -> None:
    """The recorded graph, from the loss to the leaves."""
    print("The graph of one step: gradients flow from the top to the leaves.")
    print_node(loss.grad_fn, "   ", "   ", set())
    print()


def print_node(node: object, first: str, rest: str, seen: set[object]) -> None:
    """One node on a line, and below it those that it sends gradients to."""
    if node in seen:
        print(f"{first}{describe(node)}, as above")
        return
    seen.add(node)
    print(f"{first}{describe(node)}")
    followers = [follower for follower, _ in node.next_functions if follower is not None]
    for follower in followers:
        is_last = follower is followers[-1]
        print_node(follower, rest + ("└─ " if is_last else "├─ "), rest + ("   " if is_last else "│  "), seen)


def describe(node: object) -> str:
    leaf = getattr(node, "variable", None)
    return node.name() if leaf is None else f"{node.name()} of a leaf of shape {tuple(leaf.shape)}"


class Progress:
    """A bar that is redrawn on a terminal, a line now and then elsewhere."""

    WIDTH = 30

    def __init__(self, total: int) -> None:
        self.total = total
        self.is_terminal = sys.stdout.isatty()

    def show(self, done: int, message: str) -> None:
        if self.is_terminal:
            filled = self.WIDTH * done // self.total
            bar = "█" * filled + "·" * (self.WIDTH - filled)
            print(f"\r   {bar} epoch {done}/{self.total}  {message}", end="", flush=True)
            if done == self.total:
                print()
        elif done % max(self.total // 6, 1) == 0 or done == self.total:
            print(f"   epoch {done:3}/{self.total}  {message}")


def save_picture(losses: list[float], path: Path) -> None:
    """Draw the loss of every step, when Matplotlib is there."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print("No picture of the loss: that needs Matplotlib (pip install gradsmith[plot]).")
        return
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(losses, color="0.75", label="each step")
    axes.plot(smooth(losses), color="tab:blue", label="mean of 45 steps")
    axes.set(xlabel="step", ylabel="loss", title="Training on handwritten digits", yscale="log")
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
    print(f"The loss of each step is drawn in {os.path.relpath(path)}.")


def smooth(losses: list[float], width: int = 45) -> np.ndarray:
    """Running mean over the `width` latest values, fewer at the beginning."""
    sums = np.cumsum(losses)
    counts = np.minimum(np.arange(1, len(losses) + 1), width)
    return (sums - np.concatenate([np.zeros(min(width, len(sums))), sums[:-width]])) / counts


# ---- the program


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    gs.manual_seed(options.seed)
    images, labels, images_held_out, labels_held_out = split(options.seed)
    network = Network(getattr(gs, options.activation))
    print(f"{len(images)} handwritten digits to learn from, {len(images_held_out)} held out.\n")

    gradient_is_right = check_gradient(network, images[:BATCH], labels[:BATCH])
    print_graph(network.loss(images[:BATCH], labels[:BATCH]))

    print("Training:")
    progress, losses, start = Progress(options.epochs), [], time.perf_counter()
    for epoch, epoch_losses in enumerate(train(network, images, labels, options.epochs), start=1):
        losses += epoch_losses
        accuracy = network.accuracy(images_held_out, labels_held_out)
        progress.show(epoch, f"loss {np.mean(epoch_losses):.3f}  held-out accuracy {accuracy:.1%}")
    print(f"{len(losses)} steps in {time.perf_counter() - start:.1f} s.")
    save_picture(losses, options.picture)

    accuracy = network.accuracy(images_held_out, labels_held_out)
    print(f"\nHeld-out accuracy: {accuracy:.1%} (at least {REQUIRED_ACCURACY:.0%} is required).")
    return 0 if gradient_is_right and accuracy >= REQUIRED_ACCURACY else 1


def parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train a small network on handwritten digits.")
    parser.add_argument("--activation", default="relu", help="any op of one tensor (default: relu)")
    parser.add_argument("--epochs", type=int, default=30, help="passes over the training digits (default: 30)")
    parser.add_argument("--seed", type=int, default=0, help="seed of all random numbers (default: 0)")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="where to draw the loss")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
