"""Functions whose results differ from run to run: a compiled function calls them anew in each of its runs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from gradsmith.runtime.batching.batch import is_tracing, trace_of_thread
from gradsmith.runtime.batching.levels import open_levels
from gradsmith.runtime.switches import upcalls

F = TypeVar("F", bound=Callable[..., Any])


def drawn_in_each_run(function: F) -> F:
    """A function that draws random numbers, as a step of a program where it is called while one is made."""

    @functools.wraps(function)
    def draw(*args: Any, generator: Any = None, **kwargs: Any) -> Any:
        if not is_tracing():
            return function(*args, generator=generator, **kwargs)
        return _traced(function, args, generator, kwargs)

    return draw  # type: ignore[return-value]


def _traced(function: Any, args: tuple[Any, ...], generator: Any, kwargs: dict[str, Any]) -> Any:
    trace = trace_of_thread()
    if open_levels():
        raise trace.call.error(
            f"{function.__name__}() inside of vmap draws for all slices at once, which cannot be traced"
        )
    out, requires_grad = kwargs.pop("out", None), kwargs.pop("requires_grad", False)
    if out is not None and kwargs.get("dtype") is None:
        kwargs["dtype"] = out.dtype
    trace.note_generator(upcalls.generator_behind(generator))
    named = tuple(kwargs)

    def run(*operands: Any) -> Any:
        count = len(operands) - len(named)
        return function(*operands[:count], generator=generator, **dict(zip(named, operands[count:])))

    result = trace.call_of(run, (*args, *kwargs.values()), function.__name__)
    if out is not None:
        return out.copy_(result)
    return result.requires_grad_() if requires_grad else result


def expect_untraced(what: str) -> None:
    """Refuse what a program could not repeat.

    Raises
    ------
    TraceError
        While this thread traces a function.
    """
    if is_tracing():
        raise trace_of_thread().call.escape(what)
