from typing import Any

from gradsmith.generated.tensor import Tensor

def run_backward(roots: list[Any], grads: list[Tensor], keep_graph: bool, create_graph: bool) -> None: ...
def run_backward_to(
    roots: list[Any], grads: list[Tensor], keep_graph: bool, create_graph: bool, inputs: list[Any]
) -> None: ...
def run_grad(
    roots: list[Any],
    grads: list[Tensor],
    keep_graph: bool,
    create_graph: bool,
    inputs: list[Any],
    allow_unused: bool = True,
) -> list[Tensor | None]: ...
def expected_gradient(edge: Any) -> tuple[tuple[int, ...] | None, Any, Any]: ...
def unused_input(inputs: list[Any], index: int) -> RuntimeError: ...
