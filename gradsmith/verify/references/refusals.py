"""The errors by which an op, or its reference, says that it does not take some arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .expected import NotAvailable

if TYPE_CHECKING:
    from gradsmith.generated.op_table import OpRow

REFUSALS = (
    RuntimeError,
    ValueError,
    IndexError,
    TypeError,
    ArithmeticError,
    KeyError,
    NotAvailable,
    np.linalg.LinAlgError,
)

_OF_AN_OP = re.compile(r"[\w.]+\(\):? |Dimension out of range|.*(expects? |is not defined|not implemented)")


def is_deliberate(error: Exception, row: OpRow) -> bool:
    """Whether an op says itself that it does not take something, and does not just meet an error of NumPy's."""
    words = str(error)
    return isinstance(error, NotImplementedError) or words.startswith(row.base) or bool(_OF_AN_OP.match(words))


def lacks_requirement(row: OpRow, call: Callable[[], object]) -> bool:
    """Is a call refused by what the entry requires."""
    try:
        call()
    except RuntimeError as error:
        return str(error).startswith(tuple(f"{row.base}(): {message}" for message in row.requires))
    except REFUSALS:
        return False
    return False
