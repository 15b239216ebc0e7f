"""The `domain` of an entry: which real numbers its arguments may be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gradsmith.generated.op_table import Interval

    from .case import Setting


def is_inside(number: float, domain: Interval) -> bool:
    above = number > domain.lower or (domain.includes_lower and number == domain.lower)
    return above and (number < domain.upper or (domain.includes_upper and number == domain.upper))


def numbers_of(value: Any) -> Iterator[float]:
    """Those of a number, of an array, or of a list of these, in which there may be None."""
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from numbers_of(part)
    elif value is not None:
        yield from np.ravel(value).real.tolist()


def is_in_domain(setting: Setting) -> bool:
    """Are all arguments within their domains? Outside of these an op may give any value."""
    return all(
        is_inside(number, domain)
        for name, domain in setting.subject.row.domain.items()
        for number in numbers_of(setting.values.get(name))
    )
