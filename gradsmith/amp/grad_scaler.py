"""`GradScaler` as PyTorch's is when it is not enabled."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, TypeVar

T = TypeVar("T")


class GradScaler:
    """What programs in mixed precision scale their loss with. It is not enabled: a loss is what it was.

    Parameters
    ----------
    device : str
        The device whose float16 gradients would be scaled.
    init_scale, growth_factor, backoff_factor, growth_interval : number
        Kept for programs that ask for them.
    enabled : bool
        True warns that there is nothing to enable.

    Examples
    --------
    >>> import gradsmith as gs
    >>> w = gs.ones(1, requires_grad=True)
    >>> optimizer, scaler = gs.optim.SGD([w], lr=0.5), gs.amp.GradScaler(enabled=False)
    >>> scaler.scale((w * w).sum()).backward()
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> w
    tensor([0.], requires_grad=True)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        if enabled:
            warnings.warn(
                f"GradScaler is enabled for {device!r}, but gradsmith computes in the precision of the parameters, on "
                "the CPU. Disabling.",
                stacklevel=2,
            )
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval

    def is_enabled(self) -> bool:
        """Whether losses are scaled: never."""
        return False

    def scale(self, outputs: T) -> T:
        """The outputs as they are."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Nothing: gradients are not scaled."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """A step of the optimizer, with these arguments and its result."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | None = None) -> None:
        """Nothing: there is no scale."""

    def get_scale(self) -> float:
        """One."""
        return 1.0

    def get_growth_factor(self) -> float:
        """The factor that was given."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Keep another factor."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """The factor that was given."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Keep another factor."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """The interval that was given."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Keep another interval."""
        self._growth_interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        """An empty dict, as PyTorch's has when it is not enabled."""
        return {}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Nothing: there is no state."""
