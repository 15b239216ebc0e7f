"""What an op does not do for a function of NumPy's, the function of that name of `gradsmith.numpy` does or refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Refused(TypeError):
    """What the op of a row does not do."""


def by_namespace(
    function: Callable[..., Any] | None, args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> Any:
    """What the function gives for a call that ended in an error of the op's.

    Ops raise what PyTorch raises. A program of NumPy's expects NumPy's kinds of errors, which are those of the
    function; where the kind is the same, the op's own words stay.
    """
    if function is None:
        raise error
    try:
        return function(*args, **kwargs)
    except Exception as other:
        if isinstance(error, Refused) or not isinstance(error, type(other)):
            raise other from None
    raise error
