"""The reentrant checkpoint: one operation, whose backward runs the function again and a backward through that."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from gradsmith.autograd.function import Function
from gradsmith.autograd.gradients import backward
from gradsmith.runtime.engine.introspection import is_checkpoint_valid
from gradsmith.runtime.graph.tensor import TensorBase
from gradsmith.runtime.switches.grad_mode import enable_grad
from gradsmith.runtime.tensors.factories.random import get_rng_state
from gradsmith.utils.checkpoint_region import rng_state_set_to


class CheckpointFunction(Function):
    """``CheckpointFunction.apply(function, preserve_rng_state, *args)`` calls ``function(*args)``."""

    @staticmethod
    def forward(ctx: Any, function: Callable[..., Any], preserve_rng_state: bool, *args: Any) -> Any:
        """Run the function without recording."""
        ctx.function = function
        ctx.rng_state = get_rng_state() if preserve_rng_state else None
        ctx.args = [None if isinstance(value, TensorBase) else value for value in args]
        ctx.save_for_backward(*(value if isinstance(value, TensorBase) else None for value in args))
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """Run the function with recording, and a backward to its arguments and to all other leaves it uses."""
        if not is_checkpoint_valid():
            raise RuntimeError(
                "When use_reentrant=True, gradsmith.utils.checkpoint is incompatible with .grad() or passing an "
                "`inputs` parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or "
                "call .backward() without passing the `inputs` argument."
            )
        tensors = [None if t is None else t.detach().requires_grad_(t.requires_grad) for t in ctx.saved_tensors]
        args = [value if tensor is None else tensor for value, tensor in zip(ctx.args, tensors)]
        with rng_state_set_to(ctx.rng_state), enable_grad():
            results = ctx.function(*args)
        _backward_through(results if isinstance(results, tuple) else (results,), grads)
        return (None, None, *(None if tensor is None else tensor.grad for tensor in tensors))


def _backward_through(results: tuple[Any, ...], grads: tuple[Any, ...]) -> None:
    pairs = [(r, g) for r, g in zip(results, grads) if isinstance(r, TensorBase) and r.requires_grad]
    if not pairs:
        raise RuntimeError("none of output has requires_grad=True, this checkpoint() is not necessary")
    backward([result for result, _ in pairs], [grad for _, grad in pairs])


def checkpoint_reentrant(function: Callable[..., Any], preserve_rng_state: bool, args: tuple[Any, ...]) -> Any:
    """Call ``function(*args)`` as one operation."""
    if not any(isinstance(value, TensorBase) and value.requires_grad for value in args):
        warnings.warn("None of the inputs have requires_grad=True. Gradients will be None", UserWarning, stacklevel=3)
    return CheckpointFunction.apply(function, preserve_rng_state, *args)
