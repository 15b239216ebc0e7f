from collections.abc import Callable
from types import TracebackType
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.graph.tensor import TensorBase

class HooksBlock:
    pack_hook: Callable[[Any], Any]
    unpack_hook: Callable[[Any], Any]
    def __enter__(self) -> None: ...
    def __exit__(
        self,
        kind: type[BaseException] | None = ...,
        value: BaseException | None = ...,
        traceback: TracebackType | None = ...,
    ) -> None: ...

def refuse_hooks(message: str | None) -> str | None: ...

class SavedTensor:
    @property
    def data(self) -> Any: ...
    @property
    def unpack_hook(self) -> Callable[[Any], Tensor] | None: ...
    def unpack(self) -> Tensor | None: ...
    def register_hooks(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None: ...

class KeptTensor:
    def __init__(self, tensor: TensorBase) -> None: ...
    def get(self) -> Tensor: ...
