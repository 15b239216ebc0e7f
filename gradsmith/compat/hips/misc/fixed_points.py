"""Fixed points with derivatives by the implicit function theorem."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradsmith.func as transforms
from gradsmith.compat.hips.boxes import ArrayBox, boxed, getval, tensor_of
from gradsmith.utils import pytree

__all__ = ["fixed_point"]


def fixed_point(
    f: Callable[[Any], Callable[[Any], Any]], a: Any, x0: Any, distance: Callable[..., Any], tol: float
) -> Any:
    """Where ``f(a)(x) == x``, starting at `x0`, until ``distance(x, before)`` is no more than `tol`.

    Differentiable by `a`, an array or a tree; `x0` is an array.
    """
    leaves, spec = pytree.flatten(a)

    def step(x: Any, *tensors: Any) -> Any:
        found = f(spec.unflatten([boxed(tensor) for tensor in tensors]))(boxed(x))
        return tensor_of(found).to(x.dtype)

    def solve(function: Callable[[Any], Any], start: Any) -> Any:
        before, x = start, function(start)
        while getval(distance(boxed(x), boxed(before))) > tol:
            before, x = x, function(x)
        return x

    tensors = [tensor_of(float(leaf) if isinstance(leaf, int) else leaf) for leaf in leaves]
    start = tensor_of(getval(x0) if isinstance(x0, ArrayBox) else x0)
    return boxed(transforms.fixed_point(step, solve)(start, *tensors))
