from typing import Any

import numpy as np

def address_of(array: np.ndarray[Any, Any]) -> int: ...
def array_over(
    memory: np.ndarray[Any, Any], dtype: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> np.ndarray[Any, Any]: ...
