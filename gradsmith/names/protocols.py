"""Protocols of PyTorch for classes over Tensor that are not asked here: a class that has one is told so."""

from __future__ import annotations

from typing import Any

PROTOCOLS = ("__torch_function__", "__torch_dispatch__")
DISABLED = "_disabled_torch_function_impl"  # a class that has it asks for plain results, as they are here anyway


def warn_of_protocols(cls: Any) -> None:
    """Let classes over `cls`, the class of tensors, warn when they are made with a method that nothing calls."""

    def __init_subclass__(made: Any, /, **options: Any) -> None:
        super(cls, made).__init_subclass__(**options)
        for name in PROTOCOLS:
            if name in vars(made) and not _does_nothing(vars(made)[name]):
                _warn(made, name)

    cls.__init_subclass__ = classmethod(__init_subclass__)


def _does_nothing(method: Any) -> bool:
    return getattr(method, "__name__", None) == DISABLED


def _warn(made: Any, name: str) -> None:
    import warnings

    warnings.warn(
        f"{made.__qualname__}.{name} is never called: gradsmith calls no {name}, and what ops return for an "
        f"instance is a plain Tensor. Say `result.as_subclass({made.__name__})` where the class is wanted, and "
        "call functions of your own where ops should do something else",
        UserWarning,
        stacklevel=3,
    )
