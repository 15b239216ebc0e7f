from typing import Any

from gradsmith.generated.tensor import Tensor

def of_data(data: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor | None: ...
