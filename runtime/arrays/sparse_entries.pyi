from typing import Any

from numpy.typing import NDArray

def read_entries(products: list[NDArray[Any]], colors: Any, places: Any, out: Any) -> None: ...
