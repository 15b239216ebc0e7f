from typing import Any

import numpy as np
from numpy.typing import NDArray

def categories_at(weights: NDArray[Any], levels: NDArray[Any]) -> NDArray[np.int64]: ...
def first_greatest(rows: NDArray[Any], ends: NDArray[Any]) -> NDArray[np.int64]: ...
