from typing import Any

from gradsmith.generated.tensor import Tensor

def kernels_of(tables: list[tuple[Any, int]]) -> dict[str, Kernel]: ...

class Kernel:
    def __call__(self, tensors: tuple[Any, ...], numbers: tuple[float, ...]) -> Tensor: ...
