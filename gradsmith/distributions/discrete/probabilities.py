"""What distributions have in common that are given by probabilities or by logits."""

from __future__ import annotations

from typing import Any

from gradsmith.distributions.utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits
from gradsmith.generated.tensor import Tensor

__all__ = ["BinaryParameter", "require_one"]


def require_one(probs: Any, logits: Any) -> None:
    """Raise an error unless exactly one of the two is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class BinaryParameter:
    """A probability or its logit; the other one is computed when it is asked for."""

    def _set_parameter(self, probs: Any, logits: Any, *others: Any) -> list[Tensor]:
        """Keep the one that is given, broadcast with other parameters, which are returned."""
        require_one(probs, logits)
        name = "logits" if probs is None else "probs"
        self.__dict__[name], *broadcast = broadcast_all(logits if probs is None else probs, *others)
        return broadcast

    @property
    def _param(self) -> Tensor:
        """One of the two that is there."""
        found: Tensor = self.__dict__["probs" if "probs" in self.__dict__ else "logits"]
        return found

    @property
    def param_shape(self) -> tuple[int, ...]:
        """The shape of the parameter."""
        return self._param.shape

    @lazy_property
    def logits(self) -> Tensor:
        """The logarithm of the odds."""
        return probs_to_logits(self.__dict__["probs"], is_binary=True)

    @lazy_property
    def probs(self) -> Tensor:
        """The probability."""
        return logits_to_probs(self.__dict__["logits"], is_binary=True)
