from typing import Any

from gradsmith.runtime.graph.tensor import TensorBase

def attributes_if_any(tensor: TensorBase) -> dict[str, Any]: ...
