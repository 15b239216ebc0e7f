from typing import Any

import numpy as np

Layout = tuple[np.dtype[Any], tuple[int, ...], tuple[int, ...]]

def described(
    tensors: list[Any],
) -> tuple[list[np.ndarray[Any, Any]], list[int], list[int], list[int], list[Layout]]: ...
def copied_as_it_lies(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]: ...
