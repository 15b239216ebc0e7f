"""Questions about fake tensors, with which PyTorch's compiler follows a program. There are none here."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["FakeTensor", "is_fake"]


class FakeTensor:
    """For `isinstance` only: no tensor is one. ``gradsmith.empty(3, device="meta")`` has no values either."""

    def __new__(cls, *args: Any, **named: Any) -> NoReturn:
        raise TypeError("there are no fake tensors in gradsmith; tensors on the device 'meta' have no values either")


def is_fake(x: object) -> bool:
    """Whether something is a fake tensor, or has one in it: never."""
    return False
