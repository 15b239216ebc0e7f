from typing import Any

from numpy.typing import NDArray

def few_among(elements: Any, tests: Any, invert: bool) -> NDArray[Any] | None: ...
