"""Find how well each part of a rod conducts heat from what thermometers said, through a simulation of many steps.

    python examples/heat_conductivity.py

The rod is warm on one side; thermometers see its heat spread. `scan` makes the steps of the simulation, and with
`checkpoint="sqrt"` keeps a few of its states for the gradient instead of all. L-BFGS fits the conductivity. The exit
code is 0 when it is within 5 % of the true one everywhere.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import gradsmith as gs

CELLS = 48
KNOTS = 6  # places between which the logarithm of the conductivity is linear
SECONDS = 0.1
THERMOMETERS = slice(2, CELLS, 5)
NOISE = 5e-3  # the temperatures of the rod are from 0 to 1
TRUE = (0.0, 0.4, -0.3, -0.5, 0.3, 0.1)
TOLERANCE = 0.05


def conductivity(knots: gs.Tensor) -> gs.Tensor:
    """At the borders between cells, from its logarithm at the knots."""
    places = gs.linspace(0, KNOTS - 1, CELLS - 1, dtype=knots.dtype)
    hats = (1 - (places[:, None] - gs.arange(KNOTS)).abs()).clamp(min=0)
    return (hats @ knots).exp()


def temperatures(knots: gs.Tensor, steps: int, checkpoint: str | None) -> gs.Tensor:
    """What the thermometers show after each step, (steps, thermometers)."""
    flow = conductivity(knots) * (SECONDS / steps * CELLS**2)
    ends = gs.zeros(1, dtype=knots.dtype)

    def step(state: tuple[gs.Tensor, gs.Tensor], _: None) -> tuple[tuple[gs.Tensor, gs.Tensor], gs.Tensor]:
        rod, flow = state
        moved = gs.cat([ends, flow * rod.diff(), ends])  # nothing flows through the ends
        rod = rod + moved.diff()
        return (rod, flow), rod[THERMOMETERS]

    start = (gs.arange(CELLS) < CELLS // 3).to(knots.dtype)
    return gs.scan(step, (start, flow), length=steps, checkpoint=checkpoint)[1]


def fitted(misfit: Callable[[gs.Tensor], gs.Tensor], rounds: int) -> gs.Tensor:
    """The knots that L-BFGS finds from a rod that is everywhere alike."""
    knots = gs.zeros(KNOTS, dtype=gs.float64, requires_grad=True)
    optimizer = gs.optim.LBFGS([knots], max_iter=5, line_search_fn="strong_wolfe")

    def closure() -> gs.Tensor:
        optimizer.zero_grad()
        loss = misfit(knots)
        loss.backward()
        return loss

    for number in range(rounds):
        loss = optimizer.step(closure)
        print(f"   round {number + 1:2}   misfit {loss.item():10.3e}")
    return knots.detach()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Fit the conductivity of a rod.")
    parser.add_argument(
        "--steps", type=int, default=2000, help="steps of the simulation; 1,000 are enough for it to be stable"
    )
    parser.add_argument("--rounds", type=int, default=6, help="rounds of the fit, of five steps each")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)

    gs.manual_seed(options.seed)
    true = gs.tensor(TRUE, dtype=gs.float64)
    seen = temperatures(true, options.steps, None)
    seen = seen + NOISE * gs.randn_like(seen)

    def misfit(knots: gs.Tensor) -> gs.Tensor:
        """1 where nothing is left but noise."""
        return (temperatures(knots, options.steps, "sqrt") - seen).square().mean() / NOISE**2

    knots = fitted(misfit, options.rounds)
    apart = (conductivity(knots) / conductivity(true) - 1).abs().max().item()
    print(f"Conductivity found: at most {apart:.1%} apart from the true one ({TOLERANCE:.0%} are allowed).")
    return 0 if apart <= TOLERANCE else 1


if __name__ == "__main__":
    sys.exit(main())
