"""Functions whose results differ from run to run: a compiled function calls them anew in each of its runs."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from gradsmith.runtime.batching.batch import all_slices, is_tracing, trace_of_thread
from gradsmith.runtime.batching.levels import Caller as LevelCaller
from gradsmith.runtime.batching.levels import Draws, open_level, open_levels, reopened
from gradsmith.runtime.graph.tensor import from_array
from gradsmith.runtime.switches import upcalls
from gradsmith.runtime.switches.truth import with_flag
from gradsmith.runtime.tensors.factories.python_data import is_tensor

F = TypeVar("F", bound=Callable[..., Any])

DRAWING: dict[str, Callable[..., Any]] = {}  # the functions that `drawn_in_each_run` has made, by name


def drawn_in_each_run(function: F, quick: Callable[..., Any] | None = None) -> F:
    """A function that draws random numbers, as a step of a program where it is called while one is made.

    `quick` is a function of `quick_draws` that knows what to do with most calls.
    """

    @functools.wraps(function)
    def draw(*args: Any, generator: Any = None, **kwargs: Any) -> Any:
        if quick is not None and (few := quick(args, generator, kwargs)) is not None:
            return few
        if not is_tracing():
            return function(*args, generator=generator, **kwargs)
        return _traced(function, args, generator, kwargs)

    DRAWING[function.__name__] = draw
    return draw  # type: ignore[return-value]


class Drawn:
    """A function that draws, as a step calls it: with arguments by position, the last of them by `names`."""

    def __init__(self, function: Callable[..., Any], generator: Any, names: tuple[str, ...]) -> None:
        self.function, self.name = function, function.__name__
        self.generator, self.names = generator, names

    def __call__(self, *operands: Any) -> Any:
        count = len(operands) - len(self.names)
        named = dict(zip(self.names, operands[count:]))
        return self.function(*operands[:count], generator=self.generator, **named)


def _traced(function: Any, args: tuple[Any, ...], generator: Any, kwargs: dict[str, Any]) -> Any:
    if open_levels():
        return _traced_for_slices(function, args, generator, kwargs)
    trace = trace_of_thread()
    out, requires_grad = kwargs.pop("out", None), kwargs.pop("requires_grad", False)
    if out is not None and kwargs.get("dtype") is None:
        kwargs["dtype"] = out.dtype
    trace.note_generator(upcalls.generator_behind(generator))
    drawn = Drawn(function, generator, tuple(kwargs))
    result = trace.call_of(drawn, (*args, *kwargs.values()), function.__name__)
    if out is not None:
        return out.copy_(result)
    return with_flag(function.__name__, result, requires_grad)


def _traced_for_slices(function: Any, args: tuple[Any, ...], generator: Any, kwargs: dict[str, Any]) -> Any:
    """Inside of `vmap`, where eager draws for all slices at once: each run does so at levels of its own."""
    op, trace = function.__name__, trace_of_thread()
    draws = Draws(op)
    if args and is_tensor(args[0]) and op.endswith("_like"):  # of which the shape and the dtype matter
        args = (_Like(args[0]), *args[1:])
    elif any(is_tensor(one) for one in args):
        return function(*args, generator=generator, **kwargs)  # by ops, and by numbers that are drawn in this way
    requires_grad = kwargs.pop("requires_grad", False)
    sizes = draws.sizes
    trace.note_generator(upcalls.generator_behind(generator))

    def run() -> Any:
        with contextlib.ExitStack() as stack:
            stack.enter_context(reopened(()))  # none of those of the traced run
            levels = [stack.enter_context(open_level(size, "different", LevelCaller(op))) for size in sizes]
            given = tuple([one.tensor() if isinstance(one, _Like) else one for one in args])
            found = function(*given, generator=generator, **kwargs)
            for level in reversed(levels):
                found = all_slices(found, level)
            return found

    drawn = draws.batched(trace.call_of(run, (), op))
    return with_flag(op, drawn, requires_grad)


class _Like:
    """Shape and dtype of a tensor."""

    def __init__(self, tensor: Any) -> None:
        self.shape, self.dtype = tuple(tensor.shape), tensor.dtype

    def tensor(self) -> Any:
        return from_array(np.empty(self.shape, self.dtype))


def expect_untraced(what: str) -> None:
    """Refuse what a program could not repeat.

    Raises
    ------
    TraceError
        While this thread traces a function.
    """
    if is_tracing():
        raise trace_of_thread().call.escape(what)
