"""Attributes that PyTorch's tensors have and ours have not: asking for one says why.

They stand in the class as descriptors that raise, since a ``__getattr__`` would make every other attribute slower to
find. `hasattr` is False for them, and a program may set them.
"""

from __future__ import annotations

from typing import Any, NoReturn

from gradsmith.names.of_tensors import NAMES


class Absent:
    """An attribute that is not there."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type) -> NoReturn:
        from gradsmith.names.missing import reason_for

        what = f"type object {owner.__name__!r}" if instance is None else f"{owner.__name__!r} object"
        reason = reason_for("torch", f"Tensor.{self.name}")
        raise AttributeError(f"{what} has no attribute {self.name!r}: {reason}", name=self.name)


def mark_absent(cls: type) -> None:
    """Let the class of tensors say why it has not what PyTorch's has."""
    for name in NAMES:
        if not hasattr(cls, name):
            setattr(cls, name, Absent(name))
