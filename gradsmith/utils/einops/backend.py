"""What einops asks of a library of tensors.

einops looks through the subclasses of its `AbstractBackend` when it meets a type for the first time.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

import gradsmith as gs
from gradsmith.utils.optional import required

Tensor = gs.Tensor
AbstractBackend: Any = required("einops", "gradsmith.utils.einops", "einops._backends").AbstractBackend


class GradsmithBackend(AbstractBackend):
    """The methods that einops calls, each of them differentiable ops."""

    framework_name = "gradsmith"

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, Tensor)

    def from_numpy(self, x: np.ndarray[Any, Any]) -> Tensor:
        return gs.from_numpy(x)

    def to_numpy(self, x: Tensor) -> np.ndarray[Any, Any]:
        return x.numpy(force=True)

    def arange(self, start: int, stop: int) -> Tensor:
        return gs.arange(start, stop)

    def is_float_type(self, x: Tensor) -> bool:
        return x.is_floating_point() or x.is_complex()

    def reduce(self, x: Tensor, operation: str, axes: Sequence[int]) -> Tensor:
        if operation == "prod":  # of one dimension at a time
            for axis in sorted(axes, reverse=True):
                x = x.prod(axis)
            return x
        reductions = {"min": gs.amin, "max": gs.amax, "sum": gs.sum, "mean": gs.mean, "any": gs.any, "all": gs.all}
        if operation not in reductions:
            raise NotImplementedError(f"einops: no reduction {operation!r} of tensors")
        return reductions[operation](x, tuple(axes))

    def transpose(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        return x.permute(tuple(axes))

    def stack_on_zeroth_dimension(self, tensors: list[Tensor]) -> Tensor:
        return gs.stack(tensors)

    def concat(self, tensors: list[Tensor], axis: int) -> Tensor:
        return gs.cat(tensors, axis)

    def add_axis(self, x: Tensor, new_position: int) -> Tensor:
        return x.unsqueeze(new_position)

    def add_axes(self, x: Tensor, n_axes: int, pos2len: dict[int, int]) -> Tensor:
        """Views of size one that are expanded, where einops itself would tile."""
        sizes = [-1] * n_axes
        for position, length in pos2len.items():
            x = x.unsqueeze(position)
            sizes[position] = length
        return x.expand(sizes)

    def tile(self, x: Tensor, repeats: Sequence[int]) -> Tensor:
        return gs.tile(x, tuple(repeats))

    def einsum(self, pattern: str, *x: Tensor) -> Tensor:
        return gs.einsum(pattern, *x)

    def layers(self) -> ModuleType:
        from gradsmith.utils.einops import layers

        return layers
