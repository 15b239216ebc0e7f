"""What the relaxed distributions of classes share."""

from __future__ import annotations

from typing import Any

from gradsmith.distributions.combined.transformed_distribution import TransformedDistribution
from gradsmith.generated.tensor import Tensor


class Relaxed(TransformedDistribution):
    """A transformed distribution whose parameters are those of the distribution that is transformed."""

    base_dist: Any
    has_rsample = True

    @property
    def temperature(self) -> Tensor:
        """The temperature."""
        return self.base_dist.temperature  # type: ignore[no-any-return]

    @property
    def logits(self) -> Tensor:
        """Logarithms of the odds of 1, or of the probabilities of the classes."""
        return self.base_dist.logits  # type: ignore[no-any-return]

    @property
    def probs(self) -> Tensor:
        """The probability of 1, or the probabilities of the classes."""
        return self.base_dist.probs  # type: ignore[no-any-return]
