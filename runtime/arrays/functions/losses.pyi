from typing import Any

from numpy.typing import NDArray

def class_losses_of(x: NDArray[Any], target: NDArray[Any], ignore_index: int) -> tuple[NDArray[Any], NDArray[Any]]: ...
