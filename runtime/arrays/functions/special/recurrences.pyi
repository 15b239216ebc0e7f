from enum import IntEnum

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
    x: NDArray[np.float64],
    n: NDArray[np.float64],
    out: NDArray[np.float64],
    order: int,
    recurrence: int,
    first: float,
    constant: float,
) -> None: ...
