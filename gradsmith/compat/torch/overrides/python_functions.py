"""Makes public functions that are written in Python overridable.

Compiled functions are so from the start; see runtime/calls/second_names.pyx. These have their code replaced when the
first class with overrides is met: the new code looks for overrides, and otherwise calls a function with the old code.
The function object stays the same, so it does not matter where it has been imported to.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

from gradsmith.runtime.overrides.methods import OverridableFunction

# Where they are found.
NAMESPACES = (
    "gradsmith", "gradsmith.fft", "gradsmith.linalg", "gradsmith.masked", "gradsmith.nn.functional",
    "gradsmith.nn.init", "gradsmith.signal", "gradsmith.special",
)  # fmt: skip
# Where they are defined.
_MODULES = (
    "gradsmith.counting", "gradsmith.fft", "gradsmith.low_rank", "gradsmith.masked.extremes",
    "gradsmith.masked.moments", "gradsmith.masked.scaled", "gradsmith.masked.sums",
    "gradsmith.nn.attention.dot_product", "gradsmith.nn.attention.multi_head", "gradsmith.nn.bags",
    "gradsmith.nn.chances", "gradsmith.nn.dropouts",
    "gradsmith.nn.grids", "gradsmith.nn.in_place", "gradsmith.nn.init", "gradsmith.nn.losses.distances",
    "gradsmith.nn.losses.linear", "gradsmith.nn.losses.reduced", "gradsmith.nn.normalizations", "gradsmith.nn.padding",
    "gradsmith.nn.patches", "gradsmith.nn.pooling", "gradsmith.nn.recurrent", "gradsmith.nn.resizing",
    "gradsmith.nn.softmaxes", "gradsmith.nn.tables", "gradsmith.random.top_level",
    "gradsmith.runtime.tensors.factories.creation", "gradsmith.runtime.tensors.factories.memory",
    "gradsmith.runtime.tensors.factories.random", "gradsmith.runtime.tensors.queries", "gradsmith.segments",
    "gradsmith.signal.top_level", "gradsmith.sparse", "gradsmith.subscripts",
)  # fmt: skip
# Functions among these that are not overridable.
_IGNORED = frozenset((
    "broadcast_shapes", "calculate_gain", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state",
))  # fmt: skip
# Their arguments are data, not operands, so classes cannot override them; modes can.
_OF_DATA = frozenset(("as_tensor", "asarray", "tensor"))


def make_python_functions_overridable() -> None:
    """Make all public functions that are written in Python overridable."""
    for function in set(python_functions()):
        _make_overridable(function)


def python_functions() -> Iterator[FunctionType]:
    """The public functions that are written in Python and compute tensors."""
    public = frozenset().union(*(importlib.import_module(name).__all__ for name in NAMESPACES)) - _IGNORED
    for module in map(importlib.import_module, _MODULES):
        for name, function in vars(module).items():
            if isinstance(function, FunctionType) and function.__module__ == module.__name__ and name in public:
                yield function


def _make_overridable(function: Any) -> None:
    own = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    own.__kwdefaults__ = function.__kwdefaults__
    function.__signature__ = inspect.signature(function)
    handler = OverridableFunction(function, own, function.__name__ in _OF_DATA)
    function.__defaults__ = function.__kwdefaults__ = None
    function.__code__ = _code_calling(handler, function.__code__)


def _code_calling(handler: Any, like: CodeType) -> CodeType:
    """Code that calls the handler, which is one of its constants; it has the free variables of the other, unused."""
    constants = tuple(handler if constant == "the handler" else constant for constant in _template.__code__.co_consts)
    return _template.__code__.replace(
        co_consts=constants,
        co_freevars=like.co_freevars,
        co_name=like.co_name,
        co_filename=like.co_filename,
        co_firstlineno=like.co_firstlineno,
    )


def _template(*args: Any, **kwargs: Any) -> Any:
    handler: Any = "the handler"
    return handler(*args, **kwargs)
