from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.graph.node import Node

def call_node(node: Node, given: tuple[Tensor | None, ...]) -> Tensor | tuple[Tensor | None, ...] | None: ...
