from typing import Any

from numpy.typing import NDArray

def index_backward_of(a: NDArray[Any], shape: tuple[int, ...], index: tuple[object, ...]) -> NDArray[Any]: ...
