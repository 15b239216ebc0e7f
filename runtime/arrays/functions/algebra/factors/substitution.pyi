from typing import Any

from numpy.typing import NDArray

def substitute(a: NDArray[Any], x: NDArray[Any], upper: bool, unitriangular: bool) -> NDArray[Any]: ...
