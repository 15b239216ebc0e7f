from typing import Any

from numpy.typing import NDArray

def triangle_places(rows: int, columns: int, offset: int, upper: bool, wide: bool) -> NDArray[Any]: ...
