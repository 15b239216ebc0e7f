from typing import Any

from gradsmith.runtime.tensor import TensorBase

def attributes_if_any(tensor: TensorBase) -> dict[str, Any]: ...
