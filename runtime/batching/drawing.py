"""Ops that draw random numbers inside of `vmap`, and tensors that are the same in all slices.

Numbers that are to differ from slice to slice need a place for each: where no tensor of an op has slices, one of them
is given some; a tensor that an op writes into has to have them.
"""

from __future__ import annotations

import contextlib
from typing import Any

from gradsmith.runtime.batching.batch import VmapLevel, batched
from gradsmith.runtime.batching.levels import Draws, below
from gradsmith.runtime.graph.tensor import TensorBase
from gradsmith.runtime.switches import upcalls


def spread(name: str, operands: tuple[Any, ...], innermost: VmapLevel | None) -> tuple[Any, ...]:
    """Operands of an op that draws, the first tensor of which has slices where the innermost call wants them to differ.

    `innermost` is the innermost level at which any of them is batched. Calls around it have their turn when the op is
    called for each slice.

    Raises
    ------
    RuntimeError
        A call of `vmap` does not say how random numbers of different slices are related.
    """
    level = _level_without_slices(name, innermost)
    if level is None:
        return operands
    place = next(i for i, operand in enumerate(operands) if isinstance(operand, TensorBase))
    rows = upcalls.expand(upcalls.unsqueeze(operands[place], 0), (level.size, *operands[place].shape))
    return (*operands[:place], batched(rows, level), *operands[place + 1 :])


def expect_slices(name: str, target: TensorBase, innermost: VmapLevel | None) -> None:
    """Raise an error when numbers that are to differ from slice to slice would be written into one tensor for all.

    Raises
    ------
    RuntimeError
        So they would, or a call of `vmap` does not say how they are related.
    """
    level = _level_without_slices(name, innermost)
    if level is not None:
        raise level.call.error(
            f"{name}(): a tensor of shape {list(target.shape)} that is the same for all slices is written with random "
            "numbers, which randomness='different' asks to differ from slice to slice. Draw them into a new tensor, as "
            "with rand_like(), or make the tensor of one that is batched"
        )


def outside(draws: bool, level: VmapLevel) -> contextlib.AbstractContextManager[None]:
    """Context manager that hides `level`, which has decided, while an op that draws is called for each slice."""
    return below(level) if draws else contextlib.nullcontext()


def _level_without_slices(name: str, innermost: VmapLevel | None) -> VmapLevel | None:
    """The innermost call that wants other random numbers in each slice, where no tensor has slices in it."""
    levels = Draws(name).levels
    return levels[-1] if levels and (innermost is None or levels[-1].number > innermost.number) else None
