from typing import Any

from numpy.typing import NDArray

def runs(count: int, differs: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]: ...
