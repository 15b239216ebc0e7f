"""Solve a differential equation by a neural network that is trained to obey it.

    python examples/pinn.py

The network is a function u(x) on the line from 0 to 1, zero at both ends. Its loss is how far u'' is from the right
side of Poisson's equation; so training differentiates a loss that holds a second derivative. The exit code is 0 when
the network is close to the solution, which is known.
"""

from __future__ import annotations

import argparse
import math
import sys

import gradsmith as gs
from gradsmith import nn

POINTS = 64
TOLERANCE = 2e-3


def solution(x: gs.Tensor) -> gs.Tensor:
    return gs.sin(math.pi * x) + 0.5 * gs.sin(3 * math.pi * x)


def right_side(x: gs.Tensor) -> gs.Tensor:
    """The second derivative of the solution."""
    return -(math.pi**2) * (gs.sin(math.pi * x) + 4.5 * gs.sin(3 * math.pi * x))


class Network(nn.Module):
    """Two hidden layers; the factor in front makes it zero at both ends."""

    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, x: gs.Tensor) -> gs.Tensor:
        return x * (1 - x) * self.layers(x)


def derivative(y: gs.Tensor, x: gs.Tensor) -> gs.Tensor:
    """Of each element of `y` by the element of `x` that it was computed from, itself part of the graph."""
    (found,) = gs.autograd.grad(y.sum(), x, create_graph=True)
    return found


def loss_of(network: Network, x: gs.Tensor) -> gs.Tensor:
    """Mean square of what is wrong with the equation."""
    u = network(x)
    return ((derivative(derivative(u, x), x) - right_side(x)) ** 2).mean()


def train(network: Network, rounds: int) -> None:
    x = gs.linspace(0, 1, POINTS, dtype=gs.float64)[:, None].requires_grad_()
    optimizer = gs.optim.LBFGS(network.parameters(), max_iter=50, history_size=50, line_search_fn="strong_wolfe")

    def closure() -> gs.Tensor:
        optimizer.zero_grad()
        loss = loss_of(network, x)
        loss.backward()
        return loss

    for number in range(rounds):
        loss = optimizer.step(closure)
        print(f"   round {number + 1:2}   loss {loss.item():10.3e}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Solve Poisson's equation by a neural network.")
    parser.add_argument("--rounds", type=int, default=12, help="rounds of 50 iterations of L-BFGS")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    gs.manual_seed(options.seed)

    network = Network().double()
    train(network, options.rounds)
    x = gs.linspace(0, 1, 501, dtype=gs.float64)[:, None]
    with gs.no_grad():
        error = (network(x) - solution(x)).abs().max().item()
    print(f"The network is within {error:.1e} of the solution.")
    return 0 if error < TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
