from typing import Any

from numpy.typing import NDArray

from gradsmith.generated.tensor import Tensor

def store(op: str, out: Tensor, array: NDArray[Any]) -> Tensor: ...
