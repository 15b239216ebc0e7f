"""The recorded graph: its nodes and edges, and what it keeps for backward.

>>> import gradsmith as gs
>>> x = gs.ones(2, requires_grad=True)
>>> y = (x * x).sum()
>>> isinstance(y.grad_fn, gs.autograd.graph.Node)
True
>>> [node.name() for node, _ in y.grad_fn.next_functions]
['MulBackward0']
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gradsmith.autograd.graph.multi_grad_hook import register_multi_grad_hook
from gradsmith.autograd.graph.saved_tensors import (
    allow_mutation_on_saved_tensors,
    disable_saved_tensors_hooks,
    save_on_cpu,
    saved_tensors_hooks,
    write_guard,
)
from gradsmith.names.missing import missing_attribute
from gradsmith.runtime.calls import inplace
from gradsmith.runtime.custom_function.gradient_edge import GradientEdge
from gradsmith.runtime.engine.node_call import call_node
from gradsmith.runtime.graph.node import Node
from gradsmith.runtime.graph.tensor import TensorBase
from gradsmith.runtime.history.saved_hooks import SavedTensor
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.tensors.variable import gradient_node

if TYPE_CHECKING:
    from gradsmith.autograd.graph.drawing import GraphDrawing as GraphDrawing
    from gradsmith.autograd.graph.drawing import draw as draw
    from gradsmith.autograd.graph.saved_listing import SavedEntry as SavedEntry
    from gradsmith.autograd.graph.saved_listing import SavedListing as SavedListing
    from gradsmith.autograd.graph.saved_listing import list_saved as list_saved

__all__ = [
    "GradientEdge",
    "GraphDrawing",
    "Node",
    "SavedEntry",
    "SavedListing",
    "SavedTensor",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "draw",
    "get_gradient_edge",
    "increment_version",
    "list_saved",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "write_guard",
]


def __getattr__(name: str) -> Any:
    """Drawings, and lists of what the graph keeps, which few programs make."""
    if name in ("GraphDrawing", "draw"):
        return getattr(importlib.import_module(f"{__name__}.drawing"), name)
    if name in ("SavedEntry", "SavedListing", "list_saved"):
        return getattr(importlib.import_module(f"{__name__}.saved_listing"), name)
    raise missing_attribute(__name__, name)


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """Place in the graph where the gradient of `tensor` arrives.

    ``grad(loss, get_gradient_edge(x))`` is ``grad(loss, x)``, and the edge does not keep `x` alive.

    Raises
    ------
    RuntimeError
        When the tensor does not require grad.
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients: its shape is "
            f"{list(tensor.shape)}. Call requires_grad_() on it before the computation."
        )
    return GradientEdge(gradient_node(tensor), tensor.output_nr)


def _get_grad_fn_or_grad_acc(tensor: Any) -> Node:
    """The node that takes the gradient of `tensor`, or the node of an edge."""
    edge = tensor if isinstance(tensor, GradientEdge) else get_gradient_edge(tensor)
    node: Node = edge.node
    return node


def increment_version(tensor: Any) -> None:
    """Count an in-place change of a tensor, or of each of several, that no op of gradsmith has made.

    After writing to the memory of a tensor by other means this lets a backward that needs the old values notice.
    Inference tensors do not count changes.
    """
    if not isinstance(tensor, (TensorBase, Iterable)):
        raise RuntimeError(f"increment_version expect a Iterable[Tensor] as input, got {type(tensor).__name__}")
    for one in (tensor,) if isinstance(tensor, TensorBase) else tensor:
        if not isinstance(one, TensorBase):
            raise RuntimeError(
                f"increment_version expects each element of the iterable to be a tensor, got {type(one).__name__}"
            )
        inplace.increment_version(one)


upcalls.fill(call_node=call_node)
