"""What libraries put around functions of places that are called under `vmap`."""

from contextlib import nullcontext

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex(nullcontext[None]):
    """A block without effect: numbers under `vmap` are indices anyway."""

    def __init__(self) -> None:
        super().__init__()
