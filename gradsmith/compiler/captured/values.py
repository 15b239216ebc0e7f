"""Tensors, numbers and strings that a function finds outside of its arguments.

A traced tensor is nothing outside of its trace. Where a function puts one into an attribute, an item or a variable, the
tensor that was there before stays, and takes the values of the new one at the end of each run. What a program reads has
to be the very tensors that it was made with. All else that the function may have looked at has to be as it was, but for
what it changed itself: it may count its calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradsmith.compiler.captured.reach import Reach
from gradsmith.compiler.captured.spaces import Captured, Space
from gradsmith.compiler.tracing import Caller
from gradsmith.generated.tensor import Tensor
from gradsmith.runtime.batching.batch import is_batched_tensor, physical, trace_of_thread
from gradsmith.runtime.graph.tensor import array_behind
from gradsmith.runtime.programs.reads import MISSING, Read
from gradsmith.runtime.programs.snapshots import Snapshot
from gradsmith.runtime.switches.grad_mode import no_grad
from gradsmith.utils import pytree


class CapturedValues:
    """Tensors, numbers and strings outside of a function, which it may read and write.

    Parameters
    ----------
    reach : Reach
        Where they are.
    caller : Caller
        Makes errors.
    """

    def __init__(self, reach: Reach, caller: Caller) -> None:
        self.reach, self.caller = reach, caller

    def write(self, found: Any) -> None:
        """Write tensors that have been put there to those before; `found` is what the function gives."""
        pairs = []
        for space, name, value in list(self._changed()):
            old = space.before.get(name, MISSING)
            why_not = None if old is MISSING else _why_not(old, value)
            if why_not is not None and _may_have_been_read(old):
                place = repr(name) if name is not None else "a variable"
                raise self.caller.error(
                    f"the function puts a tensor of shape {list(value.shape)} into {place} of {space.owner}, {why_not}"
                )
            if old is MISSING or why_not is not None:
                continue  # reading it outside of the program raises an error that says to return it
            pairs.append((old, value.detach()))
            space.put(name, old)
        if pairs:
            self._expect_unseen([old for old, _ in pairs], found)
            values = [value if len(pairs) == 1 else value.clone() for _, value in pairs]
            with no_grad():
                for (old, _), value in zip(pairs, values):
                    old.copy_(value)

    def _changed(self) -> Iterator[tuple[Space, Any, Tensor]]:
        """Tensors of the trace that lie where they did not before."""
        found: dict[tuple[int, Any], tuple[Space, Any, Tensor]] = {}
        for space in self.reach.spaces:
            for name, value in list(space.items()):
                if isinstance(value, Tensor) and value is not space.before.get(name) and is_batched_tensor(value):
                    found[id(space.holder), name] = (space, name, value)
        yield from found.values()

    def reads(self, captured: list[Tensor]) -> list[Read | Snapshot]:
        """What must not have changed: the tensors that the program uses, and all else that the function read."""
        known = Captured(set(map(id, captured)), list(map(array_behind, captured)))
        found: dict[tuple[int, Any], Read | Snapshot] = {}
        for space in self.reach.spaces:
            for read in space.reads(self.reach.words, known):
                found.setdefault((id(read.holder), read.name), read)
        snapshots = [Snapshot(module) for module in self.reach.modules]
        return [*found.values(), *snapshots]

    def restore(self) -> None:
        """Put back what was there, after a trace that has failed."""
        for space, name, _ in reversed(list(self._changed())):
            if name in space.before:
                space.put(name, space.before[name])
            else:
                space.remove(name)

    def _expect_unseen(self, written: list[Tensor], found: Any) -> None:
        """Refuse results that share memory with an attribute, which is overwritten before the caller sees them."""
        for one in pytree.flatten(found)[0]:
            if not isinstance(one, Tensor):
                continue
            array = array_behind(physical(one) if is_batched_tensor(one) else one)
            if any(np.may_share_memory(array, array_behind(old)) for old in written):
                raise self.caller.error(
                    "the function returns the memory of an attribute that it puts another tensor into: return a clone()"
                )


def _why_not(old: Any, value: Tensor) -> str | None:
    """Why a program cannot write `value` to what was there before, and what to do; None where it can."""
    if not isinstance(old, Tensor):
        return (
            f"which was {type(old).__name__} before: later calls would not see it. Make a tensor of that shape before "
            "the first call, or return it"
        )
    if value.requires_grad or old.requires_grad:
        return "and it has a history, which ends with the call: detach() it, or return it"
    if old.shape != value.shape or old.dtype != value.dtype:
        return (
            f"which was one of shape {list(old.shape)} and {old.dtype.name} before. A program writes to tensors that "
            "there are: keep the shape and the dtype, or return it"
        )
    return None


def _may_have_been_read(old: Any) -> bool:
    """Not so the weight that a hook of `weight_norm` computes before anything else."""
    return not isinstance(old, Tensor) or any(old is one for one in trace_of_thread().captured.values())
