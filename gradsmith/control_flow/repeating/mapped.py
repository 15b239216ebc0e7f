"""A `vmap` of a loop: a loop of steps that are mapped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gradsmith.control_flow.repeating.loop import Loop

Work = Callable[[list[Any]], list[Any]]


def mapped_loop(loop: Loop, info: Any, in_dims: Sequence[Any], tensors: Sequence[Any]) -> tuple[Loop, list[Any]]:
    """The loop over all slices, and its operands. All parts of its state have slices, as steps may give them some."""
    shape, given, dims = loop.shape, [], []
    for number, (tensor, dim) in enumerate(zip(tensors, in_dims)):
        if number < shape.n_state:
            tensor, dim = _in_front(tensor, dim, info.batch_size), 0
        elif number < shape.n_state + shape.n_rows and dim is not None:
            tensor, dim = tensor.movedim(dim, 1), 0
        given.append(tensor)
        dims.append(dim)
    work = Mapped(loop.work, tuple(dims), info.randomness)
    return replace(loop, work=work, is_own=False, made=(), given=(), bodies={}, links=None), given


def _in_front(tensor: Any, dim: int | None, size: int) -> Any:
    return tensor.expand(size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)


class Mapped:
    """A step for each slice."""

    def __init__(self, work: Work, in_dims: tuple[Any, ...], randomness: str) -> None:
        self.work, self.in_dims, self.randomness = work, in_dims, randomness

    def __call__(self, tensors: list[Any]) -> list[Any]:
        from gradsmith.func import vmap

        def of_slice(*given: Any) -> tuple[Any, ...]:
            return tuple(self.work(list(given)))

        return list(vmap(of_slice, in_dims=self.in_dims, randomness=self.randomness)(*tensors))
