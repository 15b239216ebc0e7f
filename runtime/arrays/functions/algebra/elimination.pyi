from typing import Any

import numpy as np
from numpy.typing import NDArray

def eliminate(a: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]: ...
def exchanged_rows(pivots: NDArray[np.int32], m: int) -> NDArray[np.intp]: ...
