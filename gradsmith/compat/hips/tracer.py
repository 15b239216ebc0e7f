"""What HIPS programs take from the tracer: values of boxes, and boxes of a trace that a library opens itself.

A library that asks whether a result depends on an argument makes a box of the argument, calls the function, and looks
whether the result is a box of the same trace. Here that is a question to the graph: whether it goes back to the start.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from gradsmith.autograd.function import Function as CustomFunction
from gradsmith.compat.hips.boxes import ArrayBox, Box, getval, leaf_of
from gradsmith.compat.hips.containers import mapped_leaves
from gradsmith.compat.hips.differential_operators import inside_a_trace
from gradsmith.compat.hips.extend import notrace_primitive, primitive, register_notrace

__all__ = [
    "Box", "JVPNode", "Node", "VJPNode", "getval", "isbox", "new_box", "notrace_primitive", "primitive",
    "register_notrace", "trace_of", "trace_stack",
]  # fmt: skip


def isbox(value: Any) -> bool:
    """Whether a value is a box."""
    return isinstance(value, ArrayBox)


class TraceStack:
    """Traces that are open, by numbers."""

    top = -1

    @contextlib.contextmanager
    def new_trace(self) -> Iterator[int]:
        self.top += 1
        try:
            with inside_a_trace():
                yield self.top
        finally:
            self.top -= 1


trace_stack = TraceStack()


class Node:
    """A mark of the start of a trace; the graph itself is of other nodes."""

    @classmethod
    def new_root(cls, *args: Any, **kwargs: Any) -> Any:
        root = cls.__new__(cls)
        root.initialize_root(*args, **kwargs)
        return root

    def initialize_root(self) -> None:
        self.parents: list[Any] = []


class VJPNode(Node):
    def initialize_root(self) -> None:
        self.parents, self.vjp = [], lambda g: ()


class JVPNode(Node):
    def initialize_root(self, g: Any) -> None:  # type: ignore[override]
        self.g = g


class TracedTuple(tuple[Any, ...]):
    """A tuple of boxes of a trace."""

    _trace = -1


class TracedList(list[Any]):
    """A list of boxes of a trace."""

    _trace = -1


class TracedDict(dict[Any, Any]):
    """A dict of boxes of a trace."""

    _trace = -1


_CONTAINERS: dict[type, Any] = {tuple: TracedTuple, list: TracedList, dict: TracedDict}


class Start(CustomFunction):
    """The step from a value to its box; its node knows the trace."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, trace: int) -> Any:
        ctx.start_of = trace
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        return *gradients, None


def new_box(value: Any, trace: int, node: Any) -> Any:
    """A box of a value, or a container of boxes, at the start of a trace; what has no derivative stays as it is."""

    def started(leaf: Any) -> Any:
        try:
            tensor = leaf_of(leaf)
        except TypeError:
            return leaf
        return ArrayBox(Start.apply(tensor if tensor.requires_grad else tensor.detach().requires_grad_(), trace))

    if type(value) not in _CONTAINERS:
        leaf_of(value)  # an error where there is no derivative by it
        return started(value)
    found = _CONTAINERS[type(value)](mapped_leaves(started, value))
    found._trace = trace
    return found


def trace_of(box: ArrayBox) -> int:
    """The number of the innermost of the traces by `new_box` that a box comes from; -1 where there is none."""
    seen, waiting, found = set(), [box.tensor.grad_fn], -1
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            found = max(found, getattr(node, "start_of", -1))
            waiting += [before for before, _ in node.next_functions]
    return found
