"""Context managers and decorators that switch recording on and off in the calling thread."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from gradsmith.runtime import inplace
from gradsmith.runtime.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from gradsmith.runtime.tensor import TensorBase

__all__ = [
    "enable_grad",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "no_grad",
    "set_grad_enabled",
]


class _unsafe_preserve_version_counter:
    """Changes made to the tensors inside the block do not count.

    Unsafe: a backward that needs the old values will not notice. For changes that do not matter to anybody.
    """

    def __init__(self, tensors: Any) -> None:
        self.tensors = (tensors,) if isinstance(tensors, TensorBase) else tuple(tensors)

    def __enter__(self) -> None:
        self.versions = tuple(None if t.is_inference() else t._version for t in self.tensors)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for tensor, version in zip(self.tensors, self.versions):
            if version is not None:
                inplace.set_version(tensor, version)
