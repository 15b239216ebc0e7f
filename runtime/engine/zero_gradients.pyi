from collections.abc import Callable
from typing import Any

from gradsmith.generated.tensor import Tensor

def is_nan_safe_enabled() -> bool: ...
def set_nan_safe_enabled(
    mode: bool, find_zeros: Callable[[Any, Tensor], Tensor | None], keep_zeros: Callable[[Tensor, Tensor], Tensor]
) -> None: ...
