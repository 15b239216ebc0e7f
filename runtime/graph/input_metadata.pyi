from typing import Any, NamedTuple

class GradientMetadata(NamedTuple):
    shape: tuple[int, ...]
    dtype: Any
    device: Any
    is_nested_tensor: bool = ...
    is_cpp_nested_tensor: bool = ...
