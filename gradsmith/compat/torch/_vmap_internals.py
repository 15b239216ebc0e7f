"""`gradsmith.vmap` under the names that it had in PyTorch before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradsmith.func import vmap
from gradsmith.runtime.tensors.factories.creation import zeros

__all__ = ["_vmap", "vmap"]


def _vmap(func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False) -> Any:
    """A function mapped over a dimension; with `allow_none_pass_through`, a result that is None stays None."""
    return _around_none(func, in_dims, out_dims) if allow_none_pass_through else vmap(func, in_dims, out_dims)


def _around_none(func: Callable[..., Any], in_dims: Any, out_dims: Any) -> Callable[..., Any]:
    def mapped(*args: Any) -> Any:
        is_none: list[bool] = []

        def with_numbers(*slices: Any) -> Any:
            results = func(*slices)
            if not isinstance(results, tuple):
                return results
            is_none[:] = [result is None for result in results]
            return tuple(zeros(()) if result is None else result for result in results)

        results = vmap(with_numbers, in_dims, out_dims)(*args)
        return tuple(None if gone else result for gone, result in zip(is_none, results)) if is_none else results

    return mapped
