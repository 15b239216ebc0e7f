from collections.abc import Callable
from typing import Any

def plain_gradient(
    call: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    position: int,
    finish: Callable[[Any, Any, bool], Any],
) -> Any: ...
def plain_gradient_of_array(
    call: Any,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    position: int,
    finish: Callable[[Any, Any, bool], Any],
) -> Any: ...
