from typing import Any

from numpy.typing import NDArray

def add_to_rows(target: NDArray[Any], indices: NDArray[Any], values: NDArray[Any]) -> None: ...
