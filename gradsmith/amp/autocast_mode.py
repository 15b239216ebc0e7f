"""`autocast`, which changes nothing on a CPU."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from gradsmith.runtime.arrays.dtypes import bfloat16, float16

F = TypeVar("F", bound=Callable[..., Any])


class autocast:
    """A block, or a decorated function, in which ops keep the dtypes of their operands: nothing is cast.

    Parameters
    ----------
    device_type : str
        ``"cpu"``, ``"cuda"`` or another device that PyTorch knows. None is computed on but the CPU.
    dtype : dtype, optional
        The lower precision that PyTorch would choose for some ops. Not used.
    enabled, cache_enabled : bool
        Without effect.

    Examples
    --------
    >>> import gradsmith as gs
    >>> with gs.autocast("cpu"):
    ...     y = gs.ones(2, 2) @ gs.ones(2, 2)
    >>> y.dtype
    dtype('float32')
    """

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"autocast(): expected `device_type` of type `str`, got: `{type(device_type).__name__}`")
        self.device = device_type
        self.fast_dtype = dtype

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *exc_info: object) -> None:
        return None

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def decorated(*args: Any, **named: Any) -> Any:
            return function(*args, **named)

        return decorated  # type: ignore[return-value]


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Whether ops are cast to a lower precision: never."""
    return False


def is_autocast_cpu_enabled() -> bool:
    """Whether ops are cast to a lower precision: never."""
    return False


def get_autocast_dtype(device_type: str) -> Any:
    """The dtype that `autocast` casts to by default in PyTorch: bfloat16 on the CPU, float16 on other devices."""
    return bfloat16 if device_type == "cpu" else float16


def get_autocast_gpu_dtype() -> Any:
    """`get_autocast_dtype` of "cuda"."""
    return get_autocast_dtype("cuda")


def get_autocast_cpu_dtype() -> Any:
    """`get_autocast_dtype` of "cpu"."""
    return get_autocast_dtype("cpu")


def is_autocast_available(device_type: str) -> bool:
    """Whether ops on a device can be cast to a lower precision: never."""
    return False


def custom_fwd(fwd: F | None = None, *, device_type: str = "cuda", cast_inputs: Any = None) -> Any:
    """The `forward` of a custom Function as it is: there is no autocast to leave.

    Parameters
    ----------
    fwd : callable, optional
        Without it, a decorator.
    device_type, cast_inputs : optional
        Without effect, as inputs are cast only within `autocast`.
    """
    return fwd if fwd is not None else lambda function: function


def custom_bwd(bwd: F | None = None, *, device_type: str = "cuda") -> Any:
    """The `backward` of a custom Function as it is: there is no autocast to enter again.

    Parameters
    ----------
    bwd : callable, optional
        Without it, a decorator.
    device_type : str
        Without effect.
    """
    return bwd if bwd is not None else lambda function: function
