"""Context managers and decorators that switch recording, and other things of the calling thread, on and off."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from gradsmith.runtime.calls.inplace import set_version
from gradsmith.runtime.graph.tensor import TensorBase
from gradsmith.runtime.history.accumulate_grad import is_grad_layout_enforced, put_grad_layout_enforced
from gradsmith.runtime.switches.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from gradsmith.runtime.switches.threads import ThreadSwitch, is_multithreading_enabled, set_multithreading_enabled

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_multithreading_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
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
                set_version(tensor, version)


class enforce_grad_layout_policy(ThreadSwitch):
    """Let gradients be laid out in memory as their leaf is, or as they come.

    The gradient of a leaf that is stored without gaps has its strides. Where the first gradient that arrives has other
    ones, that costs a copy, which is saved when the policy is off. Copies that are made for other reasons always follow
    the policy. A `.grad` that was laid out otherwise by the user is added to as it is, with a warning, once, while the
    policy is on.

    Parameters
    ----------
    enable : bool
        True, which is what holds at first, makes gradients follow their leaf.
    """

    def __init__(self, enable: bool = True) -> None:
        super().__init__(enable)

    _get = staticmethod(is_grad_layout_enforced)
    _put = staticmethod(put_grad_layout_enforced)
