"""`compile`: functions that run as programs; and the other names of ``torch.compiler``.

A function is traced when it is first called with a kind of arguments: it runs as ever, and what it does with tensors is
written down, gradients included. Later calls run the program that this gives, without Python and without recording.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from gradsmith.compiler.options import Options
from gradsmith.names.missing import missing_attribute

__all__ = [
    "TraceError", "allow_in_graph", "assume_constant_result", "compile", "cudagraph_mark_step_begin", "disable",
    "is_compiling", "is_dynamo_compiling", "is_exporting", "list_backends", "reset",
]  # fmt: skip

T = TypeVar("T")


def compile(
    model: Any = None,
    *,
    fullgraph: bool | None = None,
    dynamic: bool | None = None,
    backend: Any = "inductor",
    mode: str | None = None,
    options: Mapping[str, Any] | None = None,
    disable: bool = False,
    on_escape: str | None = None,
    memory: str | int | None = None,
    static: str | int | Sequence[str | int] = (),
    donate: str | int | Sequence[str | int] = (),
    exact: bool = True,
    compiler: None = None,
) -> Any:
    """A function or module that runs as a program where it has been called with such arguments before.

    The first call with arguments of a kind (dtypes, shapes and layouts of tensors, which of them require grad or share
    memory, the values of everything else, the modes of the thread, the variables that the function captures) traces the
    function: it runs as ever, and its ops are written down. The program repeats them on other values, bit for bit, with
    the gradients that were computed inside the function. A call whose results require grad makes one node.

    Parameters
    ----------
    model : callable or Module, optional
        Without it, a decorator. The compiled module shares parameters, buffers and all else with the one that is given.
    on_escape : "raise", "eager" or "guard", optional
        What becomes of a function that needs the value of a tensor: an error; a warning, and calls that run as they
        are; or a program for each truth value or integer that it asks for. Functions raise; modules, in which PyTorch
        would break the graph there, run as they are.
    memory : "min", "balanced" or int, optional
        What a call whose results require grad keeps for its backward. What loops over elements can make again is
        computed again: all that, what few of them make, or as much as is needed to keep so many bytes.
    static : str, int or sequence of these, optional
        Parameters, by name or position, whose values a program takes for granted: any object that can be hashed,
        compared by equality. Numbers, strings and flags are taken so anyway.
    donate : str, int or sequence of these, optional
        Parameters whose tensors the caller gives away: their memory may be used for results, and to use them after the
        call is an error. They must not require grad.
    exact : bool, default True
        Results have the bits of eager's, but for sums of gradients that a formula chooses by values. False permits
        other rounding; nothing makes use of that yet.
    compiler : None
        Programs are interpreted; there is no other way.
    fullgraph : bool, optional
        PyTorch's name: True raises, False runs as it is.
    disable : bool, default False
        Give the function or module back. So does ``backend="eager"``.
    dynamic, backend, mode, options : optional
        Without effect: there is one way to run a program, and one program for each shape.

    Raises
    ------
    RuntimeError
        When both `mode` and `options` are given, as in PyTorch.
    TypeError
        `model` cannot be called; a static argument is a tensor or cannot be hashed.
    ValueError
        `on_escape` is none of the three, or `memory` none of the three; `static` or `donate` name no parameter;
        `compiler` is not None.

    Examples
    --------
    >>> import gradsmith as gs
    >>> @gs.compile
    ... def slope(x):
    ...     return gs.grad(lambda x: (x.sin() ** 2).sum())(x)
    >>> slope(gs.zeros(2)), slope(gs.ones(2))
    (tensor([0., 0.]), tensor([0.9093, 0.9093]))
    >>> len(slope.programs)
    1
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if on_escape is None and fullgraph is not None:
        on_escape = "raise" if fullgraph else "eager"
    if compiler is not None:
        raise ValueError(f"compile(): compiler must be None, but is {compiler!r}: programs are interpreted")
    chosen = (memory, _listed(static), _listed(donate), exact)
    functions = Options(on_escape or "raise", *chosen)
    if disable or backend == "eager":
        return _unchanged if model is None else model
    modules = Options(on_escape or "eager", *chosen)
    return partial(_compiled, functions, modules) if model is None else _compiled(functions, modules, model)


def _listed(wanted: Any) -> tuple[Any, ...]:
    return (wanted,) if isinstance(wanted, (str, int)) else tuple(wanted)


def _compiled(functions: Options, modules: Options, model: Any) -> Any:
    """A function or module, with the options of what it is."""
    from gradsmith.compiler.compiled import Compiled
    from gradsmith.compiler.modules import compiled_module
    from gradsmith.nn import Module

    if isinstance(model, Module):
        return compiled_module(model, modules)
    if not callable(model):
        raise TypeError(f"compile(): argument 'model' must be callable, not {type(model).__name__}")
    return model if isinstance(model, Compiled) else Compiled(model, functions)


def compile_module_in_place(module: Any, **options: Any) -> None:
    """`Module.compile`."""
    made = compile(module, **options)
    if made is not module:
        from gradsmith.compiler.modules import compile_in_place

        compile_in_place(module, type(made)._compiled_forward.options)


def _unchanged(model: T) -> T:
    return model


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """The function itself, which is never compiled; without one, a decorator."""
    return fn if fn is not None else _unchanged


def allow_in_graph(fn: T) -> T:
    """The function itself."""
    return fn


def assume_constant_result(fn: T) -> T:
    """The function itself."""
    return fn


def is_compiling() -> bool:
    """Whether the function that calls this is being traced."""
    from gradsmith.runtime.batching.batch import is_tracing

    return is_tracing()


def is_dynamo_compiling() -> bool:
    """Whether the function that calls this is being traced."""
    return is_compiling()


def is_exporting() -> bool:
    """Whether the function is being exported: never."""
    return False


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """Names of compilers: none."""
    return []


def reset() -> None:
    """Forget the programs of all compiled functions."""
    from gradsmith.compiler.compiled import forget_all

    forget_all()


def cudagraph_mark_step_begin() -> None:
    """Nothing: there are no graphs of calls."""


def __getattr__(name: str) -> Any:
    if name == "TraceError":
        from gradsmith.compiler.errors import TraceError

        return TraceError
    raise missing_attribute(__name__, name)
