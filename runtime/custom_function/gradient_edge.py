"""`GradientEdge`: a place in the graph where a gradient arrives, without the tensor whose gradient it is."""

from __future__ import annotations

from typing import Any, NamedTuple


class GradientEdge(NamedTuple):
    """One incoming gradient of a node.

    `backward` and `grad` take it in place of a tensor. It keeps the graph below `node` alive, and no tensor.
    """

    node: Any  # Node
    output_nr: int
    ownership_token: Any = None  # for PyTorch's signature: `node` itself owns its part of the graph
