"""PyTorch's protocols for subclasses of Tensor: ``__torch_function__``; ``__torch_dispatch__`` is not called."""

from __future__ import annotations

from typing import Any

from gradsmith.runtime.overrides.dispatch import (
    _disabled_torch_function_impl,
    has_started,
    set_tensor_class,
)
from gradsmith.runtime.switches import upcalls


def support_overrides(cls: Any) -> None:
    """Make subclasses of `cls`, the class of tensors, able to override functions from when they are defined."""

    def __init_subclass__(made: Any, /, **options: Any) -> None:
        super(cls, made).__init_subclass__(**options)
        if "__torch_dispatch__" in vars(made) and vars(made)["__torch_dispatch__"] is not _disabled_torch_function_impl:
            _warn(made)
        if made.__torch_function__ is not _disabled_torch_function_impl:
            upcalls.make_class_overridable(made)
        elif has_started():
            upcalls.make_operators_overridable(made)

    set_tensor_class(cls)
    cls.__init_subclass__ = classmethod(__init_subclass__)


def _warn(made: Any) -> None:
    import warnings

    warnings.warn(
        f"{made.__qualname__}.__torch_dispatch__ is never called: there is no dispatcher below gradsmith's functions. "
        f"Say in {made.__qualname__}.__torch_function__ what functions should do",
        UserWarning,
        stacklevel=3,
    )
