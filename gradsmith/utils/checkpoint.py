"""Checkpointing: memory for time.

A checkpointed function keeps its inputs for backward instead of what it computes from them, and computes that again
when it is needed.

>>> import gradsmith as gs
>>> from gradsmith.utils.checkpoint import checkpoint
>>> x = gs.ones(1000, requires_grad=True)
>>> y = checkpoint(lambda t: (t.sin() * t.cos()).exp(), x, use_reentrant=False)
>>> gs.autograd.graph.list_saved(y).total
0
>>> y.sum().backward()
>>> x.grad[:2]
tensor([-0.6557, -0.6557])
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from gradsmith.names.missing import raise_missing
from gradsmith.runtime.arrays.device import as_device
from gradsmith.runtime.batching.batch import is_tracing
from gradsmith.runtime.switches.grad_mode import is_grad_enabled
from gradsmith.utils.checkpoint_reentrant import checkpoint_reentrant
from gradsmith.utils.checkpoint_region import CheckpointError, Region
from gradsmith.utils.selective_checkpoint import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "CheckpointError",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]
__getattr__ = raise_missing(__name__)

_Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]


class _Settings:
    early_stop: bool | None = None
    debug: bool | None = None


_settings = _Settings()


def noop_context_fn() -> _Contexts:
    """Contexts that do nothing, for the forward pass and the recomputation."""
    return nullcontext(), nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
    context_fn: Callable[[], _Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call ``function(*args, **kwargs)`` and keep for backward no more than the arguments.

    Parameters
    ----------
    function : callable
        Must do the same whenever it is called with the same arguments. It may call `checkpoint`, and run backwards.
    use_reentrant : bool
        False: hooks on saved tensors compute them again when they are needed. True: the function becomes one
        operation, recorded when one of `args` requires grad, and its backward runs a backward of its own through the
        function. That kind takes no keyword arguments, needs a plain ``backward()``, and always runs the function to
        its end. False is recommended; the default, which warns, is True, as in PyTorch.
    preserve_rng_state : bool
        Draw the same random numbers again.
    context_fn : callable
        Gives two context managers: the first run of the function is made in the one, recomputations in the other. See
        `create_selective_checkpoint_contexts`.
    determinism_check : {"default", "none"}
        Compare shape and dtype of what is recomputed with those of the first run.
    debug : bool
        Have a `CheckpointError` show where the tensors were saved.
    early_stop : bool
        End a recomputation as soon as all that is needed has been computed.

    Returns
    -------
    object
        What the function returns.

    Raises
    ------
    CheckpointError
        During backward, when the recomputation saves other tensors than the first run did.
    """
    if is_tracing():  # a program has its own memory
        return function(*args, **kwargs)
    if use_reentrant is None:
        _warn_of_default("checkpoint")
    if use_reentrant is None or use_reentrant:
        _check_reentrant(kwargs, context_fn, debug)
        return checkpoint_reentrant(function, preserve_rng_state, args)
    check = _determinism_check(determinism_check)
    if not is_grad_enabled():
        return function(*args, **kwargs)
    forward_context, recompute_context = context_fn()
    region = Region(
        function,
        args,
        kwargs,
        recompute_context=recompute_context,
        preserve_rng_state=preserve_rng_state,
        describe=check,
        debug=debug if _settings.debug is None else _settings.debug,
        early_stop=early_stop if _settings.early_stop is None else _settings.early_stop,
    )
    with region.hooks(), forward_context:
        result = function(*args, **kwargs)
        region.is_complete = True
    if not region.is_complete:
        raise RuntimeError(
            "gradsmith.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised "
            "during the checkpointed forward. This is not supported because checkpoint cannot return a value for a "
            "failed forward."
        )
    return result


def checkpoint_sequential(
    functions: Iterable[Callable[[Any], Any]],
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
) -> Any:
    """Apply `functions` one after the other, in `segments` runs each but the last of which is checkpointed.

    Parameters
    ----------
    functions : iterable of callable
        Each takes what the one before it returns.
    segments : int
        Into how many runs of about equal length the functions are divided.
    input : object
        What the first one takes.
    use_reentrant, preserve_rng_state : bool
        See `checkpoint`.
    """
    if use_reentrant is None:
        _warn_of_default("checkpoint_sequential")
        use_reentrant = True
    steps = list(functions)
    if not 1 <= segments <= max(len(steps), 1):
        raise ValueError(f"segments must be from 1 to the number of functions, {len(steps)}; got {segments}")
    size = len(steps) // segments
    for start in range(0, size * (segments - 1), size):
        part = _composed(steps[start : start + size])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve_rng_state)
    return _composed(steps[size * (segments - 1) :])(input)


@contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Overrule `early_stop` of the checkpoints made inside the block, wherever their backward runs."""
    before = _settings.early_stop
    _settings.early_stop = enable
    try:
        yield
    finally:
        _settings.early_stop = before


@contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Overrule `debug` of the checkpoints made inside the block; None leaves it to them."""
    before = _settings.debug
    _settings.debug = enabled
    try:
        yield
    finally:
        _settings.debug = before


def _warn_of_default(function: str) -> None:
    warnings.warn(
        f"gradsmith.utils.checkpoint.{function}: the use_reentrant parameter should be passed explicitly. "
        "use_reentrant=False is recommended, but if you need to preserve the current default behavior, you can pass "
        "use_reentrant=True. Refer to docs/guide/checkpoint.md for more details on the differences between the two "
        "variants.",
        UserWarning,
        stacklevel=3,
    )


def _check_reentrant(kwargs: dict[str, Any], context_fn: Any, debug: bool) -> None:
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug:
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")


def _composed(functions: list[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for function in functions:
            value = function(value)
        return value

    return run


def _shape_and_dtype(tensor: Any) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


_CHECKS: dict[str, Callable[[Any], Any] | None] = {"default": _shape_and_dtype, "none": None}


def _determinism_check(name: str) -> Callable[[Any], Any] | None:
    if name not in _CHECKS:
        raise ValueError(f"determinism_check should be one of {list(_CHECKS)} but got {name}")
    return _CHECKS[name]


# ---- states of the generators of other devices, which have none


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """The numbers of the devices on which the tensors among the arguments are, and the states of their generators.

    Two empty lists: what is kept for recomputation is the state of the one generator that there is.
    """
    return [], []


def set_device_states(devices: Iterable[int], states: Iterable[Any], *, device_type: str | None = None) -> None:
    """Put back what `get_device_states` gave: nothing.

    Raises
    ------
    RuntimeError
        For states of a device, which is not there.
    """
    if list(zip(devices, states)):
        as_device(device_type or "cuda", "set_device_states")
