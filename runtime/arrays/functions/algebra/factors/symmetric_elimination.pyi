from typing import Any

import numpy as np
from numpy.typing import NDArray

def eliminate_symmetric(
    a: NDArray[Any], hermitian: bool
) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int32]]: ...
def substitute_symmetric(a: NDArray[Any], pivots: NDArray[Any], x: NDArray[Any], hermitian: bool) -> NDArray[Any]: ...
