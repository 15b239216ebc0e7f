from collections.abc import Sequence

from gradsmith.runtime.graph.tensor import TensorBase

def resize(op: str, self: TensorBase, size: tuple[int, ...]) -> None: ...
def set_array(
    self: TensorBase,
    source: TensorBase | None,
    storage_offset: int | None,
    size: Sequence[int] | None,
    stride: Sequence[int] | None,
) -> None: ...
