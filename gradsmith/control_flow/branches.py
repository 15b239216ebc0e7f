"""`cond`: one of two functions, as a value says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.runtime.batching.batch import is_batched_tensor
from gradsmith.runtime.tensors.factories.python_data import is_tensor


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], *operands: Any) -> Any:
    """Call one of two functions.

    Parameters
    ----------
    pred : bool or Tensor
        One truth value.
    true_fn, false_fn : callable
        Take the operands. Only the one that `pred` chooses is called, so what would be NaN in the other never arises.
    *operands : object
        Arguments of both. One tuple or list alone has the arguments as its items, which is how PyTorch passes them.

    Returns
    -------
    object
        What the function returns.

    Raises
    ------
    TypeError
        `pred` is no truth value, or a function cannot be called.
    RuntimeError
        `pred` has more than one element, or differs between the slices of a `vmap`: use `where` there.

    Examples
    --------
    >>> import gradsmith as gs
    >>> x = gs.tensor(-4.0, requires_grad=True)
    >>> gs.cond(x > 0, gs.sqrt, gs.abs, x)
    tensor(4., grad_fn=<AbsBackward0>)
    """
    for name, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"cond(): argument '{name}' must be callable, not {type(function).__name__}")
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = tuple(operands[0])
    return true_fn(*operands) if is_true("cond", "pred", pred) else false_fn(*operands)


def is_true(op: str, what: str, value: Any) -> bool:
    """The truth value that decides how a program goes on."""
    if is_tensor(value) and is_batched_tensor(value):
        raise RuntimeError(
            f"{op}(): {what} differs between the slices of a vmap, which go the same way. Compute both and choose with "
            f"gs.where, or map with a Python loop"
        )
    if is_tensor(value):
        if value.numel() != 1:
            raise RuntimeError(f"{op}(): {what} must be one truth value, but has shape {list(value.shape)}")
        return bool(value)
    if isinstance(value, (bool, int, float)) or getattr(value, "shape", None) == ():
        return bool(value)
    raise TypeError(f"{op}(): {what} must be a bool or a tensor of one element, not {type(value).__name__}")
