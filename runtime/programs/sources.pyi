from collections.abc import Sequence
from typing import Any

from gradsmith.generated.tensor import Tensor

def values_of(sources: Sequence[Any], leaves: Sequence[Any]) -> tuple[Tensor, ...]: ...
