from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_ORDER: int

class Recurrence(IntEnum):
    CHEBYSHEV = ...
    HERMITE_H = ...
    HERMITE_HE = ...
    LAGUERRE = ...
    LEGENDRE = ...

def put_polynomial(
    x: NDArray[np.floating[Any]],
    n: NDArray[np.float64],
    out: NDArray[np.floating[Any]],
    order: int,
    recurrence: int,
    first: float,
    constant: float,
    shifted: bool,
) -> None: ...
