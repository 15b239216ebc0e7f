from typing import Any

from numpy.typing import NDArray

def rise(order: int, a: NDArray[Any], l: NDArray[Any]) -> NDArray[Any]: ...
