from gradsmith.generated.tensor import Tensor

def run_backward(roots: list[Tensor], grads: list[Tensor | None], keep_graph: bool, create_graph: bool) -> None: ...
def run_backward_to(
    roots: list[Tensor], grads: list[Tensor | None], keep_graph: bool, create_graph: bool, inputs: list[Tensor]
) -> None: ...
def run_grad(
    roots: list[Tensor],
    grads: list[Tensor | None],
    keep_graph: bool,
    create_graph: bool,
    inputs: list[Tensor],
    allow_unused: bool = True,
) -> list[Tensor | None]: ...
def unused_input(inputs: list[Tensor], index: int) -> RuntimeError: ...
