from typing import Any

from numpy.typing import NDArray

def searchsorted_of(
    sequence: NDArray[Any],
    a: NDArray[Any],
    out_int32: bool,
    right: bool,
    side: str | None,
    sorter: NDArray[Any] | None,
) -> NDArray[Any]: ...
