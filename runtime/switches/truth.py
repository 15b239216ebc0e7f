"""What is switched on or off is said by a bool; the truth of other objects may be a mistake."""

from __future__ import annotations

from typing import Any

import numpy as np


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
