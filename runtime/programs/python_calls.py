"""Steps of optimizers and schedulers inside of compiled functions.

What they know beside tensors, such as the number of steps, is Python's, so a program calls them in each of its runs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

from gradsmith.runtime.batching.batch import trace_of_thread
from gradsmith.runtime.programs.entry import exchange_gradients


def traced_step(step: Callable[..., Any], optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Have a program call `step` with the gradients that the parameters have by now."""
    trace = trace_of_thread()
    if any(one is not None for one in (*args, *kwargs.values())):
        raise trace.call.error(
            f"{type(optimizer).__name__}.step() calls its closure as often as it needs, which a program cannot repeat; "
            "compile the closure, and call step() outside of the function"
        )
    params = [p for group in optimizer.param_groups for p in group["params"]]
    with_gradient = [(p, gradient) for p in params if (gradient := trace.leaf_of(p).grad) is not None]
    changed = tuple([p for p, _ in with_gradient])
    others = tuple([p for p in params if all(p is not other for other in changed)])
    for p in changed:
        trace.wrote(p)

    undo = Undo(optimizer)

    def run(*gradients: Any) -> None:
        undo.prepare()
        before = exchange_gradients(others, (None,) * len(others)), exchange_gradients(changed, gradients)
        try:
            step(optimizer)
        finally:
            exchange_gradients(others, before[0])
            exchange_gradients(changed, before[1])

    trace.undo.append(undo)
    trace.call_of(run, tuple([gradient for _, gradient in with_gradient]), f"{type(optimizer).__name__}.step")


def traced_call(function: Callable[..., Any], *args: Any) -> None:
    """Have a program call a function for what it does in Python; tensors among the arguments are those of each run.

    A method is one of a scheduler.
    """
    undo = Undo(*_changed_by(function))

    def run(*args: Any) -> None:
        undo.prepare()
        function(*args)

    trace = trace_of_thread()
    trace.undo.append(undo)
    trace.call_of(run, args, getattr(function, "__qualname__", "call"))


def traced_update(function: Callable[..., Any], read: Iterable[Any], written: Iterable[Any]) -> None:
    """Have a program call a function that reads some tensors, which are not among its arguments, and writes others."""
    trace = trace_of_thread()
    for tensor in written:
        trace.wrote(tensor)

    def run(*_: Any) -> None:
        function()

    trace.call_of(run, tuple(read), getattr(function, "__qualname__", "call"))


class Undo:
    """Puts optimizers and schedulers back to where they were before the first run, the traced one."""

    def __init__(self, *owners: Any) -> None:
        self.owners = owners
        self.before: list[Any] | None = None

    def prepare(self) -> None:
        if self.before is None:
            self.before = [copy.deepcopy(owner.state_dict()) for owner in self.owners]

    def __call__(self) -> None:
        for owner, state in zip(self.owners, self.before or ()):
            owner.load_state_dict(state)


def _changed_by(function: Callable[..., Any]) -> list[Any]:
    scheduler = getattr(function, "__self__", None)
    return [] if scheduler is None else [scheduler.optimizer, scheduler]
