from collections.abc import Sequence

from gradsmith.generated.tensor import Tensor

def taps_alone(
    grid: Tensor, sizes: Sequence[int], nearest: bool, padding: int, aligned: bool
) -> tuple[Tensor, Tensor | None] | None: ...
def places_alone(grid: Tensor, sizes: Sequence[int], nearest: bool, padding: int, aligned: bool) -> Tensor | None: ...
