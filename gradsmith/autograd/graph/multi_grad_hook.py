"""A hook for the gradients of several tensors together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from gradsmith.runtime.engine.introspection import (
    current_graph_task_id,
    is_graph_task_active,
    will_engine_execute_node,
)
from gradsmith.runtime.switches.hooks import GradientCounter, RemovableHandle
from gradsmith.runtime.tensors.variable import gradient_node

__all__ = ["register_multi_grad_hook"]

_MODES = ("all", "any")


def register_multi_grad_hook(
    tensors: Sequence[Any], fn: Callable[[Any], object], *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` once per backward, for the gradients of several tensors.

    Parameters
    ----------
    tensors : sequence of Tensor
        Tensors whose gradients are waited for, except those that the backward does not reach.
    fn : callable
        With mode "all" it is called as ``fn(grads)`` when the last of the gradients has been computed, with a list that
        has None for each tensor without one. With mode "any" it is called as ``fn(grad)`` for the first of them. What
        it returns is ignored.
    mode : {"all", "any"}
        See `fn`.

    Returns
    -------
    RemovableHandle
        Its ``remove()`` takes the hook away.

    Examples
    --------
    >>> a, b = gradsmith.ones(2, requires_grad=True), gradsmith.ones(2, requires_grad=True)
    >>> c, d = a * b, a + b
    >>> hook = lambda grads: print([grad is not None for grad in grads])
    >>> handle = gradsmith.autograd.graph.register_multi_grad_hook((a, c, d), hook)
    >>> c.sum().backward()
    [True, True, False]
    """
    if mode not in _MODES:
        raise ValueError(f"Expects mode to be one of {_MODES} but got {mode}")
    if mode == "any":
        first = _First(fn)
        return _MultiHandle([tensor.register_hook(first) for tensor in tensors if tensor.requires_grad])
    for index, tensor in enumerate(tensors):
        if not tensor.requires_grad:
            raise RuntimeError(
                f"cannot register a hook on a tensor that doesn't require gradient: tensors[{index}], of shape "
                f"{list(tensor.shape)}"
            )
    collector = _Collector(tensors, fn)
    return _MultiHandle([tensor.register_hook(_Arrival(collector, i)) for i, tensor in enumerate(tensors)])


class _MultiHandle(RemovableHandle):
    def __init__(self, handles: list[RemovableHandle]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


class _PerRun:
    """Something kept for each backward that runs, and dropped when it has ended, however it has."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._kept: dict[int, Any] = {}

    def get(self) -> Any:
        run = current_graph_task_id()
        if run not in self._kept:
            self._kept = {other: kept for other, kept in self._kept.items() if is_graph_task_active(other)}
            self._kept[run] = self._make()
        return self._kept[run]


class _First:
    """The hook of mode "any"."""

    def __init__(self, fn: Callable[[Any], object]) -> None:
        self.fn = fn
        self.lock = threading.Lock()
        self.seen = _PerRun(list)

    def __call__(self, grad: Any) -> None:
        with self.lock:
            seen = self.seen.get()
            seen.append(True)
        if len(seen) == 1:
            self.fn(grad)


class _Run:
    """Gradients that one backward has delivered so far."""

    def __init__(self, nodes: list[Any]) -> None:
        self.missing = sum(will_engine_execute_node(node) for node in nodes)
        self.grads: list[Any] = [None] * len(nodes)


class _Collector:
    """State shared by the hooks of mode "all"."""

    def __init__(self, tensors: Sequence[Any], fn: Callable[[Any], object]) -> None:
        nodes = [gradient_node(tensor) for tensor in tensors]
        self.fn = fn
        self.lock = threading.Lock()
        self.runs = _PerRun(lambda: _Run(nodes))

    def arrive(self, index: int, grad: Any) -> None:
        with self.lock:
            run = self.runs.get()
            run.grads[index] = grad
            run.missing -= 1
        if run.missing == 0:
            self.fn(run.grads)


class _Arrival(GradientCounter):
    """The hook of one tensor."""

    def __init__(self, collector: _Collector, index: int) -> None:
        self.collector = collector
        self.index = index

    def __call__(self, grad: Any) -> None:
        self.collector.arrive(self.index, grad)
