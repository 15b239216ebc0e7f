from typing import Any

from numpy.typing import NDArray

def eigh(a: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]: ...
