from typing import Any

import numpy as np
from numpy.typing import NDArray

def is_sorted_by_digits(dtype: np.dtype[Any], length: int) -> bool: ...
def order_of_rows(rows: NDArray[Any]) -> NDArray[np.int64]: ...
