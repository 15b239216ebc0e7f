from collections.abc import Callable
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.graph.node import Node
from gradsmith.runtime.history.saved_hooks import SavedTensor

class FunctionNode(Node):
    to_save: tuple[Any, ...] | None
    saved_for_forward: tuple[Any, ...] | None
    dirty_tensors: tuple[Any, ...] | None
    non_differentiable: tuple[Any, ...] | None
    materialize_grads: bool
    _is_pure_view: bool
    _materialize_non_diff_grads: bool
    @property
    def needs_input_grad(self) -> tuple[bool, ...]: ...
    @property
    def saved_tensors(self) -> tuple[Tensor | None, ...]: ...
    @property
    def _raw_saved_tensors(self) -> tuple[SavedTensor, ...]: ...

def backward_of(cls: type) -> Callable[..., Any]: ...
