from typing import Any

from numpy.typing import NDArray

def linear_of(x: NDArray[Any], weight: NDArray[Any], bias: NDArray[Any] | None) -> NDArray[Any]: ...
