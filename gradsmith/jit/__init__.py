"""The decorators of ``torch.jit``, which leave functions and modules as they are.

PyTorch does the same when its scripts are switched off with ``PYTORCH_JIT=0``: `script` and `trace` give back what they
got, which runs as Python. Files of compiled programs cannot be written or read.
"""

import builtins
import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from gradsmith.jit import annotations as annotations  # no future import of that name takes its place
from gradsmith.names.missing import missing_attribute

if TYPE_CHECKING:
    from gradsmith.futures import Future as Future
    from gradsmith.jit.scripts import ScriptFunction as ScriptFunction
    from gradsmith.jit.scripts import ScriptModule as ScriptModule

__all__ = [
    "Attribute", "Error", "Final", "Future", "ScriptFunction", "ScriptModule", "TracerWarning", "annotate",
    "annotations", "enable_onednn_fusion", "export", "fork", "freeze", "fuser", "ignore", "is_scripting", "is_tracing",
    "isinstance", "load", "onednn_fusion_enabled", "optimize_for_inference", "optimized_execution", "save", "script",
    "script_if_tracing", "script_method", "set_fusion_strategy", "strict_fusion", "trace", "trace_module", "unused",
    "wait",
]  # fmt: skip

_MODULE_OF = {
    "Future": "gradsmith.futures", "ScriptFunction": "gradsmith.jit.scripts", "ScriptModule": "gradsmith.jit.scripts",
}  # fmt: skip

T = TypeVar("T")

isinstance = builtins.isinstance


class Error(RuntimeError):
    """What a compiled program raises in PyTorch. Never raised here."""


class TracerWarning(Warning):
    """What PyTorch's tracer warns of. Never given here."""


# ---- functions and modules as they are


def script(obj: T, *args: Any, **kwargs: Any) -> T:
    """The function, class or module itself.

    Examples
    --------
    >>> import gradsmith as gs
    >>> @gs.jit.script
    ... def double(x):
    ...     return 2 * x
    >>> double(3)
    6
    """
    return obj


def trace(func: T, example_inputs: Any = None, *args: Any, **kwargs: Any) -> T:
    """The function or module itself; it is not called."""
    return func


def trace_module(mod: T, inputs: Any, *args: Any, **kwargs: Any) -> T:
    """The module itself; none of its methods is called."""
    return mod


def freeze(mod: T, *args: Any, **kwargs: Any) -> T:
    """The module itself."""
    return mod


def optimize_for_inference(mod: T, *args: Any, **kwargs: Any) -> T:
    """The module itself."""
    return mod


def export(fn: T) -> T:
    """The method itself."""
    return fn


def script_method(fn: T) -> T:
    """The method itself."""
    return fn


def script_if_tracing(fn: T) -> T:
    """The function itself."""
    return fn


def unused(fn: T) -> T:
    """The method itself."""
    return fn


def _overload(fn: T) -> T:
    """The function itself, which the next definition of its name replaces."""
    return fn


_overload_method = _overload


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The method itself, or a decorator that gives it back when called with ``drop``."""
    return drop if callable(drop) else _unchanged


def _unchanged(function: T) -> T:
    return function


# ---- values


def annotate(the_type: Any, the_value: T) -> T:
    """The value: its type is for a compiler."""
    return the_value


def Attribute(value: T, type: Any) -> T:
    """The value: its type is for a compiler."""
    return value


def is_scripting() -> bool:
    """Whether the function is being compiled: never."""
    return False


def is_tracing() -> bool:
    """Whether the function is being traced: never."""
    return False


@contextlib.contextmanager
def strict_fusion() -> Iterator[None]:
    """A block in which PyTorch's compiler has to fuse ops; nothing here."""
    yield


# ---- tasks


def fork(func: Callable[..., T], *args: Any, **kwargs: Any) -> "Future[T]":
    """A future of what the function returns. It is called at once, as PyTorch does outside of compiled programs.

    Examples
    --------
    >>> import gradsmith as gs
    >>> gs.jit.wait(gs.jit.fork(lambda x: 2 * x, 3))
    6
    """
    from gradsmith.futures import Future

    future: Future[T] = Future()
    future.set_result(func(*args, **kwargs))
    return future


def wait(future: "Future[T]") -> T:
    """What the function of a `fork` has returned."""
    return future.wait()


# ---- settings of a compiler: they may be set, and change nothing


def set_fusion_strategy(strategy: Any) -> list[tuple[str, int]]:
    """PyTorch's default, whatever is set."""
    return [("STATIC", 2), ("DYNAMIC", 10)]


def enable_onednn_fusion(enabled: bool) -> None:
    """Nothing."""


def onednn_fusion_enabled() -> bool:
    """Whether a compiler joins ops: no."""
    return False


@contextlib.contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A block in which PyTorch's compiler optimizes, or does not; nothing here."""
    yield


@contextlib.contextmanager
def fuser(name: str) -> Iterator[None]:
    """A block in which PyTorch's compiler joins ops in one of its ways; nothing here."""
    yield


# ---- files


def save(m: Any, f: Any, _extra_files: Any = None) -> NoReturn:
    """NotImplementedError: there are no compiled programs. Save ``model.state_dict()`` with `gradsmith.save`."""
    raise NotImplementedError(
        "jit.save(): there are no compiled programs in gradsmith. Save the parameters, "
        "gradsmith.save(model.state_dict(), path), or the module itself, gradsmith.save(model, path)"
    )


def load(f: Any, map_location: Any = None, _extra_files: Any = None) -> NoReturn:
    """NotImplementedError: files of compiled programs cannot be run. `gradsmith.load` reads ``state_dict`` files."""
    raise NotImplementedError(
        "jit.load(): gradsmith cannot run files of compiled programs. Build the model in Python, and read its "
        "parameters: model.load_state_dict(gradsmith.load(path))"
    )


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:  # of which the first needs all modules
        return getattr(importlib.import_module(_MODULE_OF[name]), name)
    raise missing_attribute(__name__, name)
