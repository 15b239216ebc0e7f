from typing import Any

import numpy as np

def described(tensors: list[Any]) -> tuple[list[np.ndarray[Any, Any]], list[int], list[int], list[int]]: ...
