from typing import Any

from numpy.typing import NDArray

def add_at_places(sums: NDArray[Any], places: NDArray[Any], values: NDArray[Any]) -> None: ...
