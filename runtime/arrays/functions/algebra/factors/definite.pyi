from typing import Any

import numpy as np
from numpy.typing import NDArray

def factor_definite(a: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]: ...
def slopes_of_factors(factors: NDArray[Any], gradients: NDArray[Any]) -> NDArray[Any]: ...
