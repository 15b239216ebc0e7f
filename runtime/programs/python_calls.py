"""Steps of optimizers and schedulers inside of compiled functions.

What they know beside tensors, such as the number of steps, is Python's, so a program calls them in each of its runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.runtime.batching.batch import trace_of_thread
from gradsmith.runtime.programs.entry import exchange_gradients


def traced_step(step: Callable[..., Any], optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Have a program call `step` with the gradients that the parameters have by now."""
    trace = trace_of_thread()
    if any(one is not None for one in (*args, *kwargs.values())):
        raise trace.call.error(
            "an optimizer that calls a closure cannot be traced; call step() outside of the function"
        )
    params = [p for group in optimizer.param_groups for p in group["params"]]
    with_gradient = [(p, gradient) for p in params if (gradient := trace.leaf_of(p).grad) is not None]
    changed = tuple([p for p, _ in with_gradient])
    others = tuple([p for p in params if all(p is not other for other in changed)])
    for p in changed:
        trace.wrote(p)

    def run(*gradients: Any) -> None:
        before = exchange_gradients(others, (None,) * len(others)), exchange_gradients(changed, gradients)
        try:
            step(optimizer)
        finally:
            exchange_gradients(others, before[0])
            exchange_gradients(changed, before[1])

    trace.call_of(run, tuple([gradient for _, gradient in with_gradient]), f"{type(optimizer).__name__}.step")


def traced_call(function: Callable[..., Any], *args: Any) -> None:
    """Have a program call a function without tensors, for what it does in Python."""
    trace_of_thread().call_of(lambda: function(*args), (), getattr(function, "__qualname__", "call"))
