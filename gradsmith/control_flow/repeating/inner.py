"""Traces within a trace: a step of a loop is traced apart."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradsmith.control_flow.repeating.loop import Untraceable
from gradsmith.runtime.batching.batch import is_batched_tensor, trace_of_thread
from gradsmith.runtime.graph.tensor import array_behind, from_array
from gradsmith.runtime.programs.trace import Trace
from gradsmith.runtime.switches.grad_mode import no_grad


class _Inner:
    """Raises `Untraceable` in place of errors. Users never see it: the loop is then traced step by step."""

    def __init__(self, outer: Any) -> None:
        self.outer = outer

    def error(self, text: str, kind: type[Exception] = RuntimeError) -> Exception:
        return Untraceable(text)

    def escape(self, what: str) -> Exception:
        return Untraceable(what)

    def lasting(self, what: str) -> Exception:
        return Untraceable(what)

    def ended(self) -> Any:
        return self.outer


@contextmanager
def trace_inside() -> Iterator[Trace]:
    """A trace within that of the thread, which leaves nothing behind: no write, no `.grad`, no random number drawn."""
    outer = trace_of_thread()
    with Trace(_Inner(outer.call.ended())) as trace:
        trace.planner = outer.planner
        try:
            yield trace
        finally:
            trace.restore()
            _restore_gradients(trace)
            trace.release()


def _restore_gradients(trace: Trace) -> None:
    with no_grad():
        for leaf, initial in trace.touched.values():
            if not is_batched_tensor(leaf):
                leaf.grad = initial


def apart(tensor: Any) -> Any:
    """Another tensor of the same memory: a step may capture the tensor itself."""
    return from_array(array_behind(tensor).view())


def require_repeatable(trace: Trace) -> None:
    """Refuse what a program of one step would not do in the way of each step."""
    if trace.originals or trace.touched:
        raise Untraceable("a step that writes to what is not its own")
    if trace.generators:
        raise Untraceable("a step that draws random numbers")
    if any(step.function is not None and step.has_effects for step in trace.steps):
        raise Untraceable("a step that calls Python functions")


def expect_released(trace: Trace) -> None:
    """Refuse a step that keeps tensors: they know their trace, and are none of the loop's."""
    if sys.getrefcount(trace) > _ALONE:
        raise Untraceable("a step that keeps tensors")


_ALONE = 3  # references to a trace of which no tensor is left
