"""The classes of scripts, for annotations and questions: what `jit.script` gives is what it was given."""

from __future__ import annotations

from typing import Any, NoReturn

from gradsmith.nn.modules.module import Module

__all__ = ["ScriptFunction", "ScriptModule"]


class ScriptModule(Module):
    """A module that was written as a script, as its base class. What `jit.script` gives back is of its own class."""


class ScriptFunction:
    """What `jit.script` makes of a function in PyTorch. There is none here: the function comes back as it is."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError("jit.ScriptFunction: functions are not compiled to scripts; gradsmith.compile makes programs")
