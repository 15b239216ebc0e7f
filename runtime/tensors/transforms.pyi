from collections.abc import Callable
from typing import Any

def plain_gradient(
    call: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    position: int,
    finish: Callable[[Any, Any, bool], Any],
) -> Any: ...
