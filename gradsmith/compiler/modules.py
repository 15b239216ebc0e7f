"""Compiled modules."""

from __future__ import annotations

from typing import Any

from gradsmith.compiler.compiled import Compiled
from gradsmith.compiler.options import Options
from gradsmith.nn.modules.module import Module


def compiled_module(module: Module, options: Options) -> Module:
    """A module that shares everything with `module`, and whose `forward` is compiled."""
    cls = type(module)
    if hasattr(module, "_orig_mod"):
        return module
    forward = Compiled(module.forward, options)
    names: dict[str, Any] = {
        "forward": _forward,
        "_compiled_forward": staticmethod(forward),  # found without being bound
        "_orig_mod": module,
        "__doc__": cls.__doc__,
    }
    names |= {"__module__": cls.__module__, "__reduce__": _reduce}
    made: Module = object.__new__(type(cls.__name__, (cls,), names))
    made.__dict__ = module.__dict__
    return made


def compile_in_place(module: Module, options: Options) -> None:
    """Have the module itself call a compiled `forward`."""
    if not isinstance(module.__dict__.get("forward"), Compiled):
        module.__dict__["forward"] = Compiled(module.forward, options)


def _forward(self: Any, *args: Any, **kwargs: Any) -> Any:
    return type(self)._compiled_forward(*args, **kwargs)


def _reduce(self: Any) -> Any:
    return compiled_module, (self._orig_mod, type(self)._compiled_forward.options)
