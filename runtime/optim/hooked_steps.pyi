from collections.abc import Callable
from typing import Any

def hooked(
    step: Callable[..., Any],
    hooks_before: dict[int, Any],
    hooks_after: dict[int, Any],
    with_hooks: Callable[..., Any],
    in_trace: Callable[..., Any],
) -> Callable[..., Any]: ...
