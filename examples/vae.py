"""Learn to draw handwritten digits with a variational autoencoder.

    python examples/vae.py

An encoder turns an image into a normal distribution over a few numbers, and a decoder turns numbers drawn from it into
an image. Together they make a bound of the likelihood large. The exit code is 0 when that of images which were left out
is better than their likelihood under the mean image.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

import gradsmith as gs
import gradsmith.nn.functional as F
from gradsmith import nn

DATA = Path(__file__).resolve().parent / "data" / "digits.csv.gz"
SIDE, HIDDEN, LATENT = 8, 128, 6
HELD_OUT, BATCH = 297, 50
REQUIRED_GAIN = 1.0  # nats an image
SHADES = " .:-=+*#%@"


def images() -> gs.Tensor:
    """Pixels between 0 and 1, one row of 64 per digit."""
    return gs.from_numpy(np.loadtxt(DATA, delimiter=",", dtype=np.float32)[:, : SIDE**2] / 16)


class Autoencoder(nn.Module):
    """An encoder to the mean and the log variance of each latent number, and a decoder to the logits of the pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(SIDE**2, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 2 * LATENT))
        self.decoder = nn.Sequential(nn.Linear(LATENT, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, SIDE**2))

    def forward(self, x: gs.Tensor) -> gs.Tensor:
        """The bound for each image, in nats: how well it is drawn, less what its latent numbers tell about it."""
        mean, log_variance = self.encoder(x).chunk(2, 1)
        drawn = mean + (0.5 * log_variance).exp() * gs.randn_like(mean)
        told = 0.5 * (mean**2 + log_variance.exp() - log_variance - 1).sum(1)
        return log_likelihood(self.decoder(drawn), x) - told

    @gs.no_grad()
    def draw(self, count: int) -> gs.Tensor:
        return self.decoder(gs.randn(count, LATENT)).sigmoid()


def log_likelihood(logits: gs.Tensor, x: gs.Tensor) -> gs.Tensor:
    """Of each image, with pixels as probabilities of being black."""
    return -F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)


def train(model: Autoencoder, x: gs.Tensor, epochs: int) -> None:
    optimizer = gs.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        total = 0.0
        for chosen in gs.randperm(len(x)).split(BATCH):
            optimizer.zero_grad()
            loss = -model(x[chosen]).mean()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(chosen) / len(x)
        if (epoch + 1) % 5 == 0:
            print(f"   epoch {epoch + 1:2}   bound {-total:7.2f} nats an image")


def as_text(pixels: gs.Tensor) -> str:
    """Images beside each other in characters."""
    levels = (pixels.reshape(-1, SIDE, SIDE) * (len(SHADES) - 1)).round().to(gs.int64)
    return "\n".join(
        "   " + "  ".join("".join(SHADES[n] * 2 for n in row) for row in rows.tolist()) for rows in levels.unbind(1)
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Train a variational autoencoder on handwritten digits.")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    gs.manual_seed(options.seed)

    x = images()[gs.randperm(1797)]
    held_out, x = x[:HELD_OUT], x[HELD_OUT:]
    model = Autoencoder()
    train(model, x, options.epochs)
    with gs.no_grad():
        bound = model(held_out).mean().item()
        plain = log_likelihood(x.mean(0).clamp(1e-3, 1 - 1e-3).logit().expand_as(held_out), held_out).mean().item()
    print(f"\nDigits that it draws:\n{as_text(model.draw(6))}\n")
    print(f"Bound on images left out {bound:.2f} nats, likelihood of the mean image {plain:.2f}.")
    return 0 if bound > plain + REQUIRED_GAIN else 1


if __name__ == "__main__":
    sys.exit(main())
