"""What libraries ask of PyTorch's compiled half."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from gradsmith.generated.tensor import Tensor
from gradsmith.linalg import LinAlgError
from gradsmith.names.missing import missing_attribute
from gradsmith.nn.modules.module.conversion import place_and_dtype
from gradsmith.runtime.arrays.device import get_default_device
from gradsmith.runtime.batching.levels import open_levels
from gradsmith.runtime.overrides.dispatch import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    _disabled_torch_function_impl,
)
from gradsmith.runtime.switches.grad_mode import set_grad_enabled
from gradsmith.runtime.switches.transformed import is_transforming
from gradsmith.runtime.tensors.factories.random import Generator

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "Generator", "_disabled_torch_function_impl"]

_TensorBase = TensorBase = Tensor
_LinAlgError = LinAlgError


def _set_grad_enabled(mode: bool) -> None:
    """Switch recording on or off in this thread."""
    set_grad_enabled(mode)


def _are_functorch_transforms_active() -> bool:
    """Whether a transform of `gradsmith.func` is running a function in this thread."""
    return is_transforming() or bool(open_levels())


def _log_api_usage_once(*args: Any) -> None:
    """Nothing: usage is not logged."""


def _get_tracing_state() -> None:
    """The state of ``torch.jit.trace``: None, nothing is being traced."""


def _parse_to(
    *args: Any, non_blocking: bool = False, copy: bool = False, memory_format: Any = None, **named: Any
) -> tuple[Any, Any, bool, Any]:
    """Device, dtype, ``non_blocking`` and memory format, from the arguments of `Module.to`."""
    device, dtype = place_and_dtype(*args, **named)
    flags = [value for value in args if isinstance(value, bool)]
    return device, dtype, flags[0] if flags else non_blocking, memory_format


def _is_tracing() -> bool:
    """Whether a function is being traced by ``torch.jit.trace``: never."""
    return False


def _get_default_device() -> str:
    """Where new tensors are."""
    return str(get_default_device())


def _show_config() -> str:
    """Describe the build, as `__config__.show` does."""
    from gradsmith.compat.torch.__config__ import show

    return show()


# ---- what compiled programs are made of, of which there are none


class Graph:
    """For annotations and `isinstance` only."""


class Node:
    """For annotations and `isinstance` only."""


class Value:
    """For annotations and `isinstance` only."""


def _setting(*values: Any) -> None:
    """An option of PyTorch's compilers, which may be set and means nothing here."""


def __getattr__(name: str) -> Any:
    if name.startswith(("_jit_set_", "_jit_override_", "_jit_pass_")):
        return _setting
    if name.startswith("_jit_can_fuse_"):
        return _is_tracing
    raise missing_attribute(__name__, name)


_nn = SimpleNamespace(_parse_to=_parse_to)
