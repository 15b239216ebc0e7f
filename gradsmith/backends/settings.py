"""Settings of a process that PyTorch has at its top: they are kept and given back, and change no result.

Every op gives the same result on every run and computes in the dtype of its operands.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

__all__ = [
    "are_deterministic_algorithms_enabled", "get_deterministic_debug_mode", "get_float32_matmul_precision",
    "get_num_interop_threads", "is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled",
    "set_default_tensor_type", "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal",
    "set_num_interop_threads", "set_warn_always", "use_deterministic_algorithms",
]  # fmt: skip

_PRECISIONS = ("highest", "high", "medium")
_DEBUG_MODES = ("default", "warn", "error")

_kept = SimpleNamespace(deterministic=False, warn_only=False, precision="highest", interop_threads=1, warn_always=False)


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for the same results on every run, which all ops give anyway.

    Parameters
    ----------
    mode : bool
        What `are_deterministic_algorithms_enabled` says from now on.
    warn_only : bool
        What `is_deterministic_algorithms_warn_only_enabled` says.
    """
    _kept.deterministic, _kept.warn_only = bool(mode), bool(mode) and bool(warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Whether deterministic results were asked for; they are deterministic in any case."""
    return bool(_kept.deterministic)


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether warnings instead of errors were asked for; there is neither."""
    return bool(_kept.warn_only)


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """`use_deterministic_algorithms` by a number or word: 0 ``"default"``, 1 ``"warn"``, 2 ``"error"``."""
    number = _DEBUG_MODES.index(debug_mode) if debug_mode in _DEBUG_MODES else debug_mode
    if number not in (0, 1, 2):
        raise RuntimeError(
            f"invalid value of debug_mode, expected 0, 1, 2 or one of {_DEBUG_MODES}, got {debug_mode!r}"
        )
    use_deterministic_algorithms(number != 0, warn_only=number == 1)


def get_deterministic_debug_mode() -> int:
    """The number of the mode; see `set_deterministic_debug_mode`."""
    return 0 if not _kept.deterministic else 1 if _kept.warn_only else 2


def set_float32_matmul_precision(precision: str) -> None:
    """Allow less precise products of float32 matrices, which none is: they have the precision of float32.

    Parameters
    ----------
    precision : {"highest", "high", "medium"}
    """
    if precision not in _PRECISIONS:
        raise RuntimeError(f"set_float32_matmul_precision(): expected one of {_PRECISIONS}, got {precision!r}")
    _kept.precision = precision


def get_float32_matmul_precision() -> str:
    """What was set; see `set_float32_matmul_precision`."""
    return str(_kept.precision)


def set_flush_denormal(mode: bool) -> bool:
    """Whether the setting was taken: False, numbers below the normal ones are never set to zero."""
    return False


def set_default_tensor_type(t: Any) -> None:
    """Set the dtype of Python's floats by the name or the class of a type; see `set_default_dtype`.

    Parameters
    ----------
    t : type or str
        ``gradsmith.DoubleTensor`` or ``"torch.DoubleTensor"``, for example.

    Raises
    ------
    TypeError
        For a type that is no floating one.
    RuntimeError
        For a type of another device.
    """
    from gradsmith.runtime.arrays.dtypes import set_default_dtype
    from gradsmith.runtime.tensors.typed import TensorType, dtype_of_type

    if not isinstance(t, (str, TensorType)):
        raise TypeError(f"set_default_tensor_type(): expected a type of tensors or its name, got {type(t).__name__}")
    set_default_dtype(dtype_of_type(t))


def get_num_interop_threads() -> int:
    """Number of ops that may run at once, as it was set; see `set_num_threads` for the threads of one op."""
    return int(_kept.interop_threads)


def set_num_interop_threads(num: int) -> None:
    """Keep a number of threads that run ops side by side. They run one after the other."""
    if num < 1:
        raise RuntimeError(f"expected a positive number of threads, got {num}")
    _kept.interop_threads = int(num)


def set_warn_always(b: bool) -> None:
    """Keep whether warnings come again and again. Which do is for the filters of Python's `warnings`."""
    _kept.warn_always = bool(b)


def is_warn_always_enabled() -> bool:
    """What was set; see `set_warn_always`."""
    return bool(_kept.warn_always)
