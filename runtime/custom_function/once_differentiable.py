"""Backwards that must not be differentiated themselves."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gradsmith.runtime.batching.batch import all_slices, batched, innermost
from gradsmith.runtime.graph.tensor import TensorBase
from gradsmith.runtime.history import basic_ops
from gradsmith.runtime.switches.grad_mode import is_grad_enabled, no_grad

_Method = TypeVar("_Method", bound=Callable[..., Any])


def once_differentiable(backward: _Method) -> _Method:
    """Decorate a `backward` that must not be differentiated itself: one that computes with NumPy, for example.

    It runs with recording off. What it gives depends on the gradients that come in: where one of them requires grad, so
    does the result, and raises RuntimeError when it is differentiated. Otherwise the result is a constant, also by the
    saved tensors.
    """

    @functools.wraps(backward)
    def wrapper(ctx: Any, *args: Any) -> Any:
        # They may come in one list, of a Function with `boxed_grads_call`.
        incoming = [grad for arg in args for grad in (arg if isinstance(arg, list) else [arg])]
        sources = [grad for grad in incoming if isinstance(grad, TensorBase)] if is_grad_enabled() else []
        with no_grad():
            grads = backward(ctx, *args)
        message = (
            f"{ctx.name()}: trying to differentiate twice a function that was marked with @once_differentiable; write "
            "its backward in differentiable operations and take the mark away"
        )
        results = _refusing(message, list(grads) if isinstance(grads, tuple) else [grads], sources)
        return tuple(results) if isinstance(grads, tuple) else results[0]

    return wrapper  # type: ignore[return-value]


def _refusing(message: str, results: list[Any], sources: Sequence[Any]) -> list[Any]:
    """`results`, which refuse to be differentiated by `sources`; of batched ones, the data do so too."""
    level = innermost([*results, *sources])
    if level is not None and not level.is_trace:
        data = [all_slices(value, level) if isinstance(value, TensorBase) else value for value in results]
        refusing = _refusing(message, data, [all_slices(source, level) for source in sources])
        results = [batched(value, level) if isinstance(value, TensorBase) else value for value in refusing]
    recorded = [source for source in sources if source.requires_grad]
    return basic_ops.delayed_error(message, results, recorded) if recorded else results
