"""Gradients that stay zero on a branch not taken."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Any

from gradsmith.runtime.engine.zero_gradients import is_nan_safe_enabled, set_nan_safe_enabled
from gradsmith.runtime.tensors.factories.creation import is_batch

if TYPE_CHECKING:
    from gradsmith.generated.tensor import Tensor

__all__ = ["is_nan_safe_enabled", "nan_safe"]


class nan_safe:
    """Let gradients that are zero stay zero in elementwise ops, instead of becoming NaN.

    The derivative of ``sqrt`` is infinite at zero, and zero times infinity is NaN. So the gradient of
    ``where(x > 0, x.sqrt(), 0)`` is NaN at zero, though the branch was not taken: the zero that `where` sends there
    does not survive. In this mode it does. No other number changes: elements that are finite or infinite, and NaN that
    comes from a gradient which is not zero, are what they are without it.

    The mode holds for the backward passes inside of the block, or from the call on, in all threads; how the forward was
    computed does not matter. It also holds for gradients of gradients. Forward-mode tangents are computed as always.

    Parameters
    ----------
    mode : bool
        False switches the mode off.

    Examples
    --------
    >>> x = gradsmith.tensor([0.0, 4.0], requires_grad=True)
    >>> with gradsmith.autograd.nan_safe():
    ...     gradsmith.where(x > 0, x.sqrt(), 0 * x).sum().backward()
    >>> x.grad
    tensor([0.0000, 0.2500])
    """

    def __init__(self, mode: bool = True) -> None:
        self.before = is_nan_safe_enabled()
        set_nan_safe_enabled(mode, _zeros_of, _kept)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc_info: object) -> None:
        set_nan_safe_enabled(self.before, _zeros_of, _kept)


@cache
def _is_elementwise(module: str, name: str) -> bool:
    """Does each element of a gradient lead to one element of the next, which is a multiple of it?"""
    rules = importlib.import_module("gradsmith.func.sparse.rules")  # needed in this mode alone
    return bool(rules.rule_for(module, name) is rules.elementwise)


def _zeros_of(node: Any, gradient: Tensor) -> Tensor | None:
    kind = type(node)
    return gradient.detach() == 0 if _is_elementwise(kind.__module__, kind.__name__) else None


def _kept(zeros: Tensor, result: Tensor) -> Tensor:
    """`result` with zeros instead of NaN where the gradient was zero."""
    if result.shape != zeros.shape:
        return result
    wrong = zeros & result.detach().isnan()
    if not is_batch(wrong) and (wrong.is_meta or not wrong.any()):
        return result
    return result.where(~wrong, 0)
