"""What is switched on or off is said by a bool; the truth of other objects may be a mistake."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def truth_of(value: Any, op: str, argument: str) -> bool:
    """`value` as a bool, if it is one, of Python or NumPy.

    Raises
    ------
    TypeError
        It is anything else.
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f"{op}(): argument '{argument}' (position 1) must be bool, not {type(value).__name__}")


def with_flag(op: str, tensor: T, requires_grad: Any) -> T:
    """A new tensor that requires grad, or does not, as a factory's argument says."""
    new: Any = tensor
    if requires_grad is True:
        new.requires_grad_()
    check_flag(op, requires_grad)
    return tensor


def check_flag(op: str, requires_grad: Any) -> None:
    """TypeError for what is neither a bool nor left out: the text "False" is true."""
    if requires_grad is not None and not isinstance(requires_grad, bool):
        raise TypeError(f"{op}(): argument 'requires_grad' must be bool, not {type(requires_grad).__name__}")
