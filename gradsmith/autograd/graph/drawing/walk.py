"""From the recorded graph to a picture of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gradsmith.autograd.graph.drawing.picture import Arrow, Box, Kind, Picture
from gradsmith.autograd.graph.saved_listing import saved_by
from gradsmith.runtime.custom_function.gradient_edge import GradientEdge
from gradsmith.runtime.graph.node import Node
from gradsmith.runtime.graph.tensor import TensorBase
from gradsmith.runtime.tensors.variable import gradient_node


class Root(NamedTuple):
    """Where a graph ends: a tensor and how its box is named, or None and a node alone."""

    name: str
    tensor: Any
    node: Node
    output_nr: int = 0


def picture_of(root: Any, names: Mapping[int, str], saved: bool, limit: int | None) -> Picture:
    """A picture of the nodes nearest to the roots, at most `limit`; `names` are those of tensors, by their identity."""
    roots = list(_roots_of(root, names))
    nodes = _nearest_first(one.node for one in roots)
    shown = nodes if limit is None else nodes[:limit]
    outputs = [one for one in roots if one.tensor is not None and not one.tensor.is_leaf]
    numbers = {id(node): place for place, node in enumerate(shown, start=len(outputs))}
    rest = len(outputs) + len(shown)
    boxes = [_output_box(one) for one in outputs] + [_node_box(node, names, saved) for node in shown]
    arrows = [Arrow(n, numbers.get(id(one.node), rest), _label(one.output_nr)) for n, one in enumerate(outputs)]
    arrows += _arrows_between(shown, numbers, rest)
    if len(shown) == len(nodes):
        return Picture(tuple(boxes), tuple(arrows))
    boxes.append(Box(Kind.REST, (f"{len(nodes) - len(shown):,} more nodes",)))
    note = f"The {len(shown):,} nodes nearest to the output, of {len(nodes):,}; draw(..., limit=None) shows all."
    return Picture(tuple(boxes), tuple(dict.fromkeys(arrows)), note)


# ---- roots


def _roots_of(root: Any, names: Mapping[int, str]) -> Iterator[Root]:
    parts = list(_parts_of(root))
    if not parts:
        raise ValueError("draw(): got no tensor to draw the graph of")
    for number, part in enumerate(parts):
        if isinstance(part, TensorBase):
            plain = "output" if len(parts) == 1 else f"output {number}"
            yield Root(names.get(id(part), plain), part, _node_of(part), part.output_nr)
        else:
            yield Root("", None, part)


def _parts_of(root: Any) -> Iterator[Any]:
    """The tensors and nodes in what `draw` was given."""
    if isinstance(root, (TensorBase, Node)):
        yield root
    elif isinstance(root, GradientEdge):
        yield root.node
    elif isinstance(root, Mapping):
        for part in root.values():
            yield from _parts_of(part)
    elif isinstance(root, Sequence) and not isinstance(root, (str, bytes)):
        for part in root:
            yield from _parts_of(part)
    else:
        raise TypeError(f"draw() takes a Tensor, a Node, a GradientEdge or several, got {type(root).__name__}")


def _node_of(tensor: Any) -> Node:
    if not tensor.requires_grad:
        raise RuntimeError(
            f"draw(): the tensor of shape {list(tensor.shape)} does not require grad, so no graph leads to it. Compute "
            "it from a tensor made with requires_grad=True, and not under no_grad()"
        )
    return gradient_node(tensor)


# ---- nodes


def _nearest_first(roots: Iterable[Node]) -> list[Node]:
    """All nodes below the roots, by their distance from the nearest of these."""
    found = {id(node): node for node in roots}
    waiting = deque(found.values())
    while waiting:
        for follower, _ in waiting.popleft().next_functions:
            if follower is not None and id(follower) not in found:
                found[id(follower)] = follower
                waiting.append(follower)
    return list(found.values())


def _arrows_between(shown: Sequence[Node], numbers: Mapping[int, int], rest: int) -> list[Arrow]:
    return [
        Arrow(numbers[id(node)], numbers.get(id(follower), rest), _label(nr))
        for node in shown
        for follower, nr in node.next_functions
        if follower is not None
    ]


def _label(output_nr: int) -> str:
    """Which result of a node an arrow leads to, where it is not the first."""
    return f"result {output_nr}" if output_nr else ""


# ---- boxes


def _output_box(root: Root) -> Box:
    return Box(Kind.OUTPUT, (root.name, _shape_and_dtype(root.tensor)))


def _node_box(node: Node, names: Mapping[int, str], saved: bool) -> Box:
    variable = getattr(node, "variable", None)
    if isinstance(variable, TensorBase):
        return Box(Kind.LEAF, (names.get(id(variable), "leaf"), _shape_and_dtype(variable)))
    results = tuple(_shape_and_dtype(result) for result in node._input_metadata)
    kept = tuple(f"saves {name} {list(array.shape)} {array.dtype}" for name, array in saved_by(node)) if saved else ()
    return Box(Kind.OP, (node.name(), *results, *kept))


def _shape_and_dtype(value: Any) -> str:
    return f"{list(value.shape)} {value.dtype}"
