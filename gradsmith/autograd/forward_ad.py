"""Forward mode: directional derivatives computed beside the values.

A *dual number* is a tensor that carries a tangent. Every op gives its result the tangent that follows from those of its
operands, so that one run of a function gives its value and its derivative along one direction, whatever the number of
its results. Levels nest to any depth and mix with reverse mode in any order.

>>> import gradsmith as gs
>>> from gradsmith.autograd import forward_ad
>>> with forward_ad.dual_level():
...     x = forward_ad.make_dual(gs.tensor([1.0, 2.0]), gs.tensor([1.0, 0.0]))
...     forward_ad.unpack_dual(x * x).tangent
tensor([2., 0.])
"""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, NamedTuple

from gradsmith.names.missing import missing_attribute
from gradsmith.runtime.calls import forward_ad as _runtime
from gradsmith.runtime.graph.tensor import TensorBase
from gradsmith.runtime.switches.decorators import decorate
from gradsmith.runtime.switches.threads import ThreadSwitch, register_switch

# Names that PyTorch's own code and programs around it use. `_current_level` is found by `__getattr__`.
_is_fwd_grad_enabled = _runtime.is_forward_enabled

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "set_fwd_grad_enabled",
    "unpack_dual",
]


class _Levels(threading.local):
    """The levels that this thread has open, old to young; a level's index here is its name."""

    def __init__(self) -> None:
        self.open: list[Any] = []


_levels = _Levels()


def _open_levels() -> list[Any]:
    return _levels.open


def _put_open_levels(levels: list[Any]) -> None:
    _levels.open = levels


register_switch(_open_levels, _put_open_levels)  # the very list: a helper may open and close levels for its caller


class UnpackedDualTensor(NamedTuple):
    """Result of `unpack_dual`."""

    primal: Any
    tangent: Any


def enter_dual_level() -> int:
    """Open a level inside those that are open; `dual_level` does it in a ``with``.

    Returns
    -------
    int
        The level: 0 for the outermost one of this thread, and so on.
    """
    _levels.open.append(_runtime.open_level())
    return len(_levels.open) - 1


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the innermost level. Tensors lose their tangents of it.

    Parameters
    ----------
    level : int, optional
        The level that is expected to be innermost.

    Raises
    ------
    RuntimeError
        When no level is open, or another one is innermost.
    """
    innermost = len(_levels.open) - 1
    level = innermost if level is None else level
    if level != innermost or level < 0:
        raise RuntimeError(
            f"exit_dual_level(): trying to exit forward AD level {level}, but the last one that was entered is "
            f"{innermost if innermost >= 0 else 'none'}. Leave levels in the reverse of the order of entering them."
        )
    _runtime.close_level(_levels.open.pop())


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """Dual number: `tensor` with a tangent.

    Parameters
    ----------
    tensor : Tensor
        The value, floating point or complex.
    tangent : Tensor
        The direction, of the same shape. It is brought to the dtype of `tensor`.
    level : int, optional
        What `enter_dual_level` gave. By default the innermost level.

    Returns
    -------
    Tensor
        Shares the memory of `tensor`, which itself stays without tangent, and its history in reverse mode.

    Raises
    ------
    RuntimeError
        Outside a level, for shapes or devices that differ, for a complex direction of a real tensor, and when `tensor`
        or `tangent` has a tangent at this level.
    ValueError
        For a dtype that has no derivative.
    """
    for name, value in (("tensor", tensor), ("tangent", tangent)):
        _check_differentiable(name, value)
    chosen = _expect_level("make_dual", level)
    if tensor.shape != tangent.shape:
        raise RuntimeError(
            f"make_dual(): expected tangent to have the same size as the primal, got tangent of shape "
            f"{list(tangent.shape)} for a primal of shape {list(tensor.shape)}"
        )
    if tangent.is_complex() and not tensor.is_complex():
        raise RuntimeError(
            f"make_dual(): expected tangent to have the same dtype as the primal, got a {tangent.dtype} tangent for a "
            f"{tensor.dtype} primal; take its real part"
        )
    if tensor.device != tangent.device:
        raise RuntimeError(
            f"make_dual(): expected tangent to be on the device of the primal, got a tangent on {tangent.device} for a "
            f"primal on {tensor.device}"
        )
    if _runtime.tangent_of(tensor, chosen) is not None:
        raise RuntimeError(
            "make_dual(): the tensor already has a forward gradient at this level. Unpack it first, or open another "
            "level."
        )
    if tangent.dtype != tensor.dtype:
        tangent = tangent.to(tensor.dtype)
    if _runtime.tangent_of(tangent, chosen) is not None:
        raise RuntimeError(
            "make_dual(): the tangent has a forward gradient of its own at this level. Unpack it first, or open "
            "another level."
        )
    return _runtime.make_dual(tensor, tangent, chosen)


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """Value and tangent of a dual number.

    Parameters
    ----------
    tensor : Tensor
        With or without tangent.
    level : int, optional
        By default the innermost level.

    Returns
    -------
    UnpackedDualTensor
        ``primal`` has the tangents of outer levels alone; ``tangent`` is None when there is none at this level. Outside
        every level, and while tangents are not carried along (`set_fwd_grad_enabled`), that is so.
    """
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"unpack_dual(): expected a Tensor, got {type(tensor).__name__}")
    if level is None and not _levels.open:
        return UnpackedDualTensor(tensor, None)
    chosen = _expect_level("unpack_dual", level)
    tangent = _runtime.tangent_of(tensor, chosen) if _runtime.is_forward_enabled() else None
    return UnpackedDualTensor(_runtime.primal_of(tensor, chosen), tangent)


def _check_differentiable(name: str, value: Any) -> None:
    if not isinstance(value, TensorBase):
        raise TypeError(f"make_dual(): {name} must be a Tensor, got {type(value).__name__}")
    if value.dtype.kind not in "fc":
        raise ValueError(f"make_dual(): expected {name} to be floating point or complex, got dtype {value.dtype}")


def _expect_level(function: str, level: int | None) -> Any:
    count = len(_levels.open)
    if not count:
        raise RuntimeError(
            f"{function}(): trying to use forward AD outside a level; enter one with `with dual_level():` first"
        )
    if level is None:
        return _levels.open[-1]
    if not 0 <= level < count:
        raise RuntimeError(f"{function}(): level {level} is not open; open are 0 to {count - 1}")
    return _levels.open[level]


class dual_level:
    """A level for the duration of a ``with``; the index of the level is what ``as`` gives.

    Levels nest: the tangent at an inner level may itself have a tangent at an outer one, which is a second derivative.
    """

    def __enter__(self) -> int:
        self.level = enter_dual_level()
        return self.level

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        exit_dual_level(level=self.level)

    def __call__(self, function: Any) -> Any:
        return decorate(type(self), function)


class set_fwd_grad_enabled(ThreadSwitch):
    """Carry tangents along (True) or not (False), in this thread: at once, and until the end of a ``with``.

    Parameters
    ----------
    mode : bool
        True is what holds at first.
    """

    _get = staticmethod(_runtime.is_forward_enabled)
    _put = staticmethod(_runtime.set_forward_enabled)


_set_fwd_grad_enabled = set_fwd_grad_enabled


def __getattr__(name: str) -> Any:
    if name == "_current_level":
        return len(_levels.open) - 1  # -1 outside of every level
    raise missing_attribute(__name__, name)
